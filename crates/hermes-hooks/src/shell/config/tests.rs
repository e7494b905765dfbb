//! Mistakes in the section, and what they cost.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn mistakes_cost_one_entry_each() {
    let config = parse_hooks_config(&json!({
        "post_tool_call": [{"command": " z "}],
        "pre_tool_call": [
            "text", {"command": " "}, {"matcher": "x"}, null,
            {"command": "a", "matcher": " term ", "timeout": 5, "on_error": "block"},
            {"command": "b", "matcher": "  ", "on_error": "perhaps"},
            {"command": "c", "matcher": 7, "on_error": null},
        ],
        "pre_tol_call": [{"command": "x"}],
        "output_spill": {"enabled": true},
        "pre_verify": {"command": "x"},
        "pre_llm_call": [{"command": "d", "matcher": "x"}],
        "on_session_start": null,
        "zzz": [],
    }));
    let hooks: Vec<_> = config
        .hooks
        .iter()
        .map(|hook| {
            let matcher = hook.matcher.as_ref().map(Matcher::as_str);
            (hook.event.as_str(), &*hook.command, matcher, hook.timeout.as_secs(), hook.on_error)
        })
        .collect();
    assert_eq!(
        hooks,
        [
            ("post_tool_call", "z", None, 60, OnError::Allow),
            ("pre_tool_call", "a", Some("term"), 5, OnError::Block),
            ("pre_tool_call", "b", None, 60, OnError::Block),
            ("pre_tool_call", "c", None, 60, OnError::Allow),
            ("pre_llm_call", "d", None, 60, OnError::Allow),
        ]
    );
    assert_eq!(config.warnings.len(), 10, "{:#?}", config.warnings);
    assert!(config.warnings.iter().any(|it| it.contains("did you mean `pre_tool_call`")));
    for section in [json!([]), json!("x")] {
        let config = parse_hooks_config(&section);
        assert_eq!((config.hooks.len(), config.warnings.len()), (0, 1));
    }
}

#[test]
fn slips_in_keys_are_told_of_and_never_lose_a_guard() {
    let read = |more: Value| {
        let mut entry = json!({"command": "a"});
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let config = parse_hooks_config(&json!({"pre_tool_call": [entry]}));
        (config.hooks[0].clone(), config.warnings)
    };
    for (more, on_error, hint) in [
        (json!({"matchr": "x"}), OnError::Allow, "did you mean `matcher`?"),
        (json!({"time_out": 5}), OnError::Allow, "did you mean `timeout`?"),
        (json!({"on-error": "block"}), OnError::Block, "did you mean `on_error`?"),
        (json!({"onError": "blok"}), OnError::Block, "`on_error: block` is taken"),
        (json!({"on_failure": "block"}), OnError::Block, "did you mean `on_error`?"),
        (json!({"on_error": "allow", "on_eror": "x"}), OnError::Block, "`on_eror`"),
        (json!({"on-error": null}), OnError::Allow, "did you mean `on_error`?"),
        (json!({"description\n": "x"}), OnError::Allow, r"no key `description\n`"),
    ] {
        let (spec, warnings) = read(more.clone());
        assert_eq!(spec.on_error, on_error, "{more}");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(hint), "{warnings:?}");
    }
    assert_eq!(read(json!({"matcher": "a", "timeout": 1, "on_error": "block"})).1.len(), 0);
    let config = parse_hooks_config(&json!({"pre_tool_call": [{"comand": "a"}]}));
    assert!(config.warnings[0].contains("`command`"), "{:?}", config.warnings);
}

#[test]
fn a_guard_with_a_broken_pattern_looks_at_every_tool() {
    for (matcher, on_error, tool, fits) in [
        ("term[", "block", Some("patch"), true),
        ("term[", "block", None, false),
        ("term[", "allow", Some("patch"), false),
        ("term[", "allow", Some("term["), true),
        ("term", "block", Some("patch"), false),
        (" ", "allow", None, true),
    ] {
        let entry = json!({"command": "a", "matcher": matcher, "on_error": on_error});
        let config = parse_hooks_config(&json!({"pre_tool_call": [entry]}));
        assert_eq!(config.hooks[0].fits(tool), fits, "{matcher} {on_error} {tool:?}");
        assert_eq!(config.warnings.len(), usize::from(matcher.contains('[')));
    }
}

#[test]
fn timeouts_are_whole_seconds_within_limits() {
    for (value, expected) in [
        (json!(1), Ok(1)),
        (json!(300), Ok(300)),
        (json!(301), Err(300)),
        (json!(1e300), Err(300)),
        (json!(u64::MAX), Err(300)),
        (json!(0), Err(60)),
        (json!(-5), Err(60)),
        (json!(2.0), Ok(2)),
        (json!(2.5), Err(60)),
        (json!("30"), Ok(30)),
        (json!("x"), Err(60)),
        (json!(true), Err(60)),
        (json!(null), Err(60)),
    ] {
        assert_eq!(parse_timeout(&value), expected, "{value}");
    }
}

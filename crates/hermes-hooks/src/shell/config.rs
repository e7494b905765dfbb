//! The `hooks` section of `config.yaml`.

use std::time::Duration;

use serde_json::Value;

use super::matcher::Matcher;
use super::slips;
use crate::event::HookEvent;
use crate::hook::OnError;

/// Seconds a hook may take when nothing else is said.
const DEFAULT_TIMEOUT: u64 = 60;

/// Seconds a hook may take at most.
const MAX_TIMEOUT: u64 = 300;

/// What stands in the section without being an event.
const RESERVED: &str = "output_spill";

/// What an entry may say.
const KEYS: [&str; 4] = ["command", "matcher", "timeout", "on_error"];

/// A program that somebody wants to be told of an event.
#[derive(Clone, Debug)]
pub struct ShellHookSpec {
    /// The event.
    pub event: HookEvent,
    /// The command, as it was written.
    pub command: String,
    /// The tools it is about; none means all.
    pub matcher: Option<Matcher>,
    /// How long it may take.
    pub timeout: Duration,
    /// What its failure means for a call.
    pub on_error: OnError,
}

impl ShellHookSpec {
    /// Whether both are the same hook: equal in event, matcher and command.
    pub fn is_same(&self, other: &Self) -> bool {
        let matcher =
            |spec: &Self| spec.matcher.as_ref().map(|matcher| matcher.as_str().to_owned());
        self.event == other.event
            && self.command == other.command
            && matcher(self) == matcher(other)
    }

    /// Whether it is about a call of this tool. A matcher that is no pattern can't tell; a hook
    /// whose failure blocks then rather looks at every tool.
    pub fn fits(&self, tool: Option<&str>) -> bool {
        match (&self.matcher, tool) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(matcher), Some(tool)) => {
                !matcher.is_valid() && self.on_error == OnError::Block || matcher.fits(tool)
            }
        }
    }
}

/// What a `hooks` section says.
#[derive(Clone, Debug, Default)]
pub struct HooksConfig {
    /// The hooks in the order of the file.
    pub hooks: Vec<ShellHookSpec>,
    /// What is wrong with the section, a line each. What is wrong is left out.
    pub warnings: Vec<String>,
}

/// Reads a `hooks` section. A mistake costs the entry it is in, nothing else.
pub fn parse_hooks_config(section: &Value) -> HooksConfig {
    let mut config = HooksConfig::default();
    let events = match section {
        Value::Object(events) => events,
        Value::Null => return config,
        _ => {
            config.warnings.push("hooks: must be a mapping of events".to_owned());
            return config;
        }
    };
    for (name, entries) in events {
        if name == RESERVED {
            continue;
        }
        let Some(event) = HookEvent::from_name(name) else {
            config.warnings.push(unknown_event(name));
            continue;
        };
        match entries {
            Value::Null => {}
            Value::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let place = format!("hooks.{event}[{index}]");
                    match parse_entry(event, entry, &place, &mut config.warnings) {
                        Ok(spec) => config.hooks.push(spec),
                        Err(why) => config.warnings.push(format!("{place}: {why}; skipped")),
                    }
                }
            }
            _ => config.warnings.push(format!("hooks.{event}: must be a list; skipped")),
        }
    }
    config
}

fn unknown_event(name: &str) -> String {
    let nearest = slips::nearest(name, HookEvent::ALL.iter().map(|event| event.as_str()));
    let name = slips::shown(name);
    match nearest {
        Some(known) => {
            format!("hooks.{name}: there is no such event, did you mean `{known}`? skipped")
        }
        None => format!("hooks.{name}: there is no such event; skipped"),
    }
}

fn parse_entry(
    event: HookEvent,
    entry: &Value,
    place: &str,
    warnings: &mut Vec<String>,
) -> Result<ShellHookSpec, &'static str> {
    let entry = entry.as_object().ok_or("must be a mapping with a command")?;
    // Null is as good as not there, as everywhere in the configuration.
    let given = |key: &str| entry.get(key).filter(|value| !value.is_null());
    let mut warn = |what: &str| warnings.push(format!("{place}: {what}"));
    let mut is_misspelt = false;
    for key in entry.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let nearest = slips::nearest(key, KEYS.into_iter());
        let is_on_error = nearest == Some("on_error") || slips::may_be_on_error(key);
        let hint = match nearest.or(is_on_error.then_some("on_error")) {
            Some(known) => format!("; did you mean `{known}`?"),
            None => String::new(),
        };
        let is_taken = is_on_error && given(key).is_some();
        is_misspelt |= is_taken;
        let taken = if is_taken { " `on_error: block` is taken" } else { "" };
        warn(&format!("there is no key `{}`{hint}{taken}", slips::shown(key)));
    }
    let command = entry.get("command").and_then(Value::as_str).map(str::trim);
    let command = command.filter(|command| !command.is_empty()).ok_or("has no command")?;
    let on_error = match given("on_error").map(|value| value.as_str().unwrap_or_default().trim()) {
        // Whoever says something here hardly means the default, and blocking is what is safe.
        None | Some("allow") if is_misspelt => OnError::Block,
        None | Some("allow") => OnError::Allow,
        Some("block") => OnError::Block,
        Some(_) => {
            warn("on_error must be `allow` or `block`; `block` is taken");
            OnError::Block
        }
    };
    let matcher = match given("matcher") {
        None => None,
        Some(Value::String(text)) => Matcher::new(text),
        Some(_) => {
            warn("the matcher must be a text; it is ignored, so the hook is about every tool");
            None
        }
    };
    let matcher = matcher.filter(|_| {
        let is_about_a_tool = event.is_about_a_tool();
        if !is_about_a_tool {
            warn("the event is about no tool; the matcher is ignored");
        }
        is_about_a_tool
    });
    if let Some(matcher) = matcher.as_ref().filter(|matcher| !matcher.is_valid()) {
        let instead = match on_error {
            OnError::Allow => "only a tool of exactly this name fits",
            OnError::Block => "every tool fits",
        };
        let text = slips::shown(matcher.as_str());
        warn(&format!("the matcher is no valid pattern, so {instead}: {text}"));
    }
    let timeout = given("timeout").map_or(Ok(DEFAULT_TIMEOUT), parse_timeout);
    let timeout = timeout.unwrap_or_else(|instead| {
        warn(&format!("the timeout must be 1 to {MAX_TIMEOUT} seconds; {instead} are taken"));
        instead
    });
    let timeout = Duration::from_secs(timeout);
    Ok(ShellHookSpec { event, command: command.to_owned(), matcher, timeout, on_error })
}

/// The seconds, or those to take instead of what can't be meant.
fn parse_timeout(value: &Value) -> Result<u64, u64> {
    let seconds = match value {
        Value::Number(number) => match number.as_f64() {
            Some(seconds) if seconds.fract() == 0.0 => seconds,
            _ => return Err(DEFAULT_TIMEOUT),
        },
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(seconds) => seconds as f64,
            Err(_) => return Err(DEFAULT_TIMEOUT),
        },
        _ => return Err(DEFAULT_TIMEOUT),
    };
    if seconds < 1.0 {
        Err(DEFAULT_TIMEOUT)
    } else if seconds > MAX_TIMEOUT as f64 {
        Err(MAX_TIMEOUT)
    } else {
        Ok(seconds as u64)
    }
}

#[cfg(test)]
mod tests {
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
                (
                    hook.event.as_str(),
                    &*hook.command,
                    matcher,
                    hook.timeout.as_secs(),
                    hook.on_error,
                )
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
}

//! Tests of the guardrail.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn guardrails(config: &Value) -> Guardrails {
    Guardrails::new(GuardrailConfig::from_value(config))
}

fn after(rails: &mut Guardrails, tool: &str, args: &Value, result: Result<&str, &str>) -> Decision {
    let idempotent = tool == "read_file";
    let failed = result.is_err();
    let result = result.unwrap_or_else(|err| err);
    rails.after(Observed { tool, args, failed, idempotent, result })
}

fn brief(decision: &Decision) -> (&'static str, &'static str, u64) {
    (decision.action.as_str(), decision.code, decision.count)
}

#[test]
fn failures_are_warned_about_then_stopped() {
    let mut rails = guardrails(&json!({"hard_stop_enabled": true}));
    let args = json!({"command": "make"});
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(brief(&after(&mut rails, "terminal", &args, Err("no"))));
    }
    assert_eq!(
        seen,
        [
            ("allow", "allow", 1),
            ("warn", "repeated_exact_failure_warning", 2),
            ("warn", "repeated_exact_failure_warning", 3),
            ("warn", "repeated_exact_failure_warning", 4),
        ]
    );
    assert_eq!(brief(&rails.before("terminal", &args)), ("allow", "allow", 0));
    after(&mut rails, "terminal", &args, Err("no"));
    assert_eq!(rails.halted(), None);
    let blocked = rails.before("terminal", &args);
    assert_eq!(brief(&blocked), ("block", "repeated_exact_failure_block", 5));
    assert_eq!(brief(&rails.before("terminal", &json!({"command": "ls"}))), ("allow", "allow", 0));
    for at in 0..3 {
        after(&mut rails, "terminal", &json!({"command": at}), Err("no"));
    }
    let halt = after(&mut rails, "terminal", &json!({"command": "z"}), Err("no"));
    assert_eq!(brief(&halt), ("halt", "same_tool_failure_halt", 9));
    assert_eq!(rails.halted(), Some(&blocked), "the first one stays");
    rails.reset();
    assert_eq!(rails.halted(), None);
    assert_eq!(brief(&rails.before("terminal", &args)), ("allow", "allow", 0));
}

#[test]
fn messages_are_one_bracketed_line() {
    let mut rails = guardrails(&json!({}));
    let args = json!({});
    after(&mut rails, "terminal", &args, Err("no"));
    let decision = after(&mut rails, "terminal", &args, Err("no"));
    assert_eq!(decision.tool, "terminal");
    assert_eq!(
        decision.signature.unwrap().to_string(),
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    );
    assert_eq!(
        decision.message,
        "[repeated_exact_failure_warning, count 2: terminal has failed twice with the same \
         arguments. Before another try, run a small diagnostic command (pwd, ls, a version, the \
         tail of a log) to find the cause, then change the command.]"
    );
}

#[test]
fn readings_that_give_the_same() {
    let mut rails = guardrails(&json!({"hard_stop_enabled": true}));
    let args = json!({"path": "a", "limit": 1});
    let mut read = |result| {
        let decision = brief(&after(&mut rails, "read_file", &args, result));
        (decision, rails.before("read_file", &json!({"limit": 1, "path": "a"})).count)
    };
    assert_eq!(read(Ok(r#"{"a":1,"b":2}"#)), (("allow", "allow", 1), 0));
    let warning = |count| ("warn", "idempotent_no_progress_warning", count);
    assert_eq!(read(Ok(r#"{"b": 2, "a": 1}"#)), (warning(2), 0));
    assert_eq!(read(Err("no")), (("allow", "allow", 1), 0));
    assert_eq!(read(Ok("text")), (("allow", "allow", 1), 0));
    for count in 2..5 {
        assert_eq!(read(Ok("text")), (warning(count), 0));
    }
    assert_eq!(read(Ok("text")), (warning(5), 5));
    assert_eq!(read(Ok("other")), (("allow", "allow", 1), 0));
    assert_eq!(rails.halted().unwrap().code, "idempotent_no_progress_block");
}

#[test]
fn a_success_clears_its_own_call_and_the_tool() {
    let mut rails = guardrails(&json!({}));
    let (a, b) = (json!({"a": 1}), json!({"b": 1}));
    after(&mut rails, "x", &a, Err("no"));
    after(&mut rails, "x", &b, Err("no"));
    after(&mut rails, "x", &a, Ok("yes"));
    assert_eq!(after(&mut rails, "x", &a, Err("no")).count, 1);
    assert_eq!(after(&mut rails, "x", &b, Err("no")).count, 2, "of b two in all");
    after(&mut rails, "x", &a, Ok("yes"));
    after(&mut rails, "x", &b, Ok("yes"));
    assert_eq!(rails.records.len(), 0);
}

#[test]
fn memory_is_bounded() {
    let mut rails = guardrails(&json!({}));
    for at in 0..10_000 {
        after(&mut rails, "read_file", &json!(at), Ok("same"));
        after(&mut rails, &format!("tool{at}"), &json!(at), Err("no"));
    }
    assert_eq!(rails.records.len(), 4_096);
    let latest = after(&mut rails, "read_file", &json!(9_999), Ok("same"));
    assert_eq!(latest.code, "idempotent_no_progress_warning");
    assert_eq!(after(&mut rails, "read_file", &json!(0), Ok("same")).count, 1);
}

proptest! {
    #[test]
    fn counts_agree_with_a_plain_model(
        calls in proptest::collection::vec((0_u8..3, 0_u8..3, 0_u8..3), 0..60),
    ) {
        let tools = ["read_file", "x", "y"];
        let mut rails = guardrails(&json!({"warnings_enabled": false}));
        let mut exact = std::collections::HashMap::new();
        let mut progress = std::collections::HashMap::new();
        for (tool, args, outcome) in calls {
            let name = tools[usize::from(tool)];
            let result = if outcome == 0 { Err("no") } else { Ok(if outcome == 1 { "a" } else { "b" }) };
            let count = after(&mut rails, name, &json!(args), result).count;
            let expected = if outcome == 0 {
                progress.remove(&(tool, args));
                let failures = exact.entry((tool, args)).or_insert(0);
                *failures += 1;
                *failures
            } else {
                exact.remove(&(tool, args));
                if tool == 0 {
                    let last = progress.entry((tool, args)).or_insert((outcome, 0));
                    *last = (outcome, if last.0 == outcome { last.1 + 1 } else { 1 });
                    last.1
                } else {
                    0
                }
            };
            prop_assert_eq!(count, expected);
            rails.records.len();
        }
    }
}

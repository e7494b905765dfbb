//! Replies that come as JSON: from programs of users, and from plugins in other languages.

use serde_json::{Map, Value};

use crate::event::HookEvent;
use crate::hook::Reply;

impl Reply {
    /// What a value means as the reply to `event`. What means nothing there is
    /// [`Nothing`](Self::Nothing).
    ///
    /// - `pre_tool_call`: `{"action": "block", "message"}` or `{"decision": "block", "reason"}`,
    ///   `{"action": "approve", "message", "rule_key"}`, `{"action": "modify", "args"}`
    /// - `pre_verify`: `{"action": "continue", "message"}`, or a block as above
    /// - the `transform_` events: the new text, as a JSON text or as `{"replace": ..}`
    /// - others: `{"context": ..}`, and for `pre_llm_call` also a JSON text
    #[must_use]
    pub fn from_value(event: HookEvent, value: &Value) -> Self {
        match value {
            Value::Object(fields) => match event {
                HookEvent::PreToolCall => verdict(fields),
                HookEvent::PreVerify => continuation(fields),
                _ => {
                    let says = |key: &str| fields.get(key).and_then(Value::as_str);
                    let replaced = says("replace").map(|text| replacement(event, text));
                    let replaced = replaced.filter(|it| *it != Self::Nothing);
                    replaced.unwrap_or_else(|| context(says("context")))
                }
            },
            Value::String(text) => match event {
                HookEvent::PreLlmCall => context(Some(text)),
                _ => replacement(event, text),
            },
            _ => Self::Nothing,
        }
    }
}

fn verdict(fields: &Map<String, Value>) -> Reply {
    let says = |key: &str| fields.get(key).and_then(Value::as_str);
    let text = |keys: [&str; 2]| {
        keys.iter().filter_map(|key| says(key)).find(|text| !text.is_empty()).map(str::to_owned)
    };
    // Both ways of blocking before anything else: whoever says two things is taken at the
    // stricter one.
    if says("action") == Some("block") {
        return Reply::Block { message: text(["message", "reason"]) };
    }
    if says("decision") == Some("block") {
        return Reply::Block { message: text(["reason", "message"]) };
    }
    match says("action") {
        Some("approve") => Reply::Approve {
            message: text(["message", "reason"]),
            rule_key: says("rule_key").map(str::to_owned),
        },
        Some("modify") => match fields.get("args") {
            Some(args @ Value::Object(_)) => Reply::Modify { args: args.clone() },
            _ => Reply::Nothing,
        },
        _ => Reply::Nothing,
    }
}

/// To block the end of a turn is to go on with it, which needs something to go on with.
fn continuation(fields: &Map<String, Value>) -> Reply {
    let says = |key: &str| fields.get(key).and_then(Value::as_str);
    let goes_on = |key: &str| matches!(says(key), Some("continue" | "block"));
    let keys = if goes_on("action") {
        ["message", "reason"]
    } else if goes_on("decision") {
        ["reason", "message"]
    } else {
        return Reply::Nothing;
    };
    let text = keys.iter().filter_map(|key| says(key)).map(str::trim).find(|text| !text.is_empty());
    text.map_or(Reply::Nothing, |text| Reply::Continue { message: text.to_owned() })
}

/// A text in the place of another, where there is one to be replaced.
fn replacement(event: HookEvent, text: &str) -> Reply {
    match event {
        HookEvent::TransformToolResult | HookEvent::TransformTerminalOutput => Reply::replace(text),
        HookEvent::TransformLlmOutput if !text.is_empty() => Reply::replace(text),
        _ => Reply::Nothing,
    }
}

fn context(text: Option<&str>) -> Reply {
    match text {
        Some(text) if !text.trim().is_empty() => Reply::Context { text: text.to_owned() },
        _ => Reply::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_means_what_its_event_allows() {
        use HookEvent::{
            OnSessionStart, PostToolCall, PreLlmCall, PreToolCall, PreVerify, TransformLlmOutput,
            TransformToolResult,
        };
        let block = Reply::block;
        let silent = || Reply::Block { message: None };
        let go_on = |message: &str| Reply::Continue { message: message.to_owned() };
        let context = |text: &str| Reply::Context { text: text.to_owned() };
        for (event, value, expected) in [
            (PreToolCall, json!({"action": "block", "message": "m", "reason": "r"}), block("m")),
            (PreToolCall, json!({"decision": "block", "message": "m", "reason": "r"}), block("r")),
            (PreToolCall, json!({"decision": "block", "message": "m"}), block("m")),
            (PreToolCall, json!({"action": "block", "message": ""}), silent()),
            (PreToolCall, json!({"action": "block", "message": 5}), silent()),
            (PreToolCall, json!({"action": "approve", "decision": "block"}), silent()),
            (PreToolCall, json!({"decision": "approve"}), Reply::Nothing),
            (PreToolCall, json!({"action": "BLOCK"}), Reply::Nothing),
            (
                PreToolCall,
                json!({"action": "approve", "message": "m", "rule_key": " k "}),
                Reply::Approve { message: Some("m".into()), rule_key: Some(" k ".into()) },
            ),
            (
                PreToolCall,
                json!({"action": "modify", "args": {"a": 1}}),
                Reply::Modify { args: json!({"a": 1}) },
            ),
            (PreToolCall, json!({"action": "modify", "args": [1]}), Reply::Nothing),
            (PreToolCall, json!({"context": "x"}), Reply::Nothing),
            (PreToolCall, json!("block"), Reply::Nothing),
            (PreToolCall, json!(null), Reply::Nothing),
            (PreVerify, json!({"action": "continue", "message": " x\n"}), go_on("x")),
            (PreVerify, json!({"decision": "block", "reason": " x\n"}), go_on("x")),
            (PreVerify, json!({"action": "block", "message": " ", "reason": "y"}), go_on("y")),
            (PreVerify, json!({"action": "continue", "message": "  "}), Reply::Nothing),
            (PreVerify, json!({"action": "allow", "message": "x"}), Reply::Nothing),
            (PostToolCall, json!({"action": "block", "message": "x"}), Reply::Nothing),
            (PostToolCall, json!({"context": " x "}), context(" x ")),
            (OnSessionStart, json!({"context": " \n"}), Reply::Nothing),
            (PreLlmCall, json!("x"), context("x")),
            (PreLlmCall, json!({"context": 5}), Reply::Nothing),
            (TransformToolResult, json!(""), Reply::replace("")),
            (TransformLlmOutput, json!(""), Reply::Nothing),
            (TransformLlmOutput, json!("x"), Reply::replace("x")),
            (TransformToolResult, json!({"replace": "x"}), Reply::replace("x")),
            (TransformToolResult, json!({"replace": 5, "context": "x"}), context("x")),
            (TransformToolResult, json!({"result": "x"}), Reply::Nothing),
            (PostToolCall, json!({"replace": "x", "context": "y"}), context("y")),
        ] {
            assert_eq!(Reply::from_value(event, &value), expected, "{event} {value}");
        }
    }
}

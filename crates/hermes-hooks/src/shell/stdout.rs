//! What a program's stdout says.

use serde_json::{Map, Value};

use crate::event::HookEvent;
use crate::hook::Reply;

/// What some editors and systems put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a text on stdout means as the reply to `event`: nothing, unless it is one JSON object.
#[must_use]
pub fn parse_stdout(event: HookEvent, stdout: &[u8]) -> Reply {
    match serde_json::from_slice(stdout.trim_ascii()) {
        Ok(object @ Value::Object(_)) => Reply::from_value(event, &object),
        _ => Reply::Nothing,
    }
}

/// As [`parse_stdout`], for those who must know that nothing was meant. Blanks and an empty object
/// say nothing, and so does `allow` where something is decided.
///
/// # Errors
///
/// Something was said, and nobody can tell what: the reason, as the end of a sentence about the
/// program.
pub fn understand(event: HookEvent, stdout: &[u8]) -> Result<Reply, &'static str> {
    let stdout = without_mark(stdout).trim_ascii();
    if stdout.is_empty() {
        return Ok(Reply::Nothing);
    }
    let Ok(Value::Object(fields)) = serde_json::from_slice(stdout) else {
        return Err("what it writes to stdout is no JSON object");
    };
    let known: &[&str] = match event {
        HookEvent::PreToolCall => &["block", "approve", "modify", "allow"],
        HookEvent::PreVerify => &["continue", "block", "allow"],
        _ => return Ok(Reply::from_value(event, &Value::Object(fields))),
    };
    let doubt = doubt(&fields, known);
    let allows = says(&fields, "allow");
    match (Reply::from_value(event, &Value::Object(fields)), doubt) {
        // Whatever else it says, nothing is stricter.
        (block @ Reply::Block { .. }, _) => Ok(block),
        (_, Some(why)) => Err(why),
        (Reply::Nothing, None) if !allows => Err(match event {
            HookEvent::PreVerify => "what it writes to stdout goes on without a text",
            _ => "what it writes to stdout lacks what its `action` needs",
        }),
        (reply, None) => Ok(reply),
    }
}

/// What follows a byte order mark, if there is one.
pub(super) fn without_mark(stdout: &[u8]) -> &[u8] {
    stdout.trim_ascii_start().strip_prefix(BYTE_ORDER_MARK).unwrap_or(stdout)
}

/// Why the words that decide can't be taken for what they say.
fn doubt(fields: &Map<String, Value>, known: &[&str]) -> Option<&'static str> {
    let words: Vec<&Value> =
        ["action", "decision"].iter().filter_map(|key| fields.get(*key)).collect();
    if words.is_empty() && !fields.is_empty() {
        return Some("what it writes to stdout has neither `action` nor `decision`");
    }
    let is_known = |word: &&Value| word.as_str().is_some_and(|word| known.contains(&word));
    (!words.iter().all(is_known)).then_some("what it writes to stdout has an unknown `action`")
}

/// Whether an object says nothing, or only this.
fn says(fields: &Map<String, Value>, word: &str) -> bool {
    ["action", "decision"]
        .iter()
        .filter_map(|key| fields.get(*key))
        .all(|said| said.as_str() == Some(word))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    const CALL: HookEvent = HookEvent::PreToolCall;

    #[test]
    fn only_an_object_is_an_answer() {
        for stdout in ["", " \n", "blocked!", "[]", "\"block\"", "null", "{", "{} {}"] {
            assert_eq!(parse_stdout(CALL, stdout.as_bytes()), Reply::Nothing);
        }
        assert_eq!(parse_stdout(CALL, b"{\"action\":\"\xff\"}"), Reply::Nothing);
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(parse_stdout(CALL, deep.as_bytes()), Reply::Nothing);
        assert!(understand(CALL, deep.as_bytes()).is_err());
        let padded = b"\n {\"action\": \"block\", \"message\": \"no\"}\n";
        assert_eq!(parse_stdout(CALL, padded), Reply::block("no"));
        assert_eq!(parse_stdout(HookEvent::TransformToolResult, b"\"text\""), Reply::Nothing);
    }

    #[test]
    fn what_is_unclear_is_no_answer() {
        for stdout in [
            "blocked!",
            "{\"action\":\"block\"} done",
            "checking.. {\"action\":\"block\"}",
            "{\"action\":\"block\"}\n{\"action\":\"block\"}",
            "[{\"action\":\"block\"}]",
            "\"block\"",
            "null",
            "5",
            "{",
            r#"{"action":"BLOCK"}"#,
            r#"{"action":" block"}"#,
            r#"{"action":"deny"}"#,
            r#"{"decision":"blok"}"#,
            r#"{"action":5}"#,
            r#"{"action":null}"#,
            r#"{"action":["block"]}"#,
            r#"{"message":"no"}"#,
            r#"{"acton":"block"}"#,
            r#"{"action":"modify"}"#,
            r#"{"action":"modify","args":[1]}"#,
            r#"{"decision":"modify","args":{}}"#,
            r#"{"decision":"approve"}"#,
            r#"{"action":"allow","decision":"deny"}"#,
            r#"{"action":"approve","decision":"deny"}"#,
        ] {
            assert!(understand(CALL, stdout.as_bytes()).is_err(), "{stdout}");
        }
        let ask = Reply::Approve { message: None, rule_key: None };
        for (stdout, expected) in [
            ("", Reply::Nothing),
            (" \r\n", Reply::Nothing),
            ("\u{feff}\n", Reply::Nothing),
            ("{}", Reply::Nothing),
            (r#"{"action":"allow","message":"fine"}"#, Reply::Nothing),
            ("\u{feff}{\"action\":\"block\",\"message\":\"no\"}", Reply::block("no")),
            (r#"{"decision":"block","action":"deny","reason":"no"}"#, Reply::block("no")),
            (r#"{"action":"approve"}"#, ask),
            (r#"{"action":"modify","args":{}}"#, Reply::Modify { args: json!({}) }),
        ] {
            assert_eq!(understand(CALL, stdout.as_bytes()), Ok(expected), "{stdout}");
        }
        for (stdout, is_clear) in [
            ("{}", true),
            (r#"{"action":"allow"}"#, true),
            (r#"{"action":"continue","message":"go on"}"#, true),
            (r#"{"action":"continue","message":" "}"#, false),
            (r#"{"action":"modify","args":{}}"#, false),
            ("done", false),
        ] {
            let reply = understand(HookEvent::PreVerify, stdout.as_bytes());
            assert_eq!(reply.is_ok(), is_clear, "{stdout}");
        }
        let other = HookEvent::PostToolCall;
        assert_eq!(understand(other, br#"{"anything": 1}"#), Ok(Reply::Nothing));
    }
}

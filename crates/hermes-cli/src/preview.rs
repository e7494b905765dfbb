//! A call and its result in a few words, for people.

use hermes_guard::redact::{self, Mode};
use hermes_registry::ToolOutput;
use hermes_tools::CallOutcome;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthChar as _;

/// What tells most about a call, best first.
const TELLING_ARGS: [&str; 11] = [
    "command",
    "code",
    "query",
    "pattern",
    "path",
    "file_path",
    "url",
    "urls",
    "name",
    "question",
    "text",
];

/// What tells most about a result, best first.
const TELLING_RESULTS: [&str; 7] =
    ["error", "diff", "matches_text", "content", "output", "text", "message"];

/// The main argument of a call on one line, with its secrets masked; empty if the call has none.
pub(crate) fn arguments(args: &Value) -> String {
    let Some(map) = args.as_object() else { return String::new() };
    let telling = TELLING_ARGS.iter().find_map(|key| map.get_key_value(*key));
    let first_text = || map.iter().find(|(_, value)| value.is_string());
    if let Some((key, value)) = telling.or_else(first_text) {
        // Its name too says whether it is a secret.
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        let masked = redact::redact_value(&Value::Object(alone), Mode::Log);
        let shown = masked.as_object().and_then(|map| map.values().next()).map(plain);
        return one_line(&shown.unwrap_or_default());
    }
    let lists = map.iter().find_map(|(key, value)| Some((key, value.as_array()?)));
    match lists {
        Some((key, list)) => format!("{} ({})", one_line(&without_secrets(key)), list.len()),
        None if map.is_empty() => String::new(),
        None => one_line(&redact::redact_value(args, Mode::Log).to_string()),
    }
}

/// A text with its secrets masked, for people.
pub(crate) fn without_secrets(text: &str) -> String {
    redact::redact(text, Mode::Log).into_owned()
}

/// The first lines of a result, and how many more there are.
pub(crate) fn result(content: &Value, max_lines: usize) -> (Vec<String>, usize) {
    let text = plain(content);
    let shown = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(map)) => readable(&map).unwrap_or(text),
        _ => text,
    };
    let mut lines = shown.lines().map(one_line).filter(|line| !line.is_empty());
    let first = lines.by_ref().take(max_lines).collect();
    (first, lines.count())
}

/// The part of a JSON result that people want to read: a long text, or a list with an item a line.
fn readable(map: &Map<String, Value>) -> Option<String> {
    let texts = TELLING_RESULTS.iter().filter_map(|key| map.get(*key)?.as_str());
    if let Some(text) = texts.into_iter().find(|text| !text.is_empty()) {
        return Some(text.to_owned());
    }
    let list = map.values().filter_map(Value::as_array).find(|list| !list.is_empty())?;
    let item = |item: &Value| match item {
        Value::Object(fields) => {
            let fields = fields.values().filter(|field| !field.is_object() && !field.is_array());
            fields.map(|field| one_line(&plain(field))).collect::<Vec<_>>().join("  ")
        }
        other => one_line(&plain(other)),
    };
    Some(list.iter().map(item).collect::<Vec<_>>().join("\n"))
}

/// What went wrong, for the end of a line: ` [exit 2]`, or the beginning of the error. Empty if
/// nothing did.
pub(crate) fn failure(outcome: &CallOutcome) -> String {
    /// How many characters of an error are shown.
    const MAX_ERROR: usize = 48;
    if !outcome.failed {
        return String::new();
    }
    let said = match &outcome.result {
        Err(error) => error.message().to_owned(),
        Ok(ToolOutput::Json(Value::Object(map))) => {
            if let Some(code) = map.get("exit_code").filter(|code| code.is_i64()) {
                return format!(" [exit {code}]");
            }
            let words = ["error", "message"].iter().find_map(|key| map.get(*key)?.as_str());
            words.unwrap_or("failed").to_owned()
        }
        Ok(_) => "failed".to_owned(),
    };
    // Of a long path the end tells most.
    let short = |word: &str| match word.rsplit_once('/') {
        Some((_, name)) if word.len() > MAX_ERROR / 2 && !name.is_empty() => name.to_owned(),
        _ => word.to_owned(),
    };
    let words: Vec<String> = one_line(&said).split(' ').map(short).collect();
    format!(" [{}]", cut(&words.join(" "), MAX_ERROR))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text without line ends and other control characters, which would move the cursor. What turns
/// the direction of the text, and so shows another one than there is, is spelled out.
pub(crate) fn one_line(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => visible.push(' '),
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => visible.extend(c.escape_unicode()),
            c => visible.push(c),
        }
    }
    visible.truncate(visible.trim_end().len());
    visible
}

/// As much of a text as fits into `room` columns, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, room: usize) -> String {
    let mut used = 0;
    let mut fits = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let width = c.width().unwrap_or(0);
        let spare = usize::from(chars.peek().is_some());
        if used + width + spare > room {
            if used < room {
                fits.push('…');
            }
            return fits;
        }
        used += width;
        fits.push(c);
    }
    fits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_shown_by_its_main_argument() {
        let check = |args: Value, expected: &str| assert_eq!(arguments(&args), expected);
        check(json!({"limit": 3, "path": "a.rs"}), "a.rs");
        check(json!({"command": "ls\n\x1b[2Jrm", "path": "a"}), "ls  [2Jrm");
        check(json!({"command": "ls \u{202e}xr"}), r"ls \u{202e}xr");
        check(json!({"odd": "x", "n": 1}), "x");
        check(json!({"merge": true, "todos": [1, 2]}), "todos (2)");
        check(json!({"n": 1}), r#"{"n":1}"#);
        check(json!({}), "");
        check(json!(null), "");
    }

    #[test]
    fn secrets_are_masked() {
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        for args in [
            json!({"command": format!("curl -H 'Authorization: Bearer {token}' x")}),
            json!({"odd": token}),
            json!({"urls": ["a", token]}),
            json!({"n": {"x": token}}),
            json!({token: [1]}),
            json!({"password": token}),
        ] {
            let shown = arguments(&args);
            assert!(!shown.contains(token) && !shown.is_empty(), "{shown}");
        }
        assert!(!arguments(&json!({"password": "hunter22"})).contains("hunter22"));
        assert!(!arguments(&json!({"pin": 1, "n": {"api_key": 123_456}})).contains("123456"));
    }

    #[test]
    fn a_result_is_shown_by_its_first_lines() {
        let check = |content: Value, lines: &[&str], more| {
            assert_eq!(
                result(&content, 2),
                (lines.iter().map(|l| (*l).to_owned()).collect(), more)
            );
        };
        check(json!("a\n\nb\nc\nd"), &["a", "b"], 2);
        check(json!(r#"{"total": 3, "content": "x\ny"}"#), &["x", "y"], 0);
        check(json!(r#"{"error": "no such file", "content": "x"}"#), &["no such file"], 0);
        check(json!(r#"{"total": 3}"#), &[r#"{"total": 3}"#], 0);
        check(
            json!(r#"{"n": 2, "matches": [{"path": "a", "line": 3}, "b\nc", {"x": []}]}"#),
            &["a  3", "b c"],
            0,
        );
        check(json!(""), &[], 0);
    }

    #[test]
    fn texts_are_cut_by_columns() {
        for (text, room, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 4, "日…"),
            ("日本", 4, "日本"),
            ("a", 0, ""),
        ] {
            assert_eq!(cut(text, room), expected, "{text} in {room}");
        }
    }
}

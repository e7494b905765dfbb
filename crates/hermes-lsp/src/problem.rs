//! What a server finds wrong, taken from its messages.

use serde_json::Value;

/// How many errors of one file are kept.
const MAX_PROBLEMS: usize = 1000;

/// How many characters of a text are kept; far less is shown.
const MAX_TEXT: usize = 1000;

/// The severity of errors; what has none is one too.
const ERROR: u64 = 1;

/// An error in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line where it begins, from 0.
    pub(crate) line: u32,
    /// The place in the line, from 0, in UTF-16 units.
    pub(crate) character: u32,
    /// What is wrong.
    pub(crate) message: String,
    /// The server's name for such errors; may be empty.
    pub(crate) code: String,
    /// Who says so; may be empty.
    pub(crate) source: String,
}

/// The errors in a list of the protocol's diagnostics. What is no diagnostic is left out.
pub(crate) fn errors(diagnostics: &Value) -> Vec<Problem> {
    let all = diagnostics.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(problem).take(MAX_PROBLEMS).collect()
}

fn problem(diagnostic: &Value) -> Option<Problem> {
    if diagnostic.get("severity").and_then(Value::as_u64).unwrap_or(ERROR) != ERROR {
        return None;
    }
    let start = diagnostic.get("range")?.get("start")?;
    Some(Problem {
        line: number(start.get("line")?)?,
        character: number(start.get("character")?)?,
        message: message(diagnostic.get("message")?)?,
        code: text(diagnostic.get("code")),
        source: text(diagnostic.get("source")),
    })
}

/// The errors in the answer of the program behind typescript-language-server, which counts lines
/// and places from 1.
pub(crate) fn typescript_errors(answer: &Value) -> Vec<Problem> {
    let all = answer.get("body").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let problem = |diagnostic: &Value| {
        if diagnostic.get("category").and_then(Value::as_str) != Some("error") {
            return None;
        }
        let start = diagnostic.get("start")?;
        Some(Problem {
            line: number(start.get("line")?)?.saturating_sub(1),
            character: number(start.get("offset")?)?.saturating_sub(1),
            message: message(diagnostic.get("text")?)?,
            code: text(diagnostic.get("code")),
            source: "typescript".to_owned(),
        })
    };
    all.iter().filter_map(problem).take(MAX_PROBLEMS).collect()
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// A message, which newer servers may send with a kind of markup.
fn message(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value.get("value")?.as_str()).map(cut)
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => cut(text),
        Some(Value::Number(number)) => number.to_string(),
        // Drafts of the protocol had a link beside the code.
        Some(Value::Object(code)) => text(code.get("value").filter(|value| !value.is_object())),
        _ => String::new(),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_alone_are_taken() {
        let at = json!({"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 5}});
        let found = errors(&json!([
            {"range": at, "message": "a", "severity": 1, "code": 2304, "source": "ts"},
            {"range": at, "message": "warning", "severity": 2},
            {"range": at, "message": {"kind": "markdown", "value": "b"}, "code": {"value": "x"}},
            {"message": "nowhere"}, {"range": at}, 7,
            {"range": {"start": {"line": -1, "character": 0}}, "message": "before the start"},
        ]));
        let problem = |message: &str, code: &str, source: &str| Problem {
            line: 2,
            character: 4,
            message: message.to_owned(),
            code: code.to_owned(),
            source: source.to_owned(),
        };
        assert_eq!(found, [problem("a", "2304", "ts"), problem("b", "x", "")]);
        assert_eq!(errors(&json!({"items": 1})), []);
    }

    #[test]
    fn the_other_form() {
        let start = json!({"line": 3, "offset": 5});
        let found = typescript_errors(&json!({"body": [
            {"start": start, "text": "a", "code": 1005, "category": "error"},
            {"start": start, "text": "b", "code": 1, "category": "suggestion"},
        ]}));
        let expected = Problem {
            line: 2,
            character: 4,
            message: "a".to_owned(),
            code: "1005".to_owned(),
            source: "typescript".to_owned(),
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_flood_is_cut() {
        let one =
            json!({"range": {"start": {"line": 0, "character": 0}}, "message": "x".repeat(5000)});
        let found = errors(&Value::Array(vec![one; 5000]));
        assert_eq!((found.len(), found[0].message.len()), (MAX_PROBLEMS, MAX_TEXT));
    }
}

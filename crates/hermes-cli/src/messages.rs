//! Tool calls as they are written down: one JSON value per line.

use hermes_tools::message_pairs::derived_call_id;
use hermes_tools::{Arguments, ToolCall};
use serde_json::{Map, Value};

/// Reads lines into calls. Each line is an assistant message with `tool_calls`, or one bare call.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    line: usize,
    calls: usize,
}

impl Reader {
    /// The calls of the next line; none for a blank line.
    ///
    /// # Errors
    /// What is wrong with the line, with its number.
    pub(crate) fn next(&mut self, line: &str) -> Result<Vec<ToolCall>, String> {
        self.line += 1;
        // A byte order mark in front of the first line is no part of it.
        let text = line.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| self.fault(format!("not JSON: {}", in_line(&error))))?;
        self.message(value).map_err(|fault| self.fault(fault))
    }

    fn fault(&self, what: impl std::fmt::Display) -> String {
        format!("line {}: {what}", self.line)
    }

    fn message(&mut self, value: Value) -> Result<Vec<ToolCall>, String> {
        let Value::Object(mut message) = value else {
            return Err("neither an assistant message nor a call: it must be an object".to_owned());
        };
        match message.remove("tool_calls") {
            Some(Value::Array(calls)) => calls
                .into_iter()
                .enumerate()
                .map(|(index, call)| match call {
                    Value::Object(call) => {
                        self.call(call).map_err(|fault| format!("tool_calls[{index}]: {fault}"))
                    }
                    _ => Err(format!("tool_calls[{index}] must be an object")),
                })
                .collect(),
            Some(Value::Null) => Ok(Vec::new()),
            Some(_) => Err("tool_calls must be a list".to_owned()),
            None if holds_tool_use(message.get("content")) => Err(
                "calls in Anthropic's form are not read: give them as `tool_calls`, or one call \
                 per line with `name` and `arguments`"
                    .to_owned(),
            ),
            // An assistant that only talks.
            None if message.get("role").is_some_and(|role| role == "assistant") => Ok(Vec::new()),
            None if message.contains_key("name") || message.contains_key("function") => {
                self.call(message).map(|call| vec![call])
            }
            None => Err("neither `tool_calls` nor the `name` of a tool".to_owned()),
        }
    }

    fn call(&mut self, mut call: Map<String, Value>) -> Result<ToolCall, String> {
        let id = ["call_id", "id"]
            .into_iter()
            .filter_map(|key| call.get(key)?.as_str())
            .map(str::trim)
            .find(|id| !id.is_empty())
            .map(str::to_owned);
        let mut function = match call.remove("function") {
            Some(Value::Object(function)) => function,
            Some(_) => return Err("`function` must be an object".to_owned()),
            None => call,
        };
        let name = match function.remove("name") {
            Some(Value::String(name)) => name,
            Some(_) => return Err("the `name` of the tool must be a text".to_owned()),
            None => return Err("the `name` of the tool is missing".to_owned()),
        };
        let arguments = match function.remove("arguments") {
            Some(Value::String(text)) => Arguments::Text(text),
            Some(value) => Arguments::Value(value),
            None => Arguments::Value(Value::Null),
        };
        let id = id.unwrap_or_else(|| made_up_id(&name, &arguments, self.calls));
        self.calls += 1;
        Ok(ToolCall { id, name, arguments })
    }
}

/// Whether the content of a message holds a call in Anthropic's form.
fn holds_tool_use(content: Option<&Value>) -> bool {
    let parts = content.and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("type")).any(|kind| kind == "tool_use")
}

/// What serde_json says, without its own line number, which is always 1.
fn in_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let at = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&at) {
        Some(what) => format!("{what} (column {})", error.column()),
        None => text,
    }
}

/// An id for a call that came without one: the same for the same call at the same place, so that
/// a repeated run gives the same messages.
fn made_up_id(name: &str, arguments: &Arguments, index: usize) -> String {
    match arguments {
        Arguments::Text(text) => derived_call_id(name, text, index),
        Arguments::Value(value) => derived_call_id(name, &value.to_string(), index),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn read(line: &Value) -> Result<Vec<ToolCall>, String> {
        Reader::default().next(&line.to_string())
    }

    #[test]
    fn messages_and_bare_calls_are_read() {
        let calls = read(&json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": " a ", "type": "function", "function": {"name": "x", "arguments": "{\"n\":1}"}},
            {"id": "b", "call_id": "c", "function": {"name": "y", "arguments": {"n": 2}}},
            {"id": "d", "call_id": " ", "name": "z"},
        ]}));
        let expected = vec![
            ToolCall::from_text("a", "x", r#"{"n":1}"#),
            ToolCall::new("c", "y", json!({"n": 2})),
            ToolCall::new("d", "z", Value::Null),
        ];
        assert_eq!(calls, Ok(expected));
        let bare = read(&json!({"id": "e", "name": "x", "arguments": {}}));
        assert_eq!(bare, Ok(vec![ToolCall::new("e", "x", json!({}))]));
        for empty in
            ["", "  \r", r#"{"role":"assistant","content":"done"}"#, r#"{"tool_calls":null}"#]
        {
            assert_eq!(Reader::default().next(empty), Ok(vec![]), "{empty}");
        }
    }

    #[test]
    fn calls_in_another_form_are_not_passed_over() {
        let message = json!({"role": "assistant", "content": [
            {"type": "text", "text": "I'll look."},
            {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}},
        ]});
        assert!(read(&message).unwrap_err().contains("`tool_calls`"));
    }

    #[test]
    fn a_missing_id_depends_on_the_call_and_its_place_only() {
        let line = r#"{"name":"x","arguments":{"a":1}}"#;
        let ids = || {
            let mut reader = Reader::default();
            [reader.next(line).unwrap()[0].id.clone(), reader.next(line).unwrap()[0].id.clone()]
        };
        assert_eq!(ids(), ids());
        assert_ne!(ids()[0], ids()[1]);
    }

    #[test]
    fn faults_name_the_line() {
        let check = |line: &str, expected: &str| {
            let mut reader = Reader::default();
            reader.next("").unwrap();
            let fault = reader.next(line).unwrap_err();
            assert!(fault.starts_with("line 2: ") && fault.contains(expected), "{fault}");
        };
        check("{oops", "column 2");
        check("[1]", "must be an object");
        check("{}", "neither `tool_calls` nor");
        check(r#"{"role":"user","content":"hi"}"#, "neither");
        check(r#"{"tool_calls":{}}"#, "must be a list");
        check(r#"{"tool_calls":[{"name":"a"},7]}"#, "tool_calls[1]");
        check(r#"{"tool_calls":[{"function":{}}]}"#, "name");
        check(r#"{"name":7}"#, "must be a text");
        check(r#"{"function":"f"}"#, "must be an object");
    }
}

//! Whether a result is a failure, for display and for the guardrail.
//!
//! This is a judgement on text, for results whose tool says nothing better: the typed outcome of a
//! handler beats it.

use serde_json::{Map, Value};

/// Whether the text that `tool` gave back says that it failed.
///
/// JSON objects are judged by their fields, see [`is_failure_value`]; other JSON is data and
/// never a failure. Text that isn't JSON is one if it begins with `Error`.
#[must_use]
pub fn is_failure(tool: &str, result: &str) -> bool {
    match serde_json::from_str(result) {
        Ok(value) => is_failure_value(tool, &value),
        // A program's output may begin with any word; its exit code is what counts.
        Err(_) => tool != "terminal" && result.starts_with("Error"),
    }
}

/// The same for a result that has been read as JSON.
///
/// A command failed if its exit code says so, whatever it printed. Of other objects those with an
/// `error` that isn't empty have failed, and those with `success: false` and a message.
#[must_use]
pub fn is_failure_value(tool: &str, result: &Value) -> bool {
    let Value::Object(result) = result else { return false };
    if tool == "terminal" {
        return result.get("exit_code").is_some_and(is_truthy);
    }
    if result.get("error").is_some_and(is_truthy) {
        return true;
    }
    // A write that landed is a success, whatever a check after it found.
    if tool == "write_file" && result.get("bytes_written").is_some_and(|bytes| !bytes.is_null()) {
        return false;
    }
    let refused = result.get("success") == Some(&Value::Bool(false));
    refused && (tool == "memory" || has_message(result))
}

fn has_message(result: &Map<String, Value>) -> bool {
    result.get("message").is_some_and(is_truthy)
}

/// Whether a value says anything: not null, `false`, zero or empty.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results() {
        for (tool, result, failed) in [
            ("terminal", r#"{"output":"","exit_code":1}"#, true),
            ("terminal", r#"{"output":"","exit_code":-9}"#, true),
            ("terminal", r#"{"output":"Error: x","exit_code":0,"error":"warning"}"#, false),
            ("terminal", r#"{"output":"","exit_code":null,"error":"x"}"#, false),
            ("terminal", r#"{"error":"x"}"#, false),
            ("terminal", "Error: no such file", false),
            ("read_file", r#"{"error":"File not found: /a/b"}"#, true),
            ("read_file", r#"{"error":""}"#, false),
            ("write_file", r#"{"bytes_written":5,"lint":{"error":"x"}}"#, false),
            ("write_file", r#"{"bytes_written":0,"success":false,"message":"lint"}"#, false),
            ("write_file", r#"{"bytes_written":5,"error":"disk full"}"#, true),
            ("patch", r#"{"success":true,"diff":"-error"}"#, false),
            ("patch", r#"{"success":true,"error":"x"}"#, true),
            ("memory", r#"{"success":false,"usage":"2,200/2,200"}"#, true),
            ("x", r#"{"success":false,"message":"no"}"#, true),
            ("x", r#"{"success":false,"message":""}"#, false),
            ("x", r#"{"success":false}"#, false),
            ("x", r#"{"success":true,"error":null}"#, false),
            ("x", r#"{"error":{"code":1}}"#, true),
            ("x", r#"{"failed":3,"rows":[{"error":"x"}]}"#, false),
            ("x", r#"[{"error":"x"}]"#, false),
            ("x", r#""Error: x""#, false),
            ("web_search", "Error executing tool 'web_search': boom", true),
            ("x", "error: lower case", false),
            ("x", "It says \"error\" and \"failed\"", false),
            ("x", "", false),
        ] {
            assert_eq!(is_failure(tool, result), failed, "{tool} {result}");
        }
    }

    #[test]
    fn deep_nesting_is_no_trouble() {
        assert!(!is_failure("x", &"[".repeat(100_000)));
    }
}

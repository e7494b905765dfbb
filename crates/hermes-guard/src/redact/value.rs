//! Masking secrets in JSON.

use serde_json::{Map, Value};

use super::keys::is_secret_key;
use super::mask::HIDDEN;
use super::{Mode, redact};

/// How deep lists and objects may be nested; what is deeper is left out.
const DEEPEST: usize = 128;

/// A copy of `value` with the secrets masked: in every text, and whole under keys that look like
/// it, such as `password`. What is nested more than 128 deep is left out.
#[must_use]
pub fn redact_value(value: &Value, mode: Mode) -> Value {
    masked(value, mode, false, DEEPEST)
}

fn masked(value: &Value, mode: Mode, is_secret: bool, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) if is_secret => HIDDEN.into(),
        Value::String(text) if is_secret && !text.is_empty() => HIDDEN.into(),
        Value::Number(_) => value.clone(),
        Value::String(text) => redact(text, mode).into_owned().into(),
        Value::Array(_) | Value::Object(_) if depth == 0 => "[too deep]".into(),
        Value::Array(items) => {
            items.iter().map(|item| masked(item, mode, is_secret, depth - 1)).collect()
        }
        Value::Object(fields) => {
            let masked_fields: Map<String, Value> = fields
                .iter()
                .map(|(key, value)| {
                    let is_secret = is_secret || is_secret_key(key);
                    (redact(key, mode).into_owned(), masked(value, mode, is_secret, depth - 1))
                })
                .collect();
            Value::Object(masked_fields)
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_and_texts() {
        let value = json!({
            "command": "curl -H 'Authorization: Bearer abcdef0123456789abcdef'",
            "env": {"API_KEY": "x", "PATH": "/bin", "pin_token": 1234},
            "password": ["a", {"b": "c", "d": null}],
            "max_tokens": 100,
            "empty_token": "",
        });
        assert_eq!(
            redact_value(&value, Mode::Log),
            json!({
                "command": "curl -H 'Authorization: Bearer abcdef...cdef'",
                "env": {"API_KEY": "***", "PATH": "/bin", "pin_token": "***"},
                "password": ["***", {"b": "***", "d": null}],
                "max_tokens": 100,
                "empty_token": "",
            })
        );
    }

    #[test]
    fn deep_values_end() {
        let mut value = json!("x");
        for _ in 0..200 {
            value = json!([value]);
        }
        let text = redact_value(&value, Mode::Log).to_string();
        assert!(text.contains("[too deep]") && text.len() < 300);
    }
}

//! Values of the configuration, taken as far as they make sense.

use std::collections::BTreeMap;

use hermes_exec_policy::isolation::volume_parts;
use serde_json::{Map, Value};

/// The longest label that engines and their tools take everywhere.
const LABEL: usize = 63;

/// A text as the value of a label.
#[must_use]
pub fn label(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let label: String =
        text.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LABEL).collect();
    if label.is_empty() { "unknown".to_owned() } else { label }
}

/// Names of variables to be passed on: trimmed, each once, in order. What is no name is left out.
#[must_use]
pub fn forward_names(names: &[Value]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names.iter().filter_map(Value::as_str).map(str::trim) {
        if is_identifier(name) && !found.iter().any(|other| other == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// Volumes, `SOURCE:TARGET[:OPTIONS]`: trimmed. What has no source or no target is left out.
#[must_use]
pub fn volumes(volumes: &[Value]) -> Vec<String> {
    let texts = volumes.iter().filter_map(Value::as_str).map(str::trim);
    texts.filter(|volume| volume_parts(volume).is_some()).map(str::to_owned).collect()
}

/// Variables of a container. Numbers and truth values become text; what else is no text is left
/// out, and so is what has no proper name.
#[must_use]
pub fn environment(variables: &Map<String, Value>) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let named = variables.iter().map(|(name, value)| (name.trim(), value));
    named
        .filter(|(name, _)| is_identifier(name))
        .filter_map(|(name, value)| Some((name.to_owned(), text(value)?)))
        .filter(|(_, value)| !value.contains('\0'))
        .collect()
}

/// Further arguments of `docker run`: trimmed. What is no text is left out.
#[must_use]
pub fn extra_args(arguments: &[Value]) -> Vec<String> {
    let texts = arguments.iter().filter_map(Value::as_str).map(str::trim);
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn labels() {
        for (text, expected) in [
            ("a/b c", "a_b_c"),
            ("", "unknown"),
            ("ü.x-y_Z9", "_.x-y_Z9"),
            ("\n", "_"),
            (&"é".repeat(70), &"_".repeat(63)),
        ] {
            assert_eq!(label(text), expected);
        }
    }

    #[test]
    fn names() {
        let names = json!(["A", "A", " B ", "1C", "", 3, "D-E", "Ü", "_x", "a b", null]);
        assert_eq!(forward_names(names.as_array().unwrap()), ["A", "B", "_x"]);
    }

    #[test]
    fn variables() {
        let given = json!({"B": "2", "A": 1, "F": 1.5, "T": true, "1X": "no", "L": [1], "N": null,
            "": "x", "a b": "x", " C ": "c"});
        let found = environment(given.as_object().unwrap());
        let found: Vec<_> = found.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(found, ["A=1", "B=2", "C=c", "F=1.5", "T=true"]);
    }
}

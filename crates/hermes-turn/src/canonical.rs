//! One spelling for each JSON value.

use std::fmt::Write as _;

use serde_json::Value;

/// A list or object whose rest is still to be written.
enum Open<'a> {
    List(std::slice::Iter<'a, Value>),
    Object(std::vec::IntoIter<(&'a String, &'a Value)>),
}

/// `value` as compact JSON with the keys sorted at every depth and nothing escaped that need not
/// be, so that equal values give equal texts.
///
/// Numbers keep their spelling: `1` and `1.0` differ.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    // A stack of its own: a value that was put together in memory may be nested to any depth.
    let mut open = Vec::new();
    begin(value, &mut out, &mut open);
    while let Some(container) = open.last_mut() {
        let first = out.ends_with(['[', '{']);
        let next = match container {
            Open::List(items) => items.next(),
            Open::Object(fields) => fields.next().map(|(key, value)| {
                if !first {
                    out.push(',');
                }
                write_text(&mut out, key);
                out.push(':');
                value
            }),
        };
        match (next, container) {
            (Some(value), Open::Object(_)) => begin(value, &mut out, &mut open),
            (Some(value), Open::List(_)) => {
                if !first {
                    out.push(',');
                }
                begin(value, &mut out, &mut open);
            }
            (None, container) => {
                out.push(if matches!(container, Open::List(_)) { ']' } else { '}' });
                open.pop();
            }
        }
    }
    out
}

/// Writes a scalar whole, of a container only the opening bracket.
fn begin<'a>(value: &'a Value, out: &mut String, open: &mut Vec<Open<'a>>) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            // Writing to a string doesn't fail.
            let _ = write!(out, "{number}");
        }
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push('[');
            open.push(Open::List(items.iter()));
        }
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            open.push(Open::Object(fields.into_iter()));
        }
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for piece in text.split_inclusive(|c: char| c < ' ' || c == '"' || c == '\\') {
        let mut chars = piece.chars();
        let escape = match chars.next_back() {
            Some('"') => "\\\"",
            Some('\\') => "\\\\",
            Some('\n') => "\\n",
            Some('\r') => "\\r",
            Some('\t') => "\\t",
            Some('\u{8}') => "\\b",
            Some('\u{c}') => "\\f",
            Some(c) if c < ' ' => {
                out.push_str(chars.as_str());
                let _ = write!(out, "\\u{:04x}", u32::from(c));
                continue;
            }
            _ => {
                out.push_str(piece);
                continue;
            }
        };
        out.push_str(chars.as_str());
        out.push_str(escape);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"z": 1, "a": null}, [], {}, [[true]]], "a": "ä\n\u{1}\"\\"});
        assert_eq!(
            canonical_json(&value),
            r#"{"a":"ä\n\u0001\"\\","b":[{"a":null,"z":1},[],{},[[true]]]}"#
        );
        // A text that ends like an opening bracket isn't taken for one.
        assert_eq!(canonical_json(&json!(["[", "{", 1.0, 2])), r#"["[","{",1.0,2]"#);
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut value = json!(1);
        for _ in 0..200_000 {
            value = Value::Array(vec![value]);
        }
        assert_eq!(canonical_json(&value).len(), 400_001);
        // Dropping it would recurse.
        std::mem::forget(value);
    }

    proptest! {
        #[test]
        fn text_is_written_as_serde_json_does(text in any::<String>(), number in any::<f64>()) {
            for value in [json!(text), json!(number)] {
                prop_assert_eq!(canonical_json(&value), value.to_string());
            }
        }
    }
}

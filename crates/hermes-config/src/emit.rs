//! Writing a JSON value as YAML that reads back as the same value, whatever reads it.

use serde_json::{Map, Value};

/// Appends `key: value` with all its lines, at the given indentation in blanks.
pub(crate) fn entry(out: &mut String, key: &str, value: &Value, indent: usize) {
    pad(out, indent);
    scalar_text(out, key);
    out.push(':');
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            mapping(out, map, indent + 2);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            list(out, items, indent + 2);
        }
        inline => {
            out.push(' ');
            self::inline(out, inline);
            out.push('\n');
        }
    }
}

/// A whole document.
pub(crate) fn document(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => list(&mut out, items, 0),
        inline => {
            self::inline(&mut out, inline);
            out.push('\n');
        }
    }
    out
}

fn mapping(out: &mut String, map: &Map<String, Value>, indent: usize) {
    for (key, value) in map {
        entry(out, key, value, indent);
    }
}

fn list(out: &mut String, items: &[Value], indent: usize) {
    for item in items {
        pad(out, indent);
        match item {
            Value::Object(map) if !map.is_empty() => {
                // The first key stands on the dash's line.
                let start = out.len();
                mapping(out, map, indent + 2);
                out.replace_range(start..start + indent + 2, "- ");
            }
            Value::Array(inner) if !inner.is_empty() => {
                let start = out.len();
                list(out, inner, indent + 2);
                out.replace_range(start..start + indent + 2, "- ");
            }
            inline => {
                out.push_str("- ");
                self::inline(out, inline);
                out.push('\n');
            }
        }
    }
}

fn inline(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => scalar_text(out, text),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
        other => out.push_str(&other.to_string()),
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn scalar_text(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

/// Whether a text needs no quotes in any version of YAML and any place.
fn is_plain(text: &str) -> bool {
    const TAKEN: &[&str] =
        &["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    text.len() <= 80
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/')
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || "_/.-".contains(c))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./@+ ".contains(c))
        && !text.contains("  ")
        && !TAKEN.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // What is not printable in YAML or breaks a line in one of its versions.
            '\0'..='\x1f' | '\x7f'..='\u{a0}' => out.push_str(&format!("\\x{:02x}", c as u32)),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml;

    #[test]
    fn the_layout_is_the_usual_one() {
        let value = json!({
            "a": {"b": 1, "c": null, "e": {}},
            "list": ["x y", "yes", [1, [2]], {"k": {"l": true}, "m": []}, {}],
            "8080": "8080",
        });
        let text = "a:\n  b: 1\n  c: null\n  e: {}\nlist:\n  - x y\n  - \"yes\"\n  - - 1\n    - - 2\n  \
                    - k:\n      l: true\n    m: []\n  - {}\n\"8080\": \"8080\"\n";
        assert_eq!(document(&value), text);
        assert_eq!(yaml::parse(text), Ok(value));
    }

    proptest! {
        #[test]
        fn any_text_reads_back(key in any::<String>(), value in any::<String>(), word in "[a-zA-Z0-9_. :#~-]{0,6}") {
            let value = json!({key: [value.clone(), {word.clone(): value}, word]});
            prop_assert_eq!(yaml::parse(&document(&value)), Ok(value));
        }
    }
}

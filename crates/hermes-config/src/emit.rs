//! Writing a JSON value as YAML that reads back as the same value, whatever reads it.

use serde_json::{Map, Value};

/// How far lines are indented below others, in blanks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// A mapping below its key.
    pub(crate) step: usize,
    /// The dashes of a list below its key.
    pub(crate) dash: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { step: 2, dash: 2 }
    }
}

/// Appends `key: value` with all its lines, at the given indentation in blanks.
pub(crate) fn entry(out: &mut String, key: &str, value: &Value, indent: usize, layout: Layout) {
    pad(out, indent);
    scalar_text(out, key);
    out.push(':');
    if is_inline(value) {
        out.push(' ');
        inline_value(out, value);
        out.push('\n');
    } else {
        out.push('\n');
        below(out, value, indent, layout);
    }
}

/// Appends the lines of a list or mapping that has something in it, below a key that is indented
/// by `indent`.
pub(crate) fn below(out: &mut String, value: &Value, indent: usize, layout: Layout) {
    match value {
        Value::Object(map) => mapping(out, map, indent + layout.step, layout),
        Value::Array(items) => list(out, items, indent + layout.dash, layout),
        _ => {}
    }
}

fn mapping(out: &mut String, map: &Map<String, Value>, indent: usize, layout: Layout) {
    for (key, value) in map {
        entry(out, key, value, indent, layout);
    }
}

/// Appends the lines of a list's items.
pub(crate) fn list(out: &mut String, items: &[Value], indent: usize, layout: Layout) {
    for item in items {
        // What follows a dash stands as deep as that dash and its blank are wide, and its first
        // line on the dash's line.
        let start = out.len();
        match item {
            Value::Object(map) if !map.is_empty() => mapping(out, map, indent + 2, layout),
            Value::Array(inner) if !inner.is_empty() => list(out, inner, indent + 2, layout),
            value => {
                pad(out, indent + 2);
                inline_value(out, value);
                out.push('\n');
            }
        }
        out.replace_range(start + indent..start + indent + 2, "- ");
    }
}

fn is_inline(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// A value on one line, lists and mappings in brackets and braces.
pub(crate) fn inline(value: &Value) -> String {
    let mut out = String::new();
    inline_value(&mut out, value);
    out
}

/// Appends `key: value` as it stands within braces.
pub(crate) fn inline_entry(out: &mut String, key: &str, value: &Value) {
    scalar_text(out, key);
    out.push_str(": ");
    inline_value(out, value);
}

fn inline_value(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => scalar_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                inline_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                inline_entry(out, key, value);
            }
            out.push('}');
        }
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

    fn document(value: &Value) -> String {
        let mut out = String::new();
        match value {
            Value::Object(map) => mapping(&mut out, map, 0, Layout::default()),
            _ => out.push_str(&inline(value)),
        }
        out
    }

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
        assert_eq!(yaml::parse(text), Ok(value.clone()));
        let text = "{a: {b: 1, c: null, e: {}}, list: [x y, \"yes\", [1, [2]], {k: {l: true}, m: []}, \
                    {}], \"8080\": \"8080\"}";
        assert_eq!(inline(&value), text);
        assert_eq!(yaml::parse(text), Ok(value));
    }

    proptest! {
        #[test]
        fn any_text_reads_back(key in any::<String>(), value in any::<String>(), word in "[a-zA-Z0-9_. :#~-]{0,6}") {
            let value = json!({key: [value.clone(), {word.clone(): value}, word]});
            prop_assert_eq!(yaml::parse(&document(&value)), Ok(value.clone()));
            prop_assert_eq!(yaml::parse(&inline(&value)), Ok(value));
        }
    }
}

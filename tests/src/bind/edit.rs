//! The matcher, the patch engine and the closest lines.

use hermes_edit::{Refusal, closest_lines as closest, replace};
use serde_json::{Value, json};

use super::{Binding, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("fuzzy_replace", Binding::Checked(fuzzy_replace)),
    ("closest_lines", Binding::Checked(closest_lines)),
];

fn fuzzy_replace(input: &Value, expect: &Value) -> Result<(), String> {
    let all = input.get("replace_all").and_then(Value::as_bool).unwrap_or_default();
    let result = replace(text(input, "content")?, text(input, "old")?, text(input, "new")?, all);
    let actual = match &result {
        Ok(replaced) => {
            json!({"ok": true, "content": replaced.content, "count": replaced.count})
        }
        Err(refusal) => json!({"ok": false, "kind_in": kind(refusal)}),
    };
    compare(expect, &actual)
}

const fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::EmptyOld => "empty_old",
        Refusal::Identical => "identical",
        Refusal::NotFound => "not_found",
        Refusal::Ambiguous { .. } => "ambiguous",
        Refusal::EscapeDrift { .. } => "escape_drift",
    }
}

/// Compares keys; the kinds that are allowed are a list.
fn compare(expect: &Value, actual: &Value) -> Result<(), String> {
    for (key, wanted) in expect.as_object().ok_or("the expectation is no object")? {
        let found = actual.get(key).unwrap_or(&Value::Null);
        let fits = match (key.as_str(), wanted) {
            ("kind_in", Value::Array(kinds)) => kinds.contains(found),
            _ => wanted == found,
        };
        if !fits {
            return Err(format!("{key}: expected {wanted}, got {actual}"));
        }
    }
    Ok(())
}

fn closest_lines(input: &Value, expect: &Value) -> Result<(), String> {
    let snippet = closest(text(input, "old")?, text(input, "content")?);
    if expect.get("none") == Some(&json!(true)) && snippet.is_some() {
        return Err(format!("expected nothing, got {snippet:?}"));
    }
    let Some(line) = expect.get("includes_line") else { return Ok(()) };
    let shown = snippet.as_deref().unwrap_or_default();
    let row = format!("{line}|");
    let includes = shown.lines().any(|line| line.starts_with(&row));
    if includes { Ok(()) } else { Err(format!("line {line} isn't shown in {snippet:?}")) }
}

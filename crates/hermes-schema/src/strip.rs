//! Removing schema keywords that a provider's grammar compiler cannot digest.
//!
//! Only keywords go: a property that happens to be called `pattern` or `enum` is a name.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::positions::{check_depth, rewritten, visit_mut};

/// Removes `pattern` and `format` from every schema; also says how many were removed.
///
/// A schema deeper than [`crate::MAX_LEVELS`] comes back as it is.
#[must_use]
pub fn strip_pattern_format(schema: &Value) -> (Cow<'_, Value>, usize) {
    strip(schema, pattern_format)
}

/// Removes every `enum` that has a text with `/` in it; also says how many were removed.
///
/// A schema deeper than [`crate::MAX_LEVELS`] comes back as it is.
#[must_use]
pub fn strip_slash_enum(schema: &Value) -> (Cow<'_, Value>, usize) {
    strip(schema, slash_enum)
}

/// [`strip_pattern_format`] over tools in a wire shape: `{function: {parameters}}`,
/// `{parameters}`, `{input_schema}` or `{inputSchema}`.
#[must_use]
pub fn strip_pattern_format_in_tools(tools: &[Value]) -> (Vec<Value>, usize) {
    strip_tools(tools, pattern_format)
}

/// [`strip_slash_enum`] over tools in a wire shape: `{function: {parameters}}`, `{parameters}`,
/// `{input_schema}` or `{inputSchema}`.
#[must_use]
pub fn strip_slash_enum_in_tools(tools: &[Value]) -> (Vec<Value>, usize) {
    strip_tools(tools, slash_enum)
}

/// Removes keywords from one node and says how many.
type Remove = fn(&mut Map<String, Value>) -> usize;

fn pattern_format(node: &mut Map<String, Value>) -> usize {
    ["pattern", "format"].into_iter().filter(|key| node.shift_remove(*key).is_some()).count()
}

fn slash_enum(node: &mut Map<String, Value>) -> usize {
    let has_slash = node.get("enum").and_then(Value::as_array).is_some_and(|values| {
        values.iter().any(|value| value.as_str().is_some_and(|text| text.contains('/')))
    });
    usize::from(has_slash && node.shift_remove("enum").is_some())
}

fn strip(schema: &Value, remove: Remove) -> (Cow<'_, Value>, usize) {
    if check_depth(schema).is_err() {
        return (Cow::Borrowed(schema), 0);
    }
    let mut removed = 0;
    let stripped = rewritten(schema, |copy| visit_mut(copy, &mut |node| removed += remove(node)));
    (stripped, removed)
}

fn strip_tools(tools: &[Value], remove: Remove) -> (Vec<Value>, usize) {
    let mut total = 0;
    let stripped = tools
        .iter()
        .map(|tool| {
            let mut tool = tool.clone();
            if let Some(parameters) = parameters_mut(&mut tool) {
                let (stripped, removed) = strip(parameters, remove);
                if removed > 0 {
                    *parameters = stripped.into_owned();
                    total += removed;
                }
            }
            tool
        })
        .collect();
    (stripped, total)
}

/// The schema inside a tool in a wire shape.
fn parameters_mut(tool: &mut Value) -> Option<&mut Value> {
    let tool = match tool.get("function") {
        Some(Value::Object(_)) => tool.get_mut("function")?,
        _ => tool,
    };
    let key = ["parameters", "input_schema", "inputSchema"]
        .into_iter()
        .find(|key| tool.get(key).is_some_and(Value::is_object))?;
    tool.get_mut(key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_go_and_names_stay() {
        let schema = json!({
            "properties": {
                "type": {"type": "string", "format": "uri"},
                "format": {"pattern": "^a$", "anyOf": [{"pattern": "b"}]},
                "pattern": {"default": {"pattern": "kept"}},
                "enum": {"enum": ["a/b", 1]},
            },
        });
        let (stripped, removed) = strip_pattern_format(&schema);
        assert_eq!(removed, 3);
        assert_eq!(
            *stripped,
            json!({
                "properties": {
                    "type": {"type": "string"},
                    "format": {"anyOf": [{}]},
                    "pattern": {"default": {"pattern": "kept"}},
                    "enum": {"enum": ["a/b", 1]},
                },
            })
        );
        let (stripped, removed) = strip_slash_enum(&schema);
        assert_eq!((stripped.pointer("/properties/enum"), removed), (Some(&json!({})), 1));
        assert_eq!(strip_slash_enum(&json!({"enum": ["a"]})).1, 0);
    }

    #[test]
    fn tools_of_any_shape() {
        let schema = json!({"type": "object", "properties": {"d": {"format": "date"}}});
        let tools = [
            json!({"type": "function", "function": {"name": "a", "parameters": schema}}),
            json!({"name": "b", "parameters": schema}),
            json!({"name": "c", "input_schema": schema}),
            json!("not a tool"),
        ];
        let (stripped, removed) = strip_pattern_format_in_tools(&tools);
        assert_eq!(removed, 3);
        assert_eq!(stripped[3], tools[3]);
        assert_eq!(stripped[0].pointer("/function/parameters/properties/d"), Some(&json!({})));
    }
}

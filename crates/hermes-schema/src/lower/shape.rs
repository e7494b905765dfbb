//! What dialects without untyped schemas need to know: the type a node would have.

use serde_json::{Map, Value};

/// The type a node without one describes, from its other keywords; text if nothing tells. `None`
/// where its branches carry the type, or nothing but conditions are there.
pub(super) fn inferred_type(node: &Map<String, Value>) -> Option<&'static str> {
    let has = |keyword: &str| node.contains_key(keyword);
    if has("properties") || has("required") || has("additionalProperties") {
        return Some("object");
    }
    if has("items") || has("prefixItems") {
        return Some("array");
    }
    let sample = node
        .get("enum")
        .and_then(Value::as_array)
        .and_then(|values| values.first())
        .or_else(|| node.get("const"));
    if let Some(sample) = sample {
        return Some(match sample {
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            Value::String(_) | Value::Null => "string",
        });
    }
    let is_elsewhere =
        ["anyOf", "oneOf", "allOf", "if", "then", "else"].iter().any(|keyword| has(keyword));
    (!is_elsewhere).then_some("string")
}

/// Whether `type` is missing or says nothing.
pub(super) fn lacks_type(node: &Map<String, Value>) -> bool {
    match node.get("type") {
        Some(Value::String(name)) => name.is_empty(),
        Some(_) => false,
        None => true,
    }
}

/// Drops `required` names that are not among the node's own properties.
pub(super) fn own_required(node: &mut Map<String, Value>) {
    let known: Vec<String> = match node.get("properties") {
        Some(Value::Object(properties)) => properties.keys().cloned().collect(),
        _ => Vec::new(),
    };
    if let Some(Value::Array(names)) = node.get_mut("required") {
        names.retain(|name| name.as_str().is_some_and(|name| known.iter().any(|k| k == name)));
    }
}

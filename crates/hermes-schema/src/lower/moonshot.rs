//! Moonshot (Kimi): every node has a type, unions have theirs on the branches, no nulls, and every
//! object says what it requires.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::shape::{inferred_type, lacks_type, own_required};
use crate::{
    SchemaError,
    merge::conjoin,
    nullable::is_null,
    positions::{check_depth, rewritten, visit_mut},
};

/// The schema in Moonshot's flavour.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`].
pub fn lower(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    if !schema.is_object() {
        return Ok(Cow::Owned(json!({"type": "object", "properties": {}, "required": []})));
    }
    check_depth(schema)?;
    Ok(rewritten(schema, |copy| {
        // The root's own type must not be guessed from what it lacks.
        if let Value::Object(root) = copy {
            root.insert("type".to_owned(), json!("object"));
        }
        visit_mut(copy, &mut lower_node);
        if let Value::Object(root) = copy {
            root.insert("type".to_owned(), json!("object"));
            if !root.get("properties").is_some_and(Value::is_object) {
                root.insert("properties".to_owned(), json!({}));
            }
            require_list(root);
        }
    }))
}

/// Whether a model id, with or without an aggregator's prefix, is served by Moonshot.
#[must_use]
pub fn is_moonshot_model(model: &str) -> bool {
    let model = model.trim().to_ascii_lowercase();
    let last = model.rsplit('/').next().unwrap_or_default();
    last == "kimi"
        || last == "k3"
        || ["kimi-", "k3.", "k3-"].iter().any(|start| last.starts_with(start))
        || model.contains("moonshot")
        || model.contains("/kimi")
}

fn lower_node(node: &mut Map<String, Value>) {
    node.shift_remove("nullable");
    live_type(node);
    if !unite_branches(node) {
        return;
    }
    if !node.contains_key("$ref")
        && lacks_type(node)
        && let Some(name) = inferred_type(node)
    {
        node.insert("type".to_owned(), json!(name));
    }
    let name = node.get("type").and_then(Value::as_str).unwrap_or_default();
    match name {
        "object" => require_list(node),
        "string" | "integer" | "number" | "boolean" => live_choices(node),
        _ => {}
    }
}

/// Makes a list of types its first live one.
fn live_type(node: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = node.get("type") else { return };
    let live =
        names.iter().find(|name| name.as_str().is_some_and(|n| !n.is_empty() && n != "null"));
    let live = live.cloned().unwrap_or_else(|| json!("string"));
    node.insert("type".to_owned(), live);
}

/// Takes the parent's type and the null branches out of `anyOf`. `false` if a union remains, which
/// is then the whole of the node.
fn unite_branches(node: &mut Map<String, Value>) -> bool {
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = node.get_mut(union) else { continue };
        let before = branches.len();
        let live = branches.iter().filter(|branch| branch.is_object() && !is_null(branch)).count();
        if live == 0 {
            continue;
        }
        branches.retain(|branch| branch.is_object() && !is_null(branch));
        if before > 1
            && let [Value::Object(only)] = branches.as_slice()
        {
            let mut merged = only.clone();
            node.shift_remove(union);
            node.shift_remove("type");
            conjoin(&mut merged, std::mem::take(node));
            *node = merged;
        } else {
            node.shift_remove("type");
            return false;
        }
    }
    true
}

/// Takes null and the empty text out of an enumeration.
fn live_choices(node: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.retain(|value| !value.is_null() && value != "");
        if values.is_empty() {
            node.shift_remove("enum");
        }
    }
}

/// Gives an object a `required` list that names only what exists.
fn require_list(node: &mut Map<String, Value>) {
    if !node.get("required").is_some_and(Value::is_array) {
        node.insert("required".to_owned(), json!([]));
    } else if node.get("properties").is_some_and(Value::is_object) {
        own_required(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(property: Value, expected: Value) {
        let schema = json!({"type": "object", "properties": {"p": property}, "required": []});
        let lowered = lower(&schema).unwrap().into_owned();
        assert_eq!(lowered.pointer("/properties/p"), Some(&expected), "from {property}");
        assert!(matches!(lower(&lowered), Ok(Cow::Borrowed(_))), "not a fixed point: {lowered}");
    }

    #[test]
    fn every_node_gets_a_type() {
        check(json!({}), json!({"type": "string"}));
        check(json!({"type": ["null", "integer", "string"]}), json!({"type": "integer"}));
        check(json!({"enum": [1, 2]}), json!({"enum": [1, 2], "type": "integer"}));
        check(json!({"enum": [true]}), json!({"enum": [true], "type": "boolean"}));
        check(json!({"items": {}}), json!({"items": {"type": "string"}, "type": "array"}));
        check(
            json!({"additionalProperties": true}),
            json!({"additionalProperties": true, "type": "object", "required": []}),
        );
        check(json!({"$ref": "#/$defs/A", "nullable": true}), json!({"$ref": "#/$defs/A"}));
        check(json!({"enum": ["", null], "nullable": true}), json!({"type": "string"}));
    }

    #[test]
    fn unions() {
        check(
            json!({"type": "string", "anyOf": [{"type": "string"}, {}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "string"}]}),
        );
        check(
            json!({"description": "d", "anyOf": [{"properties": {"a": {}}}, {"type": "null"}]}),
            json!({"properties": {"a": {"type": "string"}}, "type": "object", "required": [],
                "description": "d"}),
        );
        check(
            json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        );
    }

    #[test]
    fn objects_list_what_they_require() {
        check(
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        );
        assert_eq!(
            *lower(&json!(null)).unwrap(),
            json!({"type": "object", "properties": {}, "required": []})
        );
    }

    #[test]
    fn recognises_models() {
        for (model, expected) in [
            ("kimi", true),
            ("moonshotai/Kimi-K2", true),
            ("k3", true),
            ("x/k3.1", true),
            ("k3-turbo", true),
            ("a/kimi2/b", true),
            ("kimi2", false),
            ("k30", false),
            ("gpt-5", false),
        ] {
            assert_eq!(is_moonshot_model(model), expected, "{model}");
        }
    }
}

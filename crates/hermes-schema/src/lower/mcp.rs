//! MCP, both ways: our tools described to a client, and a server's tools taken in.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::{Map, Value, json};

use super::{ToolDef, named};
use crate::{
    SchemaError,
    normal::tidy,
    nullable::collapse_node,
    positions::{check_depth, for_each_child_mut, is_in_place, rewritten},
    repair::{empty_object, prune_required, visible_names},
};

/// The largest foreign schema taken in, in bytes of JSON.
const MAX_BYTES: usize = 256 * 1024;

/// The tool as an MCP descriptor, with the registered schema. Only its top is made the object
/// schema the protocol demands.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`].
pub fn descriptor(tool: &ToolDef<'_>) -> Result<Value, SchemaError> {
    check_depth(tool.parameters)?;
    let mut schema = match tool.parameters {
        Value::Object(_) => tool.parameters.clone(),
        _ => empty_object(),
    };
    if let Value::Object(root) = &mut schema
        && root.get("type").and_then(Value::as_str) != Some("object")
    {
        root.insert("type".to_owned(), json!("object"));
    }
    let mut wire = named(tool);
    wire.insert("inputSchema".to_owned(), schema);
    Ok(Value::Object(wire))
}

/// Makes the input schema of a foreign MCP tool fit for registration, changing no more than is
/// needed: `definitions` become `$defs`, unions with null become `nullable: true`, object nodes say
/// that they are objects, and `required` names only what exists. Anything that is not an object
/// schema becomes the empty object schema. Nothing is fetched.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`], [`SchemaError::TooLarge`] beyond 256 KiB.
pub fn ingest(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    let Value::Object(root) = schema else { return Ok(Cow::Owned(empty_object())) };
    check_depth(schema)?;
    if schema.to_string().len() > MAX_BYTES {
        return Err(SchemaError::TooLarge { limit: MAX_BYTES });
    }
    let is_object = match root.get("type") {
        None | Some(Value::Null) => true,
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
    };
    if !is_object || root.is_empty() {
        return Ok(Cow::Owned(empty_object()));
    }
    Ok(rewritten(schema, |copy| {
        let Value::Object(root) = copy else { return };
        let moved = move_definitions(root);
        take_in(root, &BTreeSet::new(), moved);
        root.insert("type".to_owned(), json!("object"));
        finish_object(root, &BTreeSet::new());
    }))
}

/// Renames the keyword `definitions` of the root unless both keywords define a name differently.
fn move_definitions(root: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(old)) = root.get("definitions") else { return true };
    let clashes = root.get("$defs").and_then(Value::as_object).is_some_and(|defs| {
        old.iter().any(|(name, schema)| defs.get(name).is_some_and(|other| other != schema))
    });
    !clashes
}

/// Normalises the node and everything below it; references are rewritten if definitions moved.
fn take_in(node: &mut Map<String, Value>, inherited: &BTreeSet<String>, moved: bool) {
    loop {
        tidy(node);
        if !collapse_node(node, true) {
            break;
        }
    }
    if moved {
        if let Some(Value::Object(old)) = node.shift_remove("definitions") {
            match node.get_mut("$defs") {
                Some(Value::Object(defs)) => {
                    for (name, schema) in old {
                        defs.entry(name).or_insert(schema);
                    }
                }
                _ => {
                    node.insert("$defs".to_owned(), Value::Object(old));
                }
            }
        }
        if let Some(Value::String(reference)) = node.get_mut("$ref")
            && let Some(name) = reference.strip_prefix("#/definitions/")
        {
            *reference = format!("#/$defs/{name}");
        }
    }
    if node.contains_key("$ref") {
        node.shift_remove("default");
    }
    let in_place = visible_names(node, inherited);
    let nothing = BTreeSet::new();
    for_each_child_mut(node, |keyword, child| {
        if let Value::Object(child) = child {
            take_in(child, if is_in_place(keyword) { &in_place } else { &nothing }, moved);
        }
    });
    let is_object_shaped = node.contains_key("properties") || node.contains_key("required");
    if is_object_shaped && !node.contains_key("type") {
        node.insert("type".to_owned(), json!("object"));
    }
    finish_object(node, inherited);
}

fn finish_object(node: &mut Map<String, Value>, inherited: &BTreeSet<String>) {
    if node.get("type").and_then(Value::as_str) == Some("object") {
        if !node.contains_key("properties") {
            node.insert("properties".to_owned(), json!({}));
        }
        prune_required(node, inherited);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::positions::nested;

    fn check(schema: Value, expected: Value) {
        let taken = ingest(&schema).unwrap().into_owned();
        assert_eq!(taken, expected, "from {schema}");
        assert!(matches!(ingest(&taken), Ok(Cow::Borrowed(_))), "not a fixed point: {taken}");
    }

    #[test]
    fn takes_in_foreign_schemas() {
        for schema in [json!(null), json!([]), json!({}), json!({"type": "string"})] {
            check(schema, empty_object());
        }
        check(
            json!({"properties": {"definitions": {"$ref": "#/definitions/O"}},
                "definitions": {"O": {"properties": {"x": {}}}}}),
            json!({"properties": {"definitions": {"$ref": "#/$defs/O"}},
                "$defs": {"O": {"properties": {"x": {}}, "type": "object"}}, "type": "object"}),
        );
        check(
            json!({"type": "object", "properties": {
                "n": {"type": "object", "required": null, "default": {"definitions": {}}}}}),
            json!({"type": "object", "properties": {
                "n": {"type": "object", "default": {"definitions": {}}, "properties": {}}}}),
        );
        check(
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "a", 1],
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"],
            "anyOf": [
                {"required": ["a"], "type": "object", "properties": {}},
                {"required": ["b"], "type": "object", "properties": {}},
            ]}),
        );
    }

    #[test]
    fn refuses_what_is_too_deep_or_too_large() {
        assert!(ingest(&nested(65)).is_err());
        let large = json!({"properties": {"a": {"description": "x".repeat(300_000)}}});
        assert_eq!(ingest(&large), Err(SchemaError::TooLarge { limit: MAX_BYTES }));
    }
}

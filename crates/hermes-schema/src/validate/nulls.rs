//! Null for a parameter that may be left out: models with strict schemas send it for "not given".

use serde_json::{Map, Value};

use crate::{nullable, refs};

/// How deep schema and arguments are followed together.
const MAX_DEPTH: u32 = 128;

/// Removes from `args`, at every depth, members that are null although their schema does not admit
/// null, if they are not required. Null for a required member, or for a key the schema does not
/// know, stays.
pub fn drop_optional_nulls(schema: &Value, args: &mut Value) {
    drop_nulls(schema, schema, args, MAX_DEPTH);
}

fn drop_nulls(root: &Value, schema: &Value, value: &mut Value, depth: u32) {
    let (Some(depth), Value::Object(node)) = (depth.checked_sub(1), schema) else { return };
    if !value.is_object() && !value.is_array() {
        return;
    }
    if let Some(target) = refs::reference(node).and_then(|r| refs::resolve(root, r)) {
        drop_nulls(root, target, value, depth);
    }
    for branch in list(node, "allOf") {
        drop_nulls(root, branch, value, depth);
    }
    for union in ["anyOf", "oneOf"] {
        let mut live = list(node, union).iter().filter(|branch| !nullable::is_null(branch));
        if let (Some(only), None) = (live.next(), live.next()) {
            drop_nulls(root, only, value, depth);
        }
    }
    match value {
        Value::Object(members) => {
            let Some(Value::Object(properties)) = node.get("properties") else { return };
            let is_droppable = |name: &str, member: &Value| {
                member.is_null()
                    && !list(node, "required").iter().any(|required| required == name)
                    && properties.get(name).is_some_and(|schema| !admits_null(root, schema, depth))
            };
            if members.iter().any(|(name, member)| is_droppable(name, member)) {
                members.retain(|name, member| !is_droppable(name, member));
            }
            for (name, member) in members.iter_mut() {
                if let Some(schema) = properties.get(name) {
                    drop_nulls(root, schema, member, depth);
                }
            }
        }
        Value::Array(elements) => {
            if let Some(items) = node.get("items").filter(|items| items.is_object()) {
                for element in elements {
                    drop_nulls(root, items, element, depth);
                }
            }
        }
        _ => {}
    }
}

/// Whether null is valid under the schema.
fn admits_null(root: &Value, schema: &Value, depth: u32) -> bool {
    let node = match schema {
        Value::Object(node) => node,
        Value::String(name) => return name == "null",
        other => return *other != Value::Bool(false),
    };
    let Some(depth) = depth.checked_sub(1) else { return false };
    if node.get("nullable") == Some(&Value::Bool(true)) {
        return true;
    }
    let by_type = match node.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        _ => true,
    };
    let listed = |keyword| {
        node.get(keyword).and_then(Value::as_array).is_none_or(|list| list.contains(&Value::Null))
    };
    let any = |union| {
        let branches = list(node, union);
        branches.is_empty() || branches.iter().any(|branch| admits_null(root, branch, depth))
    };
    by_type
        && listed("enum")
        && node.get("const").is_none_or(Value::is_null)
        && any("anyOf")
        && any("oneOf")
        && list(node, "allOf").iter().all(|branch| admits_null(root, branch, depth))
        && refs::reference(node)
            .and_then(|reference| refs::resolve(root, reference))
            .is_none_or(|target| admits_null(root, target, depth))
}

fn list<'s>(node: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    node.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

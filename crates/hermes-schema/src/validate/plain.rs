//! The registered schema as plain JSON Schema 2020-12, which is what the validator compiles.

use serde_json::{Map, Value, json};

use crate::{
    normal::{make_child_schema, tidy},
    positions::{for_each_child_mut, visit_mut},
};

/// A well-formed copy that says the same: `nullable` spelt out, keywords of older drafts renewed.
pub(super) fn plain(schema: &Value) -> Value {
    let mut copy = match schema {
        Value::Object(_) => schema.clone(),
        _ => json!({"type": "object"}),
    };
    well_formed(&mut copy);
    visit_mut(&mut copy, &mut |node| {
        split_dependencies(node);
    });
    // Parameters as a whole are an object whatever they are marked.
    if let Value::Object(root) = &mut copy {
        root.shift_remove("nullable");
    }
    admit_null(&mut copy);
    copy
}

fn well_formed(schema: &mut Value) {
    if let Value::Object(node) = schema {
        tidy(node);
        for_each_child_mut(node, |keyword, child| {
            make_child_schema(keyword, child);
            well_formed(child);
        });
    }
}

/// `dependencies` of older drafts mixes two things that now have names of their own.
fn split_dependencies(node: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = node.shift_remove("dependencies") else { return };
    for (name, dependency) in dependencies {
        let keyword = if dependency.is_array() { "dependentRequired" } else { "dependentSchemas" };
        if let Value::Object(map) = node.entry(keyword).or_insert_with(|| json!({})) {
            map.entry(name).or_insert(dependency);
        }
    }
}

/// Spells out `nullable: true`, outside in, so that what it wraps is seen once.
fn admit_null(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    if node.shift_remove("nullable") == Some(Value::Bool(true)) && !add_null_type(node) {
        let mut inner = Value::Object(std::mem::take(node));
        admit_null(&mut inner);
        node.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
        return;
    }
    for_each_child_mut(node, |_, child| admit_null(child));
}

/// Adds null to the types of a node that nothing but its type and `enum` keeps from being null.
fn add_null_type(node: &mut Map<String, Value>) -> bool {
    const REFUSING: [&str; 7] = ["const", "$ref", "anyOf", "oneOf", "allOf", "not", "if"];
    if REFUSING.iter().any(|keyword| node.contains_key(*keyword)) {
        return false;
    }
    match node.get_mut("type") {
        Some(Value::Array(names)) if !names.iter().any(|name| name == "null") => {
            names.push(json!("null"));
        }
        Some(single @ Value::String(_)) if *single != "null" => {
            *single = json!([single.take(), "null"]);
        }
        _ => {}
    }
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
    true
}

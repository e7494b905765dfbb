//! Gemini function declarations: a schema type of its own with few keywords and no references.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{
    ToolDef, named,
    shape::{inferred_type, lacks_type, own_required},
};
use crate::{
    SchemaError,
    merge::conjoin,
    nullable::is_null,
    positions::{check_depth, rewritten},
    refs,
    repair::empty_object,
};

/// The keywords Gemini's schema type has.
const KEYWORDS: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];
/// How many schema nodes may come from putting references in place.
const MAX_INLINED: usize = 5_000;
/// How many schemas may stand around a node when references are in place.
const MAX_DEPTH: usize = 64;

/// The schema in Gemini's dialect.
///
/// References are put in place; where one leads back into itself, or too much has been put in
/// place, only the type of what it refers to is left.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`].
pub fn lower(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    check_depth(schema)?;
    if !schema.as_object().is_some_and(|root| !root.is_empty()) {
        return Ok(Cow::Owned(empty_object()));
    }
    Ok(rewritten(schema, |copy| {
        let mut lowering = Lowering { root: schema, open: Vec::new(), inlined: 0 };
        let Value::Object(mut node) = copy.take() else { return };
        let is_typed = node.get("type").and_then(Value::as_str).is_some();
        if !is_typed && !node.contains_key("$ref") {
            node.insert("type".to_owned(), json!("object"));
        }
        let mut lowered = lowering.node(node, 0);
        let is_object = lowered.get("type").and_then(Value::as_str) == Some("object");
        if is_object && !lowered.contains_key("properties") {
            lowered.insert("properties".to_owned(), json!({}));
        }
        *copy = Value::Object(lowered);
    }))
}

/// The tool as a function declaration; one without parameters says nothing about them.
pub(super) fn wire(tool: &ToolDef<'_>, schema: Value) -> Value {
    let mut wire = named(tool);
    let has_parameters = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    if has_parameters {
        wire.insert("parameters".to_owned(), schema);
    }
    Value::Object(wire)
}

struct Lowering<'s> {
    root: &'s Value,
    /// The references being put in place around the current node.
    open: Vec<String>,
    inlined: usize,
}

impl Lowering<'_> {
    fn value(&mut self, schema: Value, depth: usize) -> Value {
        match schema {
            Value::Object(node) => Value::Object(self.node(node, depth)),
            _ => Value::Object(self.node(Map::new(), depth)),
        }
    }

    fn node(&mut self, node: Map<String, Value>, depth: usize) -> Map<String, Value> {
        let opened = self.open.len();
        let mut node = self.in_place(node, depth);
        type_list(&mut node);
        branches(&mut node);
        only_choice(&mut node);
        if lacks_type(&node)
            && !node.contains_key("anyOf")
            && let Some(name) = inferred_type(&node)
        {
            node.insert("type".to_owned(), json!(name));
        }
        let is_array = node.get("type").and_then(Value::as_str) == Some("array");
        if is_array && !node.get("items").is_some_and(Value::is_object) {
            let items = element(&node);
            node.insert("items".to_owned(), items);
        }
        let mut lowered = Map::new();
        for (keyword, value) in node {
            if !KEYWORDS.contains(&keyword.as_str()) {
                continue;
            }
            let value = match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => properties
                    .into_iter()
                    .map(|(name, schema)| (name, self.value(schema, depth + 1)))
                    .collect(),
                ("anyOf", Value::Array(branches)) => branches
                    .into_iter()
                    .filter(Value::is_object)
                    .map(|branch| self.value(branch, depth + 1))
                    .collect(),
                ("items", items) => self.value(items, depth + 1),
                ("properties" | "anyOf", _) => continue,
                (_, value) => value,
            };
            lowered.insert(keyword, value);
        }
        self.open.truncate(opened);
        textual_enum(&mut lowered);
        own_required(&mut lowered);
        if lowered.get("required").is_some_and(|names| names.as_array().is_none_or(Vec::is_empty)) {
            lowered.shift_remove("required");
        }
        lowered
    }

    /// Puts what the node refers to, and what it demands by `allOf`, in place.
    fn in_place(&mut self, mut node: Map<String, Value>, depth: usize) -> Map<String, Value> {
        loop {
            if let Some(Value::String(reference)) = node.shift_remove("$ref") {
                let mut target = self.target(&reference, depth);
                self.open.push(reference);
                std::mem::swap(&mut node, &mut target);
                conjoin_over(&mut node, target);
            } else if let Some(Value::Array(all)) = node.shift_remove("allOf") {
                for branch in all {
                    let Value::Object(branch) = branch else { continue };
                    let mut nested = branch;
                    while let Some(Value::String(reference)) = nested.shift_remove("$ref") {
                        let target = self.target(&reference, depth);
                        self.open.push(reference);
                        conjoin(&mut nested, target);
                    }
                    conjoin_over(&mut nested, std::mem::take(&mut node));
                    node = nested;
                }
                // What could not be united has no place in this dialect.
                if node.get("allOf").and_then(Value::as_array).is_some_and(|all| {
                    all.iter().all(|rest| rest.as_object().is_none_or(|map| map.len() == 1))
                }) {
                    node.shift_remove("allOf");
                }
            } else {
                return node;
            }
        }
    }

    /// A copy of what a reference leads to, cut to its type where it would not end.
    fn target(&mut self, reference: &str, depth: usize) -> Map<String, Value> {
        let Some(Value::Object(target)) = refs::resolve(self.root, reference) else {
            return Map::new();
        };
        self.inlined += 1;
        let is_cycle = self.open.iter().any(|open| open == reference);
        if !is_cycle && self.inlined <= MAX_INLINED && depth < MAX_DEPTH && reference != "#" {
            return target.clone();
        }
        target
            .iter()
            .filter(|(keyword, _)| matches!(keyword.as_str(), "type" | "title" | "description"))
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .collect()
    }
}

/// Adds what stands beside a reference, whose annotations are the more specific ones.
fn conjoin_over(target: &mut Map<String, Value>, mut beside: Map<String, Value>) {
    for annotation in ["title", "description", "default", "nullable"] {
        if let Some(value) = beside.shift_remove(annotation) {
            target.insert(annotation.to_owned(), value);
        }
    }
    conjoin(target, beside);
}

/// One live type stays with a null hint, several become branches.
fn type_list(node: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = node.get("type") else { return };
    let live: Vec<Value> = names.iter().filter(|name| *name != "null").cloned().collect();
    if live.len() < names.len() && !live.is_empty() {
        node.insert("nullable".to_owned(), json!(true));
    }
    match live.as_slice() {
        [] => node.insert("type".to_owned(), json!("string")),
        [only] => node.insert("type".to_owned(), only.clone()),
        _ if node.contains_key("anyOf") => node.shift_remove("type"),
        _ => {
            node.shift_remove("type");
            let union = live.into_iter().map(|name| json!({"type": name})).collect();
            node.insert("anyOf".to_owned(), union)
        }
    };
}

/// `oneOf` is said as `anyOf`.
fn branches(node: &mut Map<String, Value>) {
    if let Some(one_of) = node.shift_remove("oneOf")
        && one_of.as_array().is_some_and(|branches| !branches.is_empty())
        && !node.contains_key("anyOf")
    {
        node.insert("anyOf".to_owned(), one_of);
    }
    if let Some(Value::Array(branches)) = node.get("anyOf")
        && branches.is_empty()
    {
        node.shift_remove("anyOf");
    }
}

/// A text `const` is said as an enumeration of one.
fn only_choice(node: &mut Map<String, Value>) {
    if let Some(Value::String(only)) = node.get("const") {
        let choice = json!([only]);
        node.insert("enum".to_owned(), choice);
    }
}

/// What an array holds, from the schemas of its first elements.
fn element(node: &Map<String, Value>) -> Value {
    let tuple = match node.get("items") {
        Some(Value::Array(tuple)) => tuple,
        _ => node.get("prefixItems").and_then(Value::as_array).map_or(&EMPTY, |tuple| tuple),
    };
    let mut kinds: Vec<Value> = Vec::new();
    for kind in tuple.iter().filter(|kind| kind.is_object() && !is_null(kind)) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    match kinds.as_slice() {
        [] => json!({}),
        [only] => only.clone(),
        _ => json!({"anyOf": kinds}),
    }
}

static EMPTY: Vec<Value> = Vec::new();

/// Enumerations are of texts; on other types they go.
fn textual_enum(node: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = node.get_mut("enum") else { return };
    if values.iter().all(Value::is_string) && !values.is_empty() {
        return;
    }
    let is_text = matches!(node.get("type").and_then(Value::as_str), None | Some("string"));
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && is_text
    {
        values.retain(Value::is_string);
        if !values.is_empty() {
            return;
        }
    }
    node.shift_remove("enum");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(property: Value, expected: Value) {
        let schema = json!({
            "type": "object",
            "properties": {"p": property},
            "$defs": {
                "Color": {"type": "string", "enum": ["red"], "title": "Color"},
                "Node": {"type": "object", "properties": {
                    "v": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}},
                "Loop": {"$ref": "#/$defs/Loop"},
            },
        });
        let lowered = lower(&schema).unwrap().into_owned();
        assert_eq!(lowered, json!({"type": "object", "properties": {"p": expected}}), "{property}");
        assert!(matches!(lower(&lowered), Ok(Cow::Borrowed(_))), "not a fixed point: {lowered}");
    }

    #[test]
    fn references_are_put_in_place() {
        check(
            json!({"$ref": "#/$defs/Color", "description": "d"}),
            json!({"type": "string", "enum": ["red"], "title": "Color", "description": "d"}),
        );
        check(
            json!({"allOf": [{"$ref": "#/$defs/Color"}], "default": "red"}),
            json!({"type": "string", "enum": ["red"], "title": "Color", "default": "red"}),
        );
        check(
            json!({"type": "array", "items": {"$ref": "#/$defs/Node"}}),
            json!({"type": "array", "items": {"type": "object", "properties": {
                "v": {"type": "string"}, "next": {"type": "object"}}}}),
        );
        check(json!({"$ref": "#/$defs/Loop"}), json!({"type": "string"}));
        check(json!({"$ref": "#"}), json!({"type": "object"}));
        check(json!({"$ref": "#/$defs/None"}), json!({"type": "string"}));
    }

    #[test]
    fn nodes() {
        check(json!({}), json!({"type": "string"}));
        check(json!(true), json!({"type": "string"}));
        check(json!({"const": "a"}), json!({"enum": ["a"], "type": "string"}));
        check(json!({"const": 5}), json!({"type": "integer"}));
        check(json!({"enum": [1, 2]}), json!({"type": "integer"}));
        check(
            json!({"type": "string", "enum": ["a", null]}),
            json!({"type": "string", "enum": ["a"]}),
        );
        check(json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true}));
        check(
            json!({"oneOf": [{"type": "string"}, {"minimum": 1, "type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}),
        );
        check(
            json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]}),
            json!({"type": "array", "items": {"type": "integer"}}),
        );
        check(
            json!({"type": "object", "properties": {"type": {"type": "string"}},
                "required": ["type", "x"], "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"type": {"type": "string"}},
                "required": ["type"]}),
        );
    }

    #[test]
    fn empty_schemas() {
        for schema in [json!({}), json!(null), json!("object"), json!({"$schema": "x"})] {
            assert_eq!(*lower(&schema).unwrap(), empty_object());
        }
    }

    #[test]
    fn references_that_multiply_are_bounded() {
        let mut defs = Map::new();
        for level in 0..30 {
            let next = json!({"$ref": format!("#/$defs/D{}", level + 1)});
            defs.insert(format!("D{level}"), json!({"properties": {"a": next, "b": next}}));
        }
        defs.insert("D30".to_owned(), json!({"type": "string"}));
        let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/D0"}},
            "$defs": defs});
        assert!(lower(&schema).unwrap().to_string().len() < 2_000_000);
    }
}

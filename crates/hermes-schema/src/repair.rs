//! The sanitising pass every tool's parameters go through before any provider sees them.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::{Map, Value, json};

use crate::{
    SchemaError,
    merge::{also, conjoin},
    normal::{make_child_schema, make_schema, tidy},
    nullable::{collapse_node, lift_null},
    positions::{check_depth, for_each_child_mut, is_in_place, rewritten},
    refs,
};

/// Keywords that strict backends refuse at the top of a tool's parameters.
const NOT_AT_THE_TOP: [&str; 5] = ["allOf", "anyOf", "oneOf", "enum", "not"];

/// Keywords that mean nothing once the top is an object.
const ARRAY_KEYWORDS: [&str; 10] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
];

/// The object schema of a tool without parameters.
pub(crate) fn empty_object() -> Value {
    json!({"type": "object", "properties": {}})
}

/// The tool parameters every provider's pass starts from: an object schema with well-formed nodes,
/// single types, no null branches (`nullable: true` instead), `items` on every array, `properties`
/// on every object, `required` naming only what exists, and no combinators at the top.
///
/// Anything that is not an object, such as [`Value::Null`] for missing parameters, becomes the
/// empty object schema. Borrows if the schema was fine. The result is a fixed point.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`]. References, recursive or dangling, are
/// left alone here; lowering refuses dangling ones.
pub fn repair(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    if !schema.is_object() {
        return Ok(Cow::Owned(empty_object()));
    }
    check_depth(schema)?;
    Ok(rewritten(schema, repair_root))
}

fn repair_root(root: &mut Value) {
    inline_root_reference(root);
    let document = root.clone();
    let Value::Object(node) = root else { return };
    settle(node);
    force_object(node);
    keep_branch_parameters(node, &document);
    node.retain(|keyword, _| !NOT_AT_THE_TOP.contains(&keyword.as_str()));
    descend(node, &BTreeSet::new());
    finish(node, &BTreeSet::new());
}

fn repair_node(schema: &mut Value, inherited: &BTreeSet<String>) {
    let Value::Object(node) = schema else { return };
    settle(node);
    descend(node, inherited);
    finish(node, inherited);
}

/// Brings the node itself into its final form, leaving what is below it.
fn settle(node: &mut Map<String, Value>) {
    loop {
        tidy(node);
        split_type_list(node);
        for union in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = node.get_mut(union) {
                for branch in branches {
                    make_schema(branch);
                    if let Value::Object(branch) = branch {
                        tidy(branch);
                    }
                }
            }
        }
        if !collapse_node(node, true) {
            break;
        }
    }
    lift_null(node);
    if node.contains_key("$ref") {
        node.shift_remove("default");
    }
}

/// Turns a list of types into one type, or into a union beside whatever else the node says.
fn split_type_list(node: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = node.get("type") else { return };
    let mut live: Vec<Value> = names.clone();
    live.retain(|name| name != "null");
    if live.len() < names.len() && !node.contains_key("nullable") {
        node.insert("nullable".to_owned(), Value::Bool(true));
    }
    if let [only] = live.as_slice() {
        node.insert("type".to_owned(), only.clone());
        return;
    }
    node.shift_remove("type");
    let union = Value::Array(live.into_iter().map(|name| json!({"type": name})).collect());
    if node.contains_key("anyOf") || node.contains_key("oneOf") {
        also(node, json!({"anyOf": union}));
    } else {
        node.insert("anyOf".to_owned(), union);
    }
}

/// Repairs the schemas below the node.
fn descend(node: &mut Map<String, Value>, inherited: &BTreeSet<String>) {
    let has_in_place = node.keys().any(|keyword| is_in_place(keyword));
    let visible = if has_in_place { visible_names(node, inherited) } else { BTreeSet::new() };
    let nothing = BTreeSet::new();
    for_each_child_mut(node, |keyword, child| {
        make_child_schema(keyword, child);
        repair_node(child, if is_in_place(keyword) { &visible } else { &nothing });
    });
}

/// Supplies what providers insist on, and takes away names of properties that do not exist.
fn finish(node: &mut Map<String, Value>, inherited: &BTreeSet<String>) {
    let is = |node: &Map<String, Value>, name: &str| {
        node.get("type").and_then(Value::as_str) == Some(name)
    };
    if is(node, "object") && !node.contains_key("properties") {
        node.insert("properties".to_owned(), json!({}));
    }
    if is(node, "array") && !node.contains_key("items") && !node.contains_key("prefixItems") {
        node.insert("items".to_owned(), json!({}));
    }
    prune_required(node, inherited);
}

/// Drops `required` names that no schema for the same value declares.
pub(crate) fn prune_required(node: &mut Map<String, Value>, inherited: &BTreeSet<String>) {
    if !node.contains_key("required") || !node.contains_key("properties") {
        return;
    }
    let has_patterns = node
        .get("patternProperties")
        .and_then(Value::as_object)
        .is_some_and(|patterns| !patterns.is_empty());
    if has_patterns {
        return;
    }
    let visible = visible_names(node, inherited);
    if let Some(Value::Array(names)) = node.get_mut("required") {
        names.retain(|name| name.as_str().is_some_and(|name| visible.contains(name)));
        if names.is_empty() {
            node.shift_remove("required");
        }
    }
}

/// The properties declared for the value the node describes: by itself, by the schemas around it
/// and by its own branches.
pub(crate) fn visible_names(
    node: &Map<String, Value>,
    inherited: &BTreeSet<String>,
) -> BTreeSet<String> {
    let declared = |schema: &Map<String, Value>| {
        schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|properties| properties.keys().cloned().collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let mut names = inherited.clone();
    names.extend(declared(node));
    for (keyword, value) in node.iter().filter(|(keyword, _)| is_in_place(keyword)) {
        let branches: Vec<&Value> = match value {
            Value::Array(branches) => branches.iter().collect(),
            Value::Object(map) if keyword == "dependentSchemas" => map.values().collect(),
            one => vec![one],
        };
        for branch in branches.into_iter().filter_map(Value::as_object) {
            names.extend(declared(branch));
        }
    }
    names
}

/// Puts the definition in place of a reference that is the whole of the parameters.
fn inline_root_reference(root: &mut Value) {
    for _ in 0..8 {
        let Some(reference) = root.as_object().and_then(refs::reference) else { return };
        if reference == "#" {
            return;
        }
        let Some(Value::Object(target)) = refs::resolve(root, reference) else { return };
        let mut target = target.clone();
        let Value::Object(outer) = root else { return };
        outer.shift_remove("$ref");
        conjoin(&mut target, std::mem::take(outer));
        *outer = target;
    }
}

/// Makes the top an object schema.
fn force_object(node: &mut Map<String, Value>) {
    if node.get("type").and_then(Value::as_str) != Some("object") {
        node.retain(|keyword, _| !ARRAY_KEYWORDS.contains(&keyword.as_str()));
        node.insert("type".to_owned(), json!("object"));
    }
    if !node.contains_key("properties") {
        node.insert("properties".to_owned(), json!({}));
    }
}

/// Saves the parameters that are only declared inside combinators at the top, which are about to
/// go: a model that is not told of them cannot give them.
fn keep_branch_parameters(node: &mut Map<String, Value>, document: &Value) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = node.get(keyword) else { continue };
        let mut found: Map<String, Value> = Map::new();
        let mut required = Vec::new();
        for branch in branches.clone() {
            let Some(mut branch) = followed(branch, document) else { continue };
            settle(&mut branch);
            if keyword == "allOf"
                && let Some(Value::Array(names)) = branch.shift_remove("required")
            {
                required.extend(names);
            }
            let Some(Value::Object(properties)) = branch.shift_remove("properties") else {
                continue;
            };
            for (name, schema) in properties {
                match found.entry(name).or_insert_with(|| json!([])) {
                    Value::Array(seen) if !seen.contains(&schema) => seen.push(schema),
                    _ => {}
                }
            }
        }
        let both = if keyword == "allOf" { "allOf" } else { "anyOf" };
        let parameters: Map<String, Value> = found
            .into_iter()
            .map(|(name, schemas)| match schemas {
                Value::Array(mut one) if one.len() == 1 => (name, one.remove(0)),
                many => (name, json!({both: many})),
            })
            .collect();
        if let Some(Value::Object(own)) = node.get_mut("properties") {
            for (name, schema) in parameters {
                own.entry(name).or_insert(schema);
            }
        }
        if !required.is_empty() {
            let outer = [("required".to_owned(), Value::Array(required))].into_iter().collect();
            conjoin(node, outer);
        }
    }
}

/// The branch itself, or the definition it refers to.
fn followed(branch: Value, document: &Value) -> Option<Map<String, Value>> {
    let target = match &branch {
        Value::Object(map) => match refs::reference(map) {
            Some(reference) => refs::resolve(document, reference)?.clone(),
            None => branch,
        },
        _ => return None,
    };
    match target {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::positions::nested;

    fn check(input: Value, expected: Value) {
        let once = repair(&input).unwrap().into_owned();
        assert_eq!(once, expected, "from {input}");
        assert!(matches!(repair(&once), Ok(Cow::Borrowed(_))), "not a fixed point: {once}");
    }

    fn check_property(input: Value, expected: Value) {
        check(
            json!({"type": "object", "properties": {"p": input}}),
            json!({"type": "object", "properties": {"p": expected}}),
        );
    }

    #[test]
    fn the_top_is_an_object() {
        for rubbish in [json!(null), json!(true), json!(7), json!("object"), json!([]), json!({})] {
            assert_eq!(*repair(&rubbish).unwrap(), empty_object(), "{rubbish}");
        }
        check(json!({"type": "array", "items": {"type": "string"}, "minItems": 1}), empty_object());
        check(
            json!({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]}),
            json!({"type": "object", "properties": {"a": {}}, "nullable": true}),
        );
        check(
            json!({"properties": {"a": {}}, "required": ["a", "b"], "properties_": 1}),
            json!({"properties": {"a": {}}, "required": ["a"], "properties_": 1, "type": "object"}),
        );
    }

    #[test]
    fn nothing_declared_only_in_a_branch_is_lost() {
        check(
            json!({
                "oneOf": [{"$ref": "#/$defs/A"}, {"properties": {"k": {"const": 2}, "b": {}}}],
                "allOf": [{"properties": {"c": {}}, "required": ["c"]}],
                "$defs": {"A": {"properties": {"k": {"const": 1}}}},
            }),
            json!({
                "$defs": {"A": {"properties": {"k": {"const": 1}}}},
                "type": "object",
                "properties": {
                    "c": {}, "k": {"anyOf": [{"const": 1}, {"const": 2}]}, "b": {},
                },
                "required": ["c"],
            }),
        );
        check(
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {
                "next": {"$ref": "#/$defs/A"}}}}}),
            json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"type": "object", "properties": {
                    "next": {"$ref": "#/$defs/A"}}}}}),
        );
    }

    #[test]
    fn foreign_nodes() {
        check_property(json!(true), json!({}));
        check_property(json!(false), json!({"not": {}}));
        check_property(json!("array"), json!({"type": "array", "items": {}}));
        check_property(
            json!({"type": "object", "additionalProperties": "object"}),
            json!({"type": "object", "additionalProperties": empty_object(), "properties": {}}),
        );
        check_property(
            json!({"type": "object", "additionalProperties": false, "required": null}),
            json!({"type": "object", "additionalProperties": false, "properties": {}}),
        );
        check_property(
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        );
        check_property(
            json!({"type": "object", "properties": {"a": {}, "required": ["a"]}}),
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
        );
        check_property(
            json!({"type": "object", "default": {"type": ["a", "b"]}, "const": "object"}),
            json!({"type": "object", "default": {"type": ["a", "b"]}, "const": "object",
                "properties": {}}),
        );
    }

    #[test]
    fn type_lists_keep_both_constraints() {
        check_property(
            json!({"type": ["string", "object"], "minLength": 2}),
            json!({"minLength": 2, "anyOf": [{"type": "string"}, empty_object()]}),
        );
        check_property(
            json!({"type": ["string", "integer", "null"], "anyOf": [{"minLength": 3}, {"minimum": 5}]}),
            json!({
                "anyOf": [{"minLength": 3}, {"minimum": 5}], "nullable": true,
                "allOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}],
            }),
        );
        check_property(json!({"type": ["null"]}), json!({"type": "null"}));
        check_property(
            json!({"anyOf": ["string", {"type": ["null"]}]}),
            json!({"type": "string", "nullable": true}),
        );
    }

    #[test]
    fn required_of_a_branch_may_name_what_is_declared_around_it() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "anyOf": [
                {"type": "object", "properties": {}, "required": ["a"]}, {"required": ["b", "c"]},
            ],
        });
        check_property(schema.clone(), schema);
    }

    #[test]
    fn references() {
        let recursive = json!({
            "type": "object",
            "properties": {"child": {"$ref": "#"}, "gone": {"$ref": "#/$defs/None"}},
        });
        assert!(matches!(repair(&recursive), Ok(Cow::Borrowed(_))));
        check_property(
            json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "default": null}),
            json!({"$ref": "#/$defs/A", "nullable": true}),
        );
    }

    #[test]
    fn too_deep_is_an_error() {
        assert_eq!(repair(&nested(65)), Err(SchemaError::TooDeep { limit: 64 }));
        assert!(repair(&nested(64)).is_ok());
    }
}

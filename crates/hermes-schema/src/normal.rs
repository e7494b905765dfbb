//! Making one schema node well-formed without changing what it means: misplaced, misspelt and
//! outdated keywords. Shared by the sanitising pass and by the validator.

use serde_json::{Map, Value, json};

use crate::positions::{Position, keeps_booleans, position};

/// The JSON type a foreign type name means; spellings of other languages are understood.
pub(crate) fn type_name(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_ascii_lowercase();
    Some(match lower.as_str() {
        "string" | "str" | "text" => "string",
        "number" | "float" | "double" => "number",
        "integer" | "int" => "integer",
        "boolean" | "bool" => "boolean",
        "object" | "dict" => "object",
        "array" | "list" => "array",
        "null" | "none" => "null",
        _ => return None,
    })
}

/// Puts an object schema in place of whatever stands where a schema belongs.
pub(crate) fn make_schema(value: &mut Value) {
    let schema = match value {
        Value::Object(_) => return,
        Value::String(name) => match name.as_str() {
            "string" | "number" | "integer" | "boolean" | "object" | "array" | "null" => {
                json!({"type": name})
            }
            _ => json!({"type": "object"}),
        },
        Value::Bool(false) => json!({"not": {}}),
        Value::Array(names) if names.iter().all(is_type_name) && !names.is_empty() => {
            json!({"type": names})
        }
        Value::Bool(true) | Value::Null | Value::Number(_) | Value::Array(_) => json!({}),
    };
    *value = schema;
}

fn is_type_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| type_name(name).is_some())
}

/// Mends the node's own keywords; what is below is only touched where it belongs to the node.
pub(crate) fn tidy(node: &mut Map<String, Value>) {
    drop_meaningless(node);
    lift_required(node);
    tuple_items(node);
    exclusive_bounds(node);
    plain_type(node);
    list_of_names(node);
}

/// Removes keywords whose value cannot be what the keyword needs and says nothing.
fn drop_meaningless(node: &mut Map<String, Value>) {
    let ok = |keyword: &str, value: &Value| match (position(keyword), value) {
        (Some(Position::One), Value::Null) => false,
        (Some(Position::Map), value) => value.is_object(),
        (Some(Position::List), Value::Array(list)) => !list.is_empty(),
        (Some(Position::List), value) => value.is_object(),
        (None, Value::Null) => {
            matches!(keyword, "default" | "const" | "example") || keyword.starts_with("x-")
        }
        _ => true,
    };
    if !node.iter().all(|(keyword, value)| ok(keyword, value)) {
        node.retain(|keyword, value| ok(keyword, value));
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(single @ Value::Object(_)) = node.get_mut(keyword) {
            *single = Value::Array(vec![single.take()]);
        }
    }
}

/// Moves `required` to where it belongs: a list written among the properties, and the boolean that
/// old drafts wrote into the property itself.
fn lift_required(node: &mut Map<String, Value>) {
    let mut lifted = Vec::new();
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        let misplaced = properties.get("required").and_then(Value::as_array);
        if misplaced.is_some_and(|names| names.iter().all(Value::is_string))
            && let Some(Value::Array(names)) = properties.shift_remove("required")
        {
            lifted.extend(names);
        }
        for (name, property) in properties.iter_mut() {
            if let Value::Object(property) = property
                && let Some(&Value::Bool(required)) = property.get("required")
            {
                property.shift_remove("required");
                if required {
                    lifted.push(Value::String(name.clone()));
                }
            }
        }
    }
    if lifted.is_empty() {
        return;
    }
    match node.get_mut("required") {
        Some(Value::Array(names)) => names.extend(lifted),
        _ => {
            node.insert("required".to_owned(), Value::Array(lifted));
        }
    }
}

/// Rewrites the positional form of `items` of older drafts into `prefixItems`.
fn tuple_items(node: &mut Map<String, Value>) {
    if !matches!(node.get("items"), Some(Value::Array(_))) {
        return;
    }
    let Some(tuple) = node.shift_remove("items") else { return };
    let is_empty = tuple.as_array().is_some_and(Vec::is_empty);
    if !node.contains_key("prefixItems") && !is_empty {
        node.insert("prefixItems".to_owned(), tuple);
    }
    if let Some(rest) = node.shift_remove("additionalItems") {
        node.insert("items".to_owned(), rest);
    }
}

/// Rewrites the boolean `exclusiveMinimum`/`exclusiveMaximum` of draft 4 into the numeric form.
fn exclusive_bounds(node: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(&Value::Bool(is_exclusive)) = node.get(exclusive) {
            node.shift_remove(exclusive);
            if is_exclusive && let Some(limit) = node.shift_remove(bound) {
                node.insert(exclusive.to_owned(), limit);
            }
        }
    }
}

/// Leaves `type` a known name or a list of distinct known names, or removes it.
fn plain_type(node: &mut Map<String, Value>) {
    match node.get_mut("type") {
        None => {}
        Some(Value::String(name)) => match type_name(name) {
            Some(known) if known == name => {}
            Some(known) => known.clone_into(name),
            None => {
                node.shift_remove("type");
            }
        },
        Some(list @ Value::Array(_)) => {
            let mut names: Vec<&'static str> = Vec::new();
            for name in list.as_array().into_iter().flatten().filter_map(Value::as_str) {
                if let Some(known) = type_name(name)
                    && !names.contains(&known)
                {
                    names.push(known);
                }
            }
            *list = match names.as_slice() {
                [] => json!("object"),
                [one] => json!(one),
                _ => json!(names),
            };
        }
        Some(_) => {
            node.shift_remove("type");
        }
    }
}

/// Leaves `required` a non-empty list of distinct names, or removes it.
fn list_of_names(node: &mut Map<String, Value>) {
    match node.get_mut("required") {
        None => return,
        Some(Value::Array(names)) => {
            let mut seen = Vec::with_capacity(names.len());
            names.retain(|name| {
                let keep = name.is_string() && !seen.contains(name);
                if keep {
                    seen.push(name.clone());
                }
                keep
            });
            if !names.is_empty() {
                return;
            }
        }
        Some(name @ Value::String(_)) => {
            *name = Value::Array(vec![name.take()]);
            return;
        }
        Some(_) => {}
    }
    node.shift_remove("required");
}

/// Makes every schema directly below the node an object schema, except booleans that may stay.
pub(crate) fn make_child_schema(keyword: &str, child: &mut Value) {
    if !(child.is_boolean() && keeps_booleans(keyword)) {
        make_schema(child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: Value, expected: Value) {
        let mut node = input.clone();
        tidy(node.as_object_mut().unwrap());
        assert_eq!(node, expected, "from {input}");
        tidy(node.as_object_mut().unwrap());
        assert_eq!(node, expected, "twice from {input}");
    }

    #[test]
    fn mends_keywords_of_one_node() {
        check(json!({"type": "INTEGER"}), json!({"type": "integer"}));
        check(json!({"type": "banana", "minimum": 1}), json!({"minimum": 1}));
        check(json!({"type": ["string", "str", 7, "null"]}), json!({"type": ["string", "null"]}));
        check(json!({"type": []}), json!({"type": "object"}));
        check(json!({"type": 7}), json!({}));
        check(json!({"required": null}), json!({}));
        check(json!({"required": "a"}), json!({"required": ["a"]}));
        check(json!({"required": ["a", "a", 7]}), json!({"required": ["a"]}));
        check(json!({"items": null, "anyOf": []}), json!({}));
        check(json!({"default": null, "const": null}), json!({"default": null, "const": null}));
        check(json!({"anyOf": {"type": "string"}}), json!({"anyOf": [{"type": "string"}]}));
        check(
            json!({"minimum": 1, "exclusiveMinimum": true, "exclusiveMaximum": false}),
            json!({"exclusiveMinimum": 1}),
        );
        check(
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            json!({"prefixItems": [{"type": "string"}], "items": false}),
        );
    }

    #[test]
    fn required_moves_up() {
        check(
            json!({"properties": {"a": {}, "required": ["a"]}}),
            json!({"properties": {"a": {}}, "required": ["a"]}),
        );
        check(
            json!({"properties": {"required": {"type": "boolean"}}}),
            json!({"properties": {"required": {"type": "boolean"}}}),
        );
        check(
            json!({"properties": {"a": {"required": true}, "b": {"required": false}}}),
            json!({"properties": {"a": {}, "b": {}}, "required": ["a"]}),
        );
    }
}

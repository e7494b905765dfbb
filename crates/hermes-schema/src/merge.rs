//! Putting two object schemas that describe the same value into one, keeping both constraints.

use serde_json::{Map, Value, json};

/// Adds everything `outer` says to `node`.
///
/// Where both speak, annotations of `node` win, maps and lists of names are united, and any other
/// constraint of `outer` goes into `allOf` beside `node`'s own.
pub(crate) fn conjoin(node: &mut Map<String, Value>, outer: Map<String, Value>) {
    for (keyword, theirs) in outer {
        if keyword == "default" && node.contains_key("$ref") {
            continue;
        }
        let Some(ours) = node.get_mut(&keyword) else {
            node.insert(keyword, theirs);
            continue;
        };
        if *ours == theirs || is_annotation(&keyword) {
            continue;
        }
        match (keyword.as_str(), ours, theirs) {
            ("properties", Value::Object(ours), Value::Object(theirs)) => {
                unite(ours, theirs, |our, their| json!({"allOf": [our, their]}));
            }
            ("$defs" | "definitions", Value::Object(ours), Value::Object(theirs)) => {
                unite(ours, theirs, |our, _| our);
            }
            ("required", Value::Array(ours), Value::Array(theirs)) => {
                for name in theirs {
                    if !ours.contains(&name) {
                        ours.push(name);
                    }
                }
            }
            ("allOf", Value::Array(ours), Value::Array(theirs)) => ours.extend(theirs),
            (_, _, theirs) => also(node, json!({keyword: theirs})),
        }
    }
}

/// Adds a constraint that cannot stand in the node itself.
pub(crate) fn also(node: &mut Map<String, Value>, constraint: Value) {
    match node.get_mut("allOf") {
        Some(Value::Array(all)) => {
            if !all.contains(&constraint) {
                all.push(constraint);
            }
        }
        _ => {
            node.insert("allOf".to_owned(), Value::Array(vec![constraint]));
        }
    }
}

fn unite(
    ours: &mut Map<String, Value>,
    theirs: Map<String, Value>,
    both: impl Fn(Value, Value) -> Value,
) {
    for (name, their) in theirs {
        match ours.get_mut(&name) {
            None => {
                ours.insert(name, their);
            }
            Some(our) if *our == their => {}
            Some(our) => *our = both(our.take(), their),
        }
    }
}

fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "nullable"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "format"
            | "$comment"
            | "$schema"
            | "$id"
            | "$anchor"
    ) || keyword.starts_with("x-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_constraints_stay() {
        let mut node = json!({
            "type": "string", "minLength": 2, "title": "mine", "required": ["a"],
            "properties": {"a": {"type": "string"}, "b": {}},
        });
        let outer = json!({
            "type": "string", "minLength": 3, "title": "theirs", "required": ["b", "a"],
            "properties": {"a": {"type": "integer"}, "c": {}}, "pattern": "x",
        });
        conjoin(node.as_object_mut().unwrap(), outer.as_object().unwrap().clone());
        assert_eq!(
            node,
            json!({
                "type": "string", "minLength": 2, "title": "mine", "required": ["a", "b"],
                "properties": {
                    "a": {"allOf": [{"type": "string"}, {"type": "integer"}]}, "b": {}, "c": {}
                },
                "pattern": "x", "allOf": [{"minLength": 3}],
            })
        );
    }

    #[test]
    fn no_default_beside_a_reference() {
        let mut node = json!({"$ref": "#/$defs/A"});
        let outer = json!({"default": 1, "title": "T"});
        conjoin(node.as_object_mut().unwrap(), outer.as_object().unwrap().clone());
        assert_eq!(node, json!({"$ref": "#/$defs/A", "title": "T"}));
    }
}

//! Where schemas sit inside a schema, and walks over exactly those places.
//!
//! Everything that is not listed here is data (`enum`, `default`, `required`, `x-anything`) and is
//! never taken for a schema; the keys of a property map are names, never keywords.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{MAX_LEVELS, SchemaError};

/// How deeply plain data (a `default`, an `enum` value) may nest inside a schema.
const MAX_DATA_LEVELS: usize = 128;

/// What the value of a schema-bearing keyword looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// One schema. `items` may also be a list in older drafts.
    One,
    /// A list of schemas.
    List,
    /// A map from names to schemas.
    Map,
}

/// The position a keyword opens, or `None` for a keyword whose value is data.
pub(crate) fn position(keyword: &str) -> Option<Position> {
    Some(match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Position::Map,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Position::List,
        "items"
        | "additionalProperties"
        | "additionalItems"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Position::One,
        _ => return None,
    })
}

/// Whether the keyword's schemas describe the same value as the schema that holds them.
pub(crate) fn is_in_place(keyword: &str) -> bool {
    matches!(
        keyword,
        "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
    )
}

/// Whether a boolean may stay as it is under the keyword.
pub(crate) fn keeps_booleans(keyword: &str) -> bool {
    matches!(
        keyword,
        "items"
            | "additionalProperties"
            | "additionalItems"
            | "unevaluatedItems"
            | "unevaluatedProperties"
    )
}

/// Calls `f` with the keyword and each schema directly below `node`.
pub(crate) fn for_each_child<'v>(node: &'v Map<String, Value>, mut f: impl FnMut(&'v Value)) {
    for (keyword, value) in node {
        match (position(keyword), value) {
            (Some(Position::Map), Value::Object(map)) => {
                map.values()
                    .filter(|v| keyword != "dependencies" || !v.is_array())
                    .for_each(&mut f);
            }
            (Some(Position::List | Position::One), Value::Array(list)) => {
                list.iter().for_each(&mut f);
            }
            (Some(Position::One), one) => f(one),
            _ => {}
        }
    }
}

/// Calls `f` with the keyword and each schema directly below `node`, for changing it.
pub(crate) fn for_each_child_mut(
    node: &mut Map<String, Value>,
    mut f: impl FnMut(&str, &mut Value),
) {
    for (keyword, value) in node.iter_mut() {
        match (position(keyword), value) {
            (Some(Position::Map), Value::Object(map)) => {
                for child in map.values_mut() {
                    if keyword != "dependencies" || !child.is_array() {
                        f(keyword, child);
                    }
                }
            }
            (Some(Position::List | Position::One), Value::Array(list)) => {
                list.iter_mut().for_each(|child| f(keyword, child));
            }
            (Some(Position::One), one) => f(keyword, one),
            _ => {}
        }
    }
}

/// Calls `f` on every object schema, the innermost first.
///
/// Recursive: callers have checked the depth.
pub(crate) fn visit_mut(node: &mut Value, f: &mut dyn FnMut(&mut Map<String, Value>)) {
    if let Value::Object(map) = node {
        for_each_child_mut(map, |_, child| visit_mut(child, f));
        f(map);
    }
}

/// Runs `change` over a copy and hands the copy out only if it came to differ.
pub(crate) fn rewritten<'v>(schema: &'v Value, change: impl FnOnce(&mut Value)) -> Cow<'v, Value> {
    let mut copy = schema.clone();
    change(&mut copy);
    if copy == *schema { Cow::Borrowed(schema) } else { Cow::Owned(copy) }
}

/// Refuses what is nested too deeply for the recursive passes. Iterative, so that it can be asked
/// about anything.
pub(crate) fn check_depth(schema: &Value) -> Result<(), SchemaError> {
    let mut schemas = vec![(schema, 0)];
    let mut data: Vec<(&Value, usize)> = Vec::new();
    while let Some((node, level)) = schemas.pop() {
        if level > MAX_LEVELS {
            return Err(SchemaError::TooDeep { limit: MAX_LEVELS });
        }
        let Value::Object(map) = node else {
            data.push((node, 0));
            continue;
        };
        for_each_child(map, |child| schemas.push((child, level + 1)));
        for (keyword, value) in map {
            let is_position = match (position(keyword), value) {
                (Some(Position::Map), Value::Object(_)) => keyword != "dependencies",
                (Some(Position::List | Position::One), Value::Array(_)) => true,
                (Some(Position::One), _) => true,
                _ => false,
            };
            if !is_position && (value.is_object() || value.is_array()) {
                data.push((value, 0));
            }
        }
    }
    while let Some((value, level)) = data.pop() {
        if level > MAX_DATA_LEVELS {
            return Err(SchemaError::TooDeep { limit: MAX_DATA_LEVELS });
        }
        match value {
            Value::Array(list) => data.extend(list.iter().map(|v| (v, level + 1))),
            Value::Object(map) => data.extend(map.values().map(|v| (v, level + 1))),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) fn nested(levels: usize) -> Value {
    (0..levels).fold(
        serde_json::json!({"type": "string"}),
        |inner, _| serde_json::json!({"type": "object", "properties": {"k": inner}}),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_limit_counts_schema_levels() {
        assert_eq!(check_depth(&nested(MAX_LEVELS)), Ok(()));
        assert!(check_depth(&nested(MAX_LEVELS + 1)).is_err());
        let items = (0..65).fold(json!("string"), |inner, _| json!({"items": inner}));
        assert!(check_depth(&items).is_err());
    }

    #[test]
    fn deep_data_is_refused_too() {
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        assert!(check_depth(&json!({"default": deep})).is_err());
    }

    #[test]
    fn property_names_are_not_keywords() {
        let schema = json!({"properties": {"items": {"type": "string"}, "enum": {"x": 1}}});
        let mut seen = 0;
        for_each_child(schema.as_object().unwrap(), |_| seen += 1);
        assert_eq!(seen, 2);
    }
}

//! A quick look whether a value fits a schema: types, `enum`, `const` and the shape of containers.
//! Used to choose between union branches; real validation is the validator's.

use serde_json::{Map, Value};

use super::Coercion;
use crate::refs;

/// Whether a value is of the JSON type. A float without a fraction is an integer.
pub(super) fn is_of_type(value: &Value, name: &str) -> bool {
    match (name, value) {
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("null", Value::Null)
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(n)) => {
            !n.is_f64() || n.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        _ => false,
    }
}

/// Whether a value is of a type, or nobody knows: a type that JSON Schema doesn't have says
/// nothing, to the validator neither.
fn may_be_of_type(value: &Value, name: &str) -> bool {
    const KNOWN: [&str; 7] = ["string", "boolean", "null", "array", "object", "number", "integer"];
    is_of_type(value, name) || !KNOWN.contains(&name)
}

impl<'s> Coercion<'s> {
    /// Whether the value fits; `true` where nothing is known, `false` when out of fuel.
    pub(super) fn accepts(&mut self, schema: &'s Value, value: &Value, depth: u32) -> bool {
        let Value::Object(node) = schema else { return schema != &Value::Bool(false) };
        let Some(depth) = self.step(depth) else { return false };
        if value.is_null() && node.get("nullable") == Some(&Value::Bool(true)) {
            return true;
        }
        self.accepts_itself(node, value)
            && self.accepts_members(node, value, depth)
            && refs::reference(node)
                .and_then(|reference| refs::resolve(self.root, reference))
                .is_none_or(|target| self.accepts(target, value, depth))
            && branches(node, "allOf").iter().all(|b| self.accepts(b, value, depth))
            && ["anyOf", "oneOf"].into_iter().all(|union| {
                let branches = branches(node, union);
                branches.is_empty() || branches.iter().any(|b| self.accepts(b, value, depth))
            })
    }

    fn accepts_itself(&self, node: &Map<String, Value>, value: &Value) -> bool {
        let type_fits = match node.get("type") {
            Some(Value::String(name)) => may_be_of_type(value, name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).any(|name| may_be_of_type(value, name))
            }
            _ => true,
        };
        type_fits
            && node
                .get("enum")
                .and_then(Value::as_array)
                .is_none_or(|values| values.contains(value))
            && node.get("const").is_none_or(|only| only == value)
    }

    fn accepts_members(&mut self, node: &'s Map<String, Value>, value: &Value, depth: u32) -> bool {
        match value {
            Value::Array(elements) => elements.iter().enumerate().all(|(index, element)| {
                element_schema(node, index)
                    .is_none_or(|schema| self.accepts(schema, element, depth))
            }),
            Value::Object(members) => {
                let required = node.get("required").and_then(Value::as_array);
                required
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .all(|name| members.contains_key(name))
                    && members.iter().all(|(name, member)| {
                        member_schema(node, name)
                            .is_none_or(|schema| self.accepts(schema, member, depth))
                    })
            }
            _ => true,
        }
    }
}

/// The branches under a combinator; empty if there are none.
pub(super) fn branches<'s>(node: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    node.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The schema of an array element.
pub(super) fn element_schema(node: &Map<String, Value>, index: usize) -> Option<&Value> {
    let tuple = match node.get("items") {
        Some(Value::Array(tuple)) => Some(tuple),
        _ => node.get("prefixItems").and_then(Value::as_array),
    };
    match tuple.and_then(|tuple| tuple.get(index)) {
        Some(schema) => Some(schema),
        None => match node.get("items") {
            Some(Value::Array(_)) => node.get("additionalItems"),
            rest => rest,
        },
    }
}

/// The schema of an object member. Names that only a pattern could describe have none.
pub(super) fn member_schema<'s>(node: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    let properties = node.get("properties").and_then(Value::as_object);
    match properties.and_then(|properties| properties.get(name)) {
        Some(schema) => Some(schema),
        None if node.contains_key("patternProperties") => None,
        None => node.get("additionalProperties"),
    }
}

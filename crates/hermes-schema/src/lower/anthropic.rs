//! Anthropic Messages: no combinators at the root, no nullable hints, and only plain ASCII property
//! names, so others travel under an alias.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{ToolDef, named};
use crate::{
    SchemaError,
    nullable::collapse_all,
    positions::{check_depth, for_each_child, visit_mut},
    repair::empty_object,
};

/// The longest property name Anthropic takes, in bytes.
const MAX_NAME: usize = 64;
/// How deep a call's arguments are looked through for aliases.
const MAX_DEPTH: u32 = 128;

/// A lowered schema and how to read a call made with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The schema for the wire.
    pub schema: Value,
    /// The properties that have another name on the wire.
    pub renames: Renames,
}

/// Property names as they are on the wire, with the registered ones.
///
/// Aliases are unlike any other property name of the schema, so that one table serves all depths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    registered: BTreeMap<String, String>,
}

impl Renames {
    /// Whether every property kept its name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.registered.is_empty()
    }

    /// The registered name of a property of the wire schema.
    #[must_use]
    pub fn registered<'n>(&'n self, wire: &'n str) -> &'n str {
        self.registered.get(wire).map_or(wire, String::as_str)
    }

    /// Gives the arguments of a call their registered names back, at every depth.
    pub fn restore(&self, args: &mut Value) {
        if !self.is_empty() {
            self.restore_below(args, MAX_DEPTH);
        }
    }

    fn restore_below(&self, value: &mut Value, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Value::Array(elements) => {
                elements.iter_mut().for_each(|element| self.restore_below(element, depth));
            }
            Value::Object(members) => {
                if members.keys().any(|name| self.registered.contains_key(name)) {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(name, member)| (self.registered(&name).to_owned(), member))
                        .collect();
                }
                members.values_mut().for_each(|member| self.restore_below(member, depth));
            }
            _ => {}
        }
    }
}

/// The schema as Anthropic takes it.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`].
pub fn lower(schema: &Value) -> Result<Lowered, SchemaError> {
    if !schema.is_object() {
        return Ok(Lowered { schema: empty_object(), renames: Renames::default() });
    }
    check_depth(schema)?;
    let mut schema = schema.clone();
    collapse_all(&mut schema, false);
    if let Value::Object(root) = &mut schema {
        root.retain(|keyword, _| !matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf"));
        if !root.contains_key("type") {
            root.insert("type".to_owned(), json!("object"));
        }
        let is_object = root.get("type").and_then(Value::as_str) == Some("object");
        if is_object && !root.get("properties").is_some_and(Value::is_object) {
            root.insert("properties".to_owned(), json!({}));
        }
    }
    let aliases = aliases(&schema);
    if !aliases.is_empty() {
        visit_mut(&mut schema, &mut |node| rename(node, &aliases));
    }
    let registered = aliases.into_iter().map(|(name, alias)| (alias, name)).collect();
    Ok(Lowered { schema, renames: Renames { registered } })
}

/// The tool in the Messages shape.
pub(super) fn wire(tool: &ToolDef<'_>, schema: Value) -> Value {
    let mut wire = named(tool);
    wire.insert("input_schema".to_owned(), schema);
    if let Some(marker) = tool.cache_control {
        wire.insert("cache_control".to_owned(), marker.clone());
    }
    Value::Object(wire)
}

/// An alias for every property name Anthropic refuses.
fn aliases(schema: &Value) -> BTreeMap<String, String> {
    let mut taken = BTreeSet::new();
    let mut refused = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(node) = open.pop() {
        let Value::Object(node) = node else { continue };
        if let Some(Value::Object(properties)) = node.get("properties") {
            for name in properties.keys() {
                let names = if is_plain(name) { &mut taken } else { &mut refused };
                names.insert(name.clone());
            }
        }
        for_each_child(node, |child| open.push(child));
    }
    let mut aliases = BTreeMap::new();
    for name in refused {
        let alias = alias(&name, &taken);
        taken.insert(alias.clone());
        aliases.insert(name, alias);
    }
    aliases
}

fn is_plain(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_plain_byte)
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The name with everything refused made `_`, numbered if that is taken.
fn alias(name: &str, taken: &BTreeSet<String>) -> String {
    let plain: String = name
        .chars()
        .map(|c| u8::try_from(c).ok().filter(|&b| is_plain_byte(b)).map_or('_', char::from))
        .collect();
    (1_usize..)
        .map(|number| {
            let suffix = if number == 1 { String::new() } else { format!("_{number}") };
            let stem: String = plain.chars().take(MAX_NAME - suffix.len()).collect();
            if stem.is_empty() && suffix.is_empty() { "_".to_owned() } else { stem + &suffix }
        })
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or(plain)
}

/// Renames properties of one node and every mention of them by a keyword.
fn rename(node: &mut Map<String, Value>, aliases: &BTreeMap<String, String>) {
    let renamed = |name: &str| aliases.get(name).map_or(name, String::as_str).to_owned();
    let rename_list = |names: &mut Value| {
        for name in names.as_array_mut().into_iter().flatten() {
            if let Value::String(text) = name {
                *text = renamed(text);
            }
        }
    };
    for keyword in ["properties", "dependentRequired", "dependentSchemas", "dependencies"] {
        if let Some(Value::Object(map)) = node.get_mut(keyword) {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(name, mut value)| {
                    rename_list(&mut value);
                    (renamed(&name), value)
                })
                .collect();
        }
    }
    if let Some(required) = node.get_mut("required") {
        rename_list(required);
    }
    if let Some(Value::String(reference)) = node.get_mut("$ref")
        && reference.starts_with("#/")
    {
        let mut is_name = false;
        let tokens: Vec<String> = reference
            .split('/')
            .map(|token| {
                let name = token.replace("~1", "/").replace("~0", "~").replace("%20", " ");
                let is_property = is_name && aliases.contains_key(&name);
                is_name = !is_name && token == "properties";
                if is_property { renamed(&name) } else { token.to_owned() }
            })
            .collect();
        *reference = tokens.join("/");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_a_plain_object() {
        for (schema, expected) in [
            (json!(null), empty_object()),
            (json!({}), empty_object()),
            (
                json!({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]}),
                json!({"type": "object", "properties": {"a": {}}}),
            ),
            (json!({"type": "string"}), json!({"type": "string"})),
        ] {
            assert_eq!(lower(&schema).unwrap().schema, expected);
        }
    }

    #[test]
    fn refused_names_travel_under_an_alias() {
        let long = "x".repeat(70);
        let schema = json!({
            "type": "object",
            "properties": {
                "a b": {"type": "object", "properties": {"größe": {}, "ok": {}}},
                "a_b": {"type": "string"},
                "": {},
                long.clone(): {"$ref": "#/properties/a b"},
                "$ref": {"default": {"a b": 1}},
            },
            "required": ["a b", "a_b"],
        });
        let lowered = lower(&schema).unwrap();
        assert_eq!(
            lowered.schema,
            json!({
                "type": "object",
                "properties": {
                    "a_b_2": {"type": "object", "properties": {"gr__e": {}, "ok": {}}},
                    "a_b": {"type": "string"},
                    "_": {},
                    "x".repeat(64): {"$ref": "#/properties/a_b_2"},
                    "_ref": {"default": {"a b": 1}},
                },
                "required": ["a_b_2", "a_b"],
            })
        );
        let mut args = json!({"a_b_2": [{"gr__e": 1, "ok": 2}], "a_b": 3, "_": 4});
        lowered.renames.restore(&mut args);
        assert_eq!(args, json!({"a b": [{"größe": 1, "ok": 2}], "a_b": 3, "": 4}));
    }
}

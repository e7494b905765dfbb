//! Local references: finding what a `$ref` points to inside the same schema.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{SchemaError, positions::for_each_child};

/// The schema `reference` names inside `root`: `#`, a JSON pointer, or an anchor. Anything that
/// would have to be fetched is `None`.
pub(crate) fn resolve<'r>(root: &'r Value, reference: &str) -> Option<&'r Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() {
        return Some(root);
    }
    if fragment.starts_with('/') {
        let target = root.pointer(&percent_decoded(fragment))?;
        return (target.is_object() || target.is_boolean()).then_some(target);
    }
    find(root, |map| {
        let is = |key, text: &str| map.get(key).and_then(Value::as_str) == Some(text);
        is("$anchor", fragment)
            || is("$dynamicAnchor", fragment)
            || is("$id", reference)
            || is("id", reference)
    })
}

/// The schema `reference` names inside `root`, also if it is by that schema's `$id`.
pub(crate) fn target<'r>(root: &'r Value, reference: &str) -> Option<&'r Value> {
    resolve(root, reference)
        .or_else(|| find(root, |map| map.get("$id").and_then(Value::as_str) == Some(reference)))
}

/// The reference a node holds, if its `$ref` is text.
pub(crate) fn reference(node: &Map<String, Value>) -> Option<&str> {
    node.get("$ref").and_then(Value::as_str)
}

/// Refuses a schema with a reference to something it does not contain.
///
/// # Errors
/// [`SchemaError::UnresolvedRef`], with the first such reference.
pub fn check(root: &Value) -> Result<(), SchemaError> {
    let dangling =
        find(root, |map| reference(map).is_some_and(|reference| target(root, reference).is_none()));
    match dangling.and_then(Value::as_object).and_then(reference) {
        Some(text) => {
            Err(SchemaError::UnresolvedRef { reference: text.chars().take(200).collect() })
        }
        None => Ok(()),
    }
}

/// The first object schema that satisfies `wanted`.
fn find<'r>(root: &'r Value, wanted: impl Fn(&'r Map<String, Value>) -> bool) -> Option<&'r Value> {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if let Value::Object(map) = node {
            if wanted(map) {
                return Some(node);
            }
            for_each_child(map, |child| open.push(child));
        }
    }
    None
}

/// Undoes the percent-encoding of a URI fragment; text that is not well encoded stays.
fn percent_decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let mut out = Vec::with_capacity(fragment.len());
    let mut bytes = fragment.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        let mut ahead = bytes.clone();
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).map_or(Cow::Borrowed(fragment), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_pointers_and_anchors() {
        let root = json!({
            "$defs": {"a b": {"type": "string"}, "x/y": {"$anchor": "here", "type": "integer"}},
            "enum": ["not a schema"],
        });
        for (reference, found) in [
            ("#", Some(&root)),
            ("#/$defs/a%20b", root.pointer("/$defs/a b")),
            ("#/$defs/x~1y", root.pointer("/$defs/x~1y")),
            ("#here", root.pointer("/$defs/x~1y")),
            ("#/$defs/missing", None),
            ("#/enum", None),
            ("#/%zz", None),
            ("http://127.0.0.1/a", None),
            ("", None),
        ] {
            assert_eq!(resolve(&root, reference), found, "{reference}");
        }
    }

    #[test]
    fn recursion_is_fine_and_dangling_is_not() {
        assert_eq!(check(&json!({"properties": {"child": {"$ref": "#"}}})), Ok(()));
        assert!(check(&json!({"properties": {"a": {"$ref": "#/$defs/A"}}})).is_err());
        assert_eq!(check(&json!({"properties": {"$ref": {"type": "string"}}})), Ok(()));
        assert_eq!(check(&json!({"default": {"$ref": "#/nowhere"}})), Ok(()));
    }
}

//! Unions whose only purpose is to admit null.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{
    SchemaError,
    merge::conjoin,
    positions::{check_depth, for_each_child_mut, rewritten},
};

/// Replaces every `anyOf`/`oneOf` made of a null branch and exactly one other branch by that other
/// branch, everywhere in the schema and until nothing is left to replace. What the union says
/// beside its branches is carried over unless the branch says it itself. With `keep_hint` the
/// result is marked `nullable: true`.
///
/// Wider unions stay as they are. Borrows if there is nothing to do.
///
/// # Errors
/// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`].
pub fn collapse_nullable(schema: &Value, keep_hint: bool) -> Result<Cow<'_, Value>, SchemaError> {
    check_depth(schema)?;
    Ok(rewritten(schema, |copy| collapse_all(copy, keep_hint)))
}

/// [`collapse_nullable`] in place; recursive, on a schema whose depth was checked.
pub(crate) fn collapse_all(schema: &mut Value, keep_hint: bool) {
    if let Value::Object(node) = schema {
        while collapse_node(node, keep_hint) {}
        for_each_child_mut(node, |_, child| collapse_all(child, keep_hint));
    }
}

/// Collapses one union of this node; whether there was one.
pub(crate) fn collapse_node(node: &mut Map<String, Value>, keep_hint: bool) -> bool {
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = node.get(union) else { continue };
        let mut live = branches.iter().filter(|branch| !is_null(branch));
        let (Some(branch), None) = (live.next(), live.next()) else { continue };
        if branches.len() == 1 {
            continue;
        }
        let mut branch = match branch {
            Value::Object(branch) => branch.clone(),
            Value::Bool(true) => Map::new(),
            _ => continue,
        };
        if keep_hint && !branch.contains_key("nullable") {
            branch.insert("nullable".to_owned(), Value::Bool(true));
        }
        let mut outer = std::mem::take(node);
        outer.shift_remove(union);
        conjoin(&mut branch, outer);
        *node = branch;
        return true;
    }
    false
}

/// Takes the null branch out of unions of two or more other branches and marks the node
/// `nullable: true` instead.
pub(crate) fn lift_null(node: &mut Map<String, Value>) {
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = node.get_mut(union) else { continue };
        let live = branches.iter().filter(|branch| !is_null(branch)).count();
        if live < 2 || live == branches.len() {
            continue;
        }
        branches.retain(|branch| !is_null(branch));
        if !node.contains_key("nullable") {
            node.insert("nullable".to_owned(), Value::Bool(true));
        }
    }
}

/// Whether a branch admits null and nothing else.
pub(crate) fn is_null(branch: &Value) -> bool {
    let Value::Object(branch) = branch else { return false };
    match branch.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => {
            !names.is_empty() && names.iter().all(|name| name.as_str() == Some("null"))
        }
        Some(_) => false,
        None => {
            branch.get("const").is_some_and(Value::is_null)
                || branch
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_null))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(input: Value, hint: bool, expected: Value) {
        assert_eq!(*collapse_nullable(&input, hint).unwrap(), expected, "from {input}");
        assert_eq!(*collapse_nullable(&expected, hint).unwrap(), expected, "twice");
    }

    #[test]
    fn collapses_to_the_live_branch() {
        check(
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            true,
            json!({"type": "string", "nullable": true}),
        );
        check(
            json!({"oneOf": [{"type": "null", "enum": [null]}, {"type": "integer"}], "title": "T"}),
            false,
            json!({"type": "integer", "title": "T"}),
        );
        check(
            json!({"anyOf": [{"anyOf": [{"$ref": "#/$defs/A"}, {"const": null}]}, {"type": "null"}],
                   "default": null}),
            true,
            json!({"$ref": "#/$defs/A", "nullable": true}),
        );
        check(
            json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}], "minLength": 3}),
            false,
            json!({"type": "string", "minLength": 1, "allOf": [{"minLength": 3}]}),
        );
    }

    #[test]
    fn leaves_the_rest() {
        for schema in [
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}]}),
            json!({"default": {"anyOf": [{"type": "string"}, {"type": "null"}]}}),
            json!({"properties": {"anyOf": {"type": "string"}}}),
            json!(7),
        ] {
            assert!(matches!(collapse_nullable(&schema, true), Ok(Cow::Borrowed(_))), "{schema}");
        }
    }
}

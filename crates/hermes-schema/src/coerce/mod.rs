//! Turning what a model wrote into the types the schema asks for, where that loses nothing.

mod accept;
mod number;

use serde_json::{Map, Value};

use self::accept::{branches, element_schema, is_of_type, member_schema};
use crate::{nullable, refs};

/// How deep schema and arguments are followed together.
const MAX_DEPTH: u32 = 128;
/// How many schema nodes one call may look at; unions in recursive schemas could multiply.
const FUEL: u32 = 20_000;

/// Coerces a call's arguments in place, at every depth, to what `schema` (the tool's registered
/// parameters) declares:
///
/// - text to integer, number or boolean, exactly or not at all; a float without a fraction to an
///   integer; JSON text to an array or object, also if it was encoded twice;
/// - the text `null` to null where the schema says null is allowed;
/// - a bare value to a list of one where a list is wanted.
///
/// Text at a string position, null, keys the schema does not know and arguments that are no object
/// stay as they are, and so does whatever cannot be coerced: that is for
/// [`Validator::check`](crate::Validator::check) to report. Local references and
/// `anyOf`/`oneOf`/`allOf` are followed; of several branches the first that the value fits, or
/// fits once coerced, decides. Coercing twice changes nothing more. Allocates only for what it
/// changes, and for schemas with `allOf` or unions that change something.
pub fn coerce(schema: &Value, args: &mut Value) {
    let (Value::Object(node), Value::Object(_)) = (schema, &*args) else { return };
    let mut first = Coercion { root: schema, fuel: FUEL, combines: false };
    first.inside(node, args, MAX_DEPTH);
    if first.combines {
        settle(schema, node, args);
    }
}

/// How often schemas that are to hold together are applied again. Even, so that two which undo
/// each other end where they began.
const ROUNDS: u32 = 8;

/// Applies the schema until nothing changes: what one schema of an `allOf`, or a branch of a union,
/// made of a value may be something for one before it.
fn settle(schema: &Value, node: &Map<String, Value>, args: &mut Value) {
    for _ in 0..ROUNDS {
        let before = args.clone();
        let mut again = Coercion { root: schema, fuel: FUEL, combines: false };
        again.inside(node, args, MAX_DEPTH);
        if *args == before {
            return;
        }
    }
}

/// One run over one call's arguments.
struct Coercion<'s> {
    root: &'s Value,
    fuel: u32,
    /// Whether one of several schemas changed a value, or all of them were applied to it.
    combines: bool,
}

impl<'s> Coercion<'s> {
    /// The depth left after one more step, or `None` if depth or fuel are used up.
    fn step(&mut self, depth: u32) -> Option<u32> {
        self.fuel = self.fuel.checked_sub(1)?;
        depth.checked_sub(1)
    }

    /// Coerces a value by its schema.
    fn value(&mut self, schema: &'s Value, value: &mut Value, depth: u32) {
        let Value::Object(node) = schema else { return };
        let Some(depth) = self.step(depth) else { return };
        if value.is_null() {
            return;
        }
        if is_null_word(value) && allows_null(node) {
            *value = Value::Null;
            return;
        }
        match node.get("type") {
            Some(Value::String(name)) => to_type(name, value),
            Some(Value::Array(names)) => to_first_type(names, value),
            _ => {}
        }
        self.inside(node, value, depth);
    }

    /// Applies everything of a schema except its own type.
    fn inside(&mut self, node: &'s Map<String, Value>, value: &mut Value, depth: u32) {
        if let Some(target) = refs::reference(node).and_then(|r| refs::resolve(self.root, r)) {
            self.value(target, value, depth);
        }
        for branch in branches(node, "allOf") {
            self.combines = true;
            self.value(branch, value, depth);
        }
        for union in ["anyOf", "oneOf"] {
            let branches = branches(node, union);
            let is_container = value.is_array() || value.is_object();
            if !branches.is_empty() && (is_container || !node.contains_key("type")) {
                self.union(branches, value, depth);
            }
        }
        match value {
            Value::Array(elements) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    if let Some(schema) = element_schema(node, index) {
                        self.value(schema, element, depth);
                    }
                }
            }
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if let Some(schema) = member_schema(node, name) {
                        self.value(schema, member, depth);
                    }
                }
            }
            _ => {}
        }
    }

    /// Coerces by the branch of a union that suits best.
    fn union(&mut self, branches: &'s [Value], value: &mut Value, depth: u32) {
        if value.is_null() {
            return;
        }
        let mut live = branches.iter().filter(|branch| !nullable::is_null(branch));
        if let (Some(only), None) = (live.next(), live.next()) {
            return self.value(only, value, depth);
        }
        if branches.iter().any(|branch| self.accepts(branch, value, depth)) {
            return;
        }
        for branch in branches {
            let mut trial = value.clone();
            self.value(branch, &mut trial, depth);
            if trial != *value && self.accepts(branch, &trial, depth) {
                self.combines = true;
                *value = trial;
                return;
            }
        }
        // Nothing fits. If only one branch is for this kind of container, it is the one meant, and
        // what can be coerced inside makes for a better error message.
        let kind = match value {
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            _ => return,
        };
        let mut same_kind = branches.iter().filter(|branch| self.is_kind(branch, kind));
        if let (Some(only), None) = (same_kind.next(), same_kind.next()) {
            self.combines = true;
            self.value(only, value, depth);
        }
    }

    fn is_kind(&self, branch: &Value, kind: &str) -> bool {
        let target = branch.as_object().and_then(refs::reference);
        let branch = target.and_then(|r| refs::resolve(self.root, r)).unwrap_or(branch);
        branch.get("type").and_then(Value::as_str) == Some(kind)
    }
}

/// Coerces a value to one type, if it can be.
fn to_type(name: &str, value: &mut Value) {
    if let Some(coerced) = converted(value, name) {
        *value = coerced;
    } else if name == "array" {
        wrap(value);
    }
}

/// Coerces a value to the first type of a list that it has or can get.
fn to_first_type(names: &[Value], value: &mut Value) {
    let mut wants_only_a_list = false;
    for name in names.iter().filter_map(Value::as_str) {
        if let Some(coerced) = converted(value, name) {
            *value = coerced;
            return;
        }
        if is_of_type(value, name) {
            return;
        }
        wants_only_a_list = name == "array" || (wants_only_a_list && name == "null");
    }
    let live = names.iter().filter(|name| *name != "null").count();
    if wants_only_a_list && live == 1 {
        wrap(value);
    }
}

/// The value as the type, if it is of another one and can be converted.
fn converted(value: &Value, name: &str) -> Option<Value> {
    match (name, value) {
        ("integer", Value::Number(number)) => number::integral(number).map(Value::Number),
        ("integer", Value::String(text)) => number::integer(text),
        ("number", Value::String(text)) => number::number(text),
        ("boolean", Value::String(text)) => boolean(text),
        ("array" | "object", Value::String(text)) => container(text, name),
        _ => None,
    }
}

fn boolean(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(Value::Bool(true))
    } else if text.eq_ignore_ascii_case("false") {
        Some(Value::Bool(false))
    } else {
        None
    }
}

/// The array or object a JSON text holds, looking through one more level of encoding.
fn container(text: &str, name: &str) -> Option<Value> {
    let parse = |text: &str, may_be_text: bool| -> Option<Value> {
        match text.trim_start().chars().next()? {
            '[' | '{' => {}
            '"' if may_be_text => {}
            _ => return None,
        }
        serde_json::from_str(text).ok()
    };
    let parsed = match parse(text, true)? {
        Value::String(inner) => parse(&inner, false)?,
        parsed => parsed,
    };
    is_of_type(&parsed, name).then_some(parsed)
}

fn wrap(value: &mut Value) {
    if !value.is_array() && !value.is_null() {
        *value = Value::Array(vec![value.take()]);
    }
}

fn is_null_word(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("null"))
}

/// Whether the node says itself, or by a direct branch, that null is allowed.
fn allows_null(node: &Map<String, Value>) -> bool {
    let by_type = match node.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        _ => false,
    };
    by_type
        || node.get("nullable") == Some(&Value::Bool(true))
        || ["anyOf", "oneOf"]
            .into_iter()
            .any(|union| branches(node, union).iter().any(nullable::is_null))
}

#[cfg(test)]
mod tests;

//! Which function each case calls. One module for each area; a module's functions turn the input
//! of a case into a call and its result into JSON.

mod addresses;
mod approval;
mod checkpoint;
mod commands;
mod definitions;
mod edit;
mod file_tools;
mod guard;
mod hooks;
mod limits;
mod paths;
mod registry;
mod schema;
mod search;
mod terminal;
mod terminal_policy;
mod terminal_tools;
mod todo;
mod toolsets;
mod turn;

use serde_json::Value;

/// How a case is run.
#[derive(Clone, Copy)]
pub(crate) enum Binding {
    /// Gives an object; the keys that the case expects must have equal values in it.
    Actual(fn(&Value) -> Result<Value, String>),
    /// Compares by itself, where equality isn't what the case is about.
    Checked(fn(&Value, &Value) -> Result<(), String>),
}

const AREAS: &[&[(&str, Binding)]] = &[
    addresses::AREA,
    approval::AREA,
    checkpoint::AREA,
    commands::AREA,
    definitions::AREA,
    file_tools::AREA,
    edit::AREA,
    hooks::AREA,
    guard::AREA,
    limits::AREA,
    paths::AREA,
    registry::AREA,
    schema::AREA,
    search::AREA,
    terminal::AREA,
    terminal_policy::AREA,
    terminal_tools::AREA,
    todo::AREA,
    toolsets::AREA,
    turn::AREA,
];

/// What the cases of `function` run.
pub(crate) fn lookup(function: &str) -> Option<Binding> {
    let bound = AREAS.iter().copied().flatten();
    bound.into_iter().find(|(name, _)| *name == function).map(|(_, binding)| *binding)
}

/// The text under `key`.
fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value.get(key).and_then(Value::as_str).ok_or_else(|| format!("no text {key:?} in {value}"))
}

/// The list under `key`; empty if there is none.
fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(format!("{key:?} is no list: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_bound_once() {
        let mut names: Vec<_> = AREAS.iter().copied().flatten().map(|(name, _)| name).collect();
        names.sort_unstable();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
}

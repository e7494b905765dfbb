//! Adapters from the inputs of conformance cases to public functions, one module per area.

use serde_json::Value;

pub(crate) mod search;

/// How a case's function is run.
#[derive(Clone, Copy)]
pub(crate) enum Binding {
    /// Returns what came out; every key of `expect` must be in it with an equal value.
    Actual(fn(&Value) -> Result<Value, String>),
    /// Compares with `expect` by itself.
    Checked(fn(&Value, &Value) -> Result<(), String>),
}

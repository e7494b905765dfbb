//! Bindings of case functions to the crates that own them.

use serde_json::Value;

pub(crate) mod schema;

/// How a case function is run and judged.
pub(crate) enum Binding {
    /// Gives the actual outcome, to be compared with `expect` key by key.
    Actual(fn(&Value) -> Result<Value, String>),
    /// Compares by itself.
    Checked(fn(&Value, &Value) -> Result<(), String>),
}

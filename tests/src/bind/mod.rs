//! Which public function each `fn` of the cases is bound to.

use serde_json::Value;

mod toolsets;

/// How a case is run.
pub(crate) enum Binding {
    /// Gives what came out, to be compared with `expect` key by key.
    Actual(fn(&Value) -> Result<Value, String>),
    /// Does its own comparing.
    Checked(fn(&Value, &Value) -> Result<(), String>),
}

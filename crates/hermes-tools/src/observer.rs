//! Who is told of calls while they run.

use hermes_registry::Tool;
use serde_json::Value;

use crate::call::CallOutcome;

/// Watches calls, for progress lines, logs and user interfaces. Methods must not block; a panic
/// in one is no failure of the call.
pub trait CallObserver: Send + Sync {
    /// The call passed all gates and starts. `args` are final; values of secret parameters are
    /// masked.
    fn started(&self, call: &str, tool: &Tool, args: &Value) {
        let _ = (call, tool, args);
    }

    /// The call has its outcome, also when it never started.
    fn completed(&self, outcome: &CallOutcome) {
        let _ = outcome;
    }
}

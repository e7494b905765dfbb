//! Who is told of calls while they run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

    /// The call has its outcome, also when it never started. `risk` in it is worth a warning.
    fn completed(&self, outcome: &CallOutcome) {
        let _ = outcome;
    }

    /// A batch is still at work: told about every 30 s.
    fn heartbeat(&self, running: &[RunningCall]) {
        let _ = running;
    }
}

/// A call that takes long.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunningCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: Arc<str>,
    /// How long it has been running.
    pub running: Duration,
    pub(crate) since: Instant,
}

/// Tells an observer, whose own faults are no reason to lose a result.
pub(crate) fn tell(observer: Option<&Arc<dyn CallObserver>>, what: impl FnOnce(&dyn CallObserver)) {
    if let Some(observer) = observer {
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| what(&**observer)));
    }
}

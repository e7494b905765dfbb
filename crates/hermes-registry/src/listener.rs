//! Who hears of calls as they begin.

use crate::CallIds;

/// Hears of every call of a runtime as it begins. For services that must know that something
/// else was done in between, whatever it was.
///
/// It stands on the way of each call, so it must be quick and must not block.
pub trait CallListener: Send + Sync {
    /// The call passed all gates, and its handler is about to begin. `tool` is the registered
    /// name.
    fn started(&self, ids: &CallIds, tool: &str);
}

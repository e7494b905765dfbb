//! Tools that call tools.

use serde_json::Value;

use crate::{ToolContext, ToolFuture};

/// Takes a call of a running tool through the pipeline that its own call came through, with the
/// same session, permissions, approvals and cancellation.
pub trait ToolCaller: Send + Sync {
    /// Calls tool `name` on behalf of the call that `cx` belongs to.
    ///
    /// The result is the tool's, with hooks and transformations applied, at full length and
    /// without the frame that models see.
    fn call_tool(&self, cx: &ToolContext, name: &str, args: Value) -> ToolFuture;
}

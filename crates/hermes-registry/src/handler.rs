//! From a typed function to something the dispatcher can start.

use std::future::{Future, ready};
use std::pin::Pin;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ToolContext, ToolError, ToolOutput};

/// What a handler returns.
pub type ToolResult = Result<ToolOutput, ToolError>;

/// A call in progress.
pub type ToolFuture = Pin<Box<dyn Future<Output = ToolResult> + Send>>;

/// A call that was started: to be awaited, or to be run where blocking is allowed.
pub enum Invocation {
    /// From an `async fn`.
    Async(ToolFuture),
    /// From a blocking `fn`.
    Blocking(Box<dyn FnOnce() -> ToolResult + Send>),
}

impl std::fmt::Debug for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Async(_) => "Invocation::Async",
            Self::Blocking(_) => "Invocation::Blocking",
        })
    }
}

/// A function that can stand behind a tool: `async fn(Args, ToolContext) -> ToolResult`, or the
/// same without `async`, which then runs on a thread where it may block.
///
/// `Args` is any `Deserialize + JsonSchema` type; its schema is what the model is shown, so that
/// schema and parser can't drift apart. `Marker` only keeps the two forms apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't handle a tool call",
    note = "a handler is `async fn(Args, ToolContext) -> ToolResult` or `fn(Args, ToolContext) -> ToolResult`",
    note = "`Args` must implement `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait Handler<Marker>: Copy + Send + Sync + 'static {
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    /// Starts a call.
    fn start(self, args: Self::Args, cx: ToolContext) -> Invocation;
}

/// Marks handlers that are `async fn`.
#[derive(Debug)]
pub struct AsyncMarker;

/// Marks handlers that block.
#[derive(Debug)]
pub struct BlockingMarker;

impl<F, A, Fut> Handler<(AsyncMarker, A, Fut)> for F
where
    F: Fn(A, ToolContext) -> Fut + Copy + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output = ToolResult> + Send + 'static,
{
    type Args = A;

    fn start(self, args: A, cx: ToolContext) -> Invocation {
        Invocation::Async(Box::pin(self(args, cx)))
    }
}

impl<F, A> Handler<(BlockingMarker, A)> for F
where
    F: Fn(A, ToolContext) -> ToolResult + Copy + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    type Args = A;

    fn start(self, args: A, cx: ToolContext) -> Invocation {
        Invocation::Blocking(Box::new(move || self(args, cx)))
    }
}

/// The schema of a handler's arguments.
#[doc(hidden)]
pub fn handler_schema<M, H: Handler<M>>(_: H) -> Value {
    crate::schema::schema_of::<H::Args>()
}

/// Parses the arguments and starts a call.
#[doc(hidden)]
pub fn start_handler<M, H: Handler<M>>(handler: H, args: Value, cx: ToolContext) -> Invocation {
    match serde_json::from_value::<H::Args>(args) {
        Ok(args) => handler.start(args, cx),
        // Arguments were validated before, so this is about rules that a schema can't tell.
        Err(err) => Invocation::Async(Box::pin(ready(Err(ToolError::invalid_arguments(format!(
            "the arguments don't fit: {err}"
        )))))),
    }
}

/// A handler that was made at run time: a foreign server's tool, a plugin's, an embedder's closure.
pub trait DynHandler: Send + Sync {
    /// Starts a call with validated arguments.
    fn start(&self, args: Value, cx: ToolContext) -> Invocation;
}

impl<F> DynHandler for F
where
    F: Fn(Value, ToolContext) -> ToolFuture + Send + Sync,
{
    fn start(&self, args: Value, cx: ToolContext) -> Invocation {
        Invocation::Async(self(args, cx))
    }
}

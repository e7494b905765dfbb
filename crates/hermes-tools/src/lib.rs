#![doc = include_str!("../README.md")]

mod approval;
mod arguments;
mod audit;
mod batch;
mod call;
mod canonical_path;
mod checkpoint;
mod definitions;
mod directory_hints;
mod edit_review;
pub mod error_text;
mod execute;
mod extensions;
mod finish;
mod gates;
mod linked;
mod middleware;
mod nested;
mod observer;
mod patch_paths;
mod payload;
mod pipeline;
mod prepared;
mod resolve;
mod result_store;
mod runtime;
mod session;
mod spans;
mod view;
mod way;

pub use call::{Arguments, CallOutcome, CallStatus, Effect, ToolCall};
pub use canonical_path::canonical_path;
pub use checkpoint::{CheckpointFuture, Checkpointer};
pub use definitions::Definitions;
pub use edit_review::{EditReviewer, ReviewFuture};
pub use extensions::Extensions;
pub use gates::{Decision, Gate};
pub use hermes_schema::lower;
pub use hermes_schema::lower::ToolFormat;
/// The terminal, for hosts that lend machines and processes to their sessions.
#[cfg(feature = "terminal")]
pub use hermes_tool_terminal as tool_terminal;
/// The to-do list, for hosts that lend its store to their sessions.
#[cfg(feature = "todo")]
pub use hermes_tool_todo as tool_todo;
pub use hermes_toolsets::{credentials, distribution, suggest};
pub use hermes_turn::{argument_text, message_pairs};
pub use linked::{FEATURES, linked};
pub use middleware::{
    AroundFuture, CallInfo, ExecutionMiddleware, MIDDLEWARE_SCHEMA, Next, RequestChange,
    RequestFuture, RequestMiddleware,
};
pub use observer::{CallObserver, RunningCall};
pub use result_store::{Keep, RESULTS_FOLDER, ResultStore, StoreFuture};
pub use runtime::{DEFAULT_TIMEOUT, DryRun, Runtime, RuntimeBuilder};
pub use session::{DenyListError, Session, SessionOptions, ToolSelection, platform_selection};
/// Asking a person, and the log of calls; who read and wrote which files; hooks; spawning.
pub use {
    hermes_approval as approvals, hermes_audit as audit_log, hermes_file_state as file_state,
    hermes_hooks as hooks, hermes_task as task,
};
pub use {hermes_search as search, hermes_toolsets as toolset};

#![doc = include_str!("../README.md")]

mod arguments;
mod call;
mod canonical_path;
mod definitions;
pub mod error_text;
mod execute;
mod gates;
mod linked;
mod observer;
mod pipeline;
mod prepared;
mod resolve;
mod runtime;
mod session;
pub use hermes_task as task;
mod view;

pub use call::{Arguments, CallOutcome, CallStatus, Effect, ToolCall};
pub use canonical_path::canonical_path;
pub use definitions::Definitions;
pub use gates::{Decision, Gate};
pub use hermes_schema::lower;
pub use hermes_schema::lower::ToolFormat;
/// The to-do list, for hosts that lend its store to their sessions.
#[cfg(feature = "todo")]
pub use hermes_tool_todo as tool_todo;
pub use hermes_toolsets::{credentials, distribution, suggest};
pub use linked::{FEATURES, linked};
pub use observer::CallObserver;
pub use runtime::{DEFAULT_TIMEOUT, DryRun, Runtime, RuntimeBuilder};
pub use session::{DenyListError, Session, SessionOptions, ToolSelection, platform_selection};
pub use {hermes_search as search, hermes_toolsets as toolset};

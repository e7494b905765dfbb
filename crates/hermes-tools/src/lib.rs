#![doc = include_str!("../README.md")]

mod arguments;
mod call;
pub mod credentials;
mod definitions;
pub mod distribution;
pub mod error_text;
mod execute;
mod gates;
mod linked;
pub mod name_repair;
mod observer;
mod pipeline;
mod prepared;
mod resolve;
mod runtime;
pub mod search;
mod session;
pub mod suggest;
pub mod task;
pub mod toolset;
mod view;

pub use call::{Arguments, CallOutcome, CallStatus, Effect, ToolCall};
pub use definitions::Definitions;
pub use gates::{Decision, Gate};
pub use hermes_schema::lower;
pub use hermes_schema::lower::ToolFormat;
/// The to-do list, for hosts that lend its store to their sessions.
#[cfg(feature = "todo")]
pub use hermes_tool_todo as tool_todo;
pub use linked::{FEATURES, linked};
pub use observer::CallObserver;
pub use runtime::{DEFAULT_TIMEOUT, DryRun, Runtime, RuntimeBuilder};
pub use session::{DenyListError, Session, SessionOptions, ToolSelection, platform_selection};

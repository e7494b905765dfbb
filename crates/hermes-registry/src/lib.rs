#![doc = include_str!("../README.md")]

mod availability;
mod caller;
mod cancel;
mod check;
mod context;
mod deadline;
mod error;
mod handler;
mod link;
mod listener;
mod name;
mod output;
mod overrides;
mod owner;
mod queries;
mod registry;
mod schema;
mod services;
mod settings;
mod snapshot;
mod spec;
pub mod template;
mod tool;

pub use availability::{AvailabilityCache, AvailabilityLimits, Clock, MonotonicClock, Verdict};
pub use caller::ToolCaller;
pub use cancel::{CancellationToken, Cancelled};
pub use check::{Check, CheckFn, DynCheck, Unavailable};
pub use context::{CallIds, CallSetup, Progress, Surface, ToolContext};
pub use deadline::{Deadline, PersonWait};
pub use error::{ErrorKind, ToolError};
pub use handler::{DynHandler, Handler, Invocation, ToolFuture, ToolResult};
pub use link::{TOOLS, linked_specs};
pub use listener::CallListener;
pub use name::{MAX_NAME_LEN, RESERVED_NAMES, is_valid_dynamic_name, is_valid_name};
pub use output::{Part, ToolOutput};
pub use overrides::{Overrides, OverridesFn, SchemaContext};
pub use owner::{Owner, Scope};
pub use queries::{ToolsetAvailability, UnavailableToolset, toolset_availability};
pub use registry::{Batch, Registered, Registrar, Registry, Rejection, Removed};
pub use schema::schema_of;
pub use services::Services;
pub use settings::Settings;
pub use snapshot::Snapshot;
pub use spec::{
    Access, CheckpointScope, Concurrency, EditProposal, EnvVar, Exposure, ForeseeFn, ForeseeFuture,
    Kind, Origin, PerTurnFn, ProposeFn, ResultLimit, ToolMeta, ToolSpec, Trust,
};
pub use tool::Tool;
// A tool crate may need no other dependency than this one.
pub use {schemars, serde, serde_json};

#[doc(hidden)]
pub mod __private {
    pub use crate::handler::{handler_schema, start_handler};
    pub use linkme;
}

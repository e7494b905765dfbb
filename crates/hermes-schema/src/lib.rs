//! JSON Schemas of tools: repairing foreign ones, lowering them for a model provider, and using
//! the registered one to coerce and validate a call's arguments.
//!
//! Two copies of a schema must not be confused. The *registered* schema is what the tool declared;
//! [`coerce`], [`drop_optional_nulls`] and [`Validator`] work from it, and MCP clients are served
//! it. What a model provider sees is the registered schema after [`repair`] and after the
//! provider's own pass in [`lower`]; it may say less, never more, and is never validated against.
//!
//! Nothing here does I/O, fetches a reference, keeps state or panics on hostile input: a schema
//! that cannot be handled is a [`SchemaError`] for that one tool.

mod coerce;
mod error;
pub mod lower;
mod merge;
mod normal;
mod nullable;
mod positions;
mod refs;
mod repair;
mod strip;
mod validate;

pub use coerce::coerce;
pub use error::SchemaError;
pub use nullable::collapse_nullable;
pub use refs::check as check_references;
pub use repair::repair;
pub use strip::{
    strip_pattern_format, strip_pattern_format_in_tools, strip_slash_enum,
    strip_slash_enum_in_tools,
};
pub use validate::{Issue, ValidationErrors, Validator, drop_optional_nulls};

/// The deepest schema accepted, in schema levels: one level is one step into `properties`,
/// `items`, a union branch or another place that holds a schema. The root is level 0.
pub const MAX_LEVELS: usize = 64;

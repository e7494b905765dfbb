//! Toolsets: named groups of tools, and who gets which.
//!
//! Everything here is a pure function over a [`ToolsetWorld`]: what is built in ([`catalog`]), what
//! the run-time registry holds, and the user's own `custom_toolsets`. [`select`] turns lists of
//! toolset names into tool names, [`platform_toolsets`] says which toolsets a platform gets,
//! [`toggle`] computes what turning some on or off would change, and [`validate_platform_toolsets`]
//! and [`validate_denials`] find the names that mean nothing.

pub mod catalog;
mod config;
mod custom;
mod edit;
mod issue;
mod platform;
mod resolve;
mod select;
mod toggle;
mod toggle_report;
mod validate;
mod world;

pub(crate) use config::{disabled_tools, disabled_toolsets};
pub use custom::{CustomError, CustomProblem, CustomToolsets};
pub use edit::ConfigEdit;
pub use issue::{NameIssue, NamePlace, NameProblem};
pub use platform::{PlatformRequest, PlatformToolsets, platform_toolsets};
pub use select::{SelectRequest, Selection, select};
pub use toggle::{Toggle, ToggleAction, ToggleRequest, UnknownPlatform, toggle};
pub use toggle_report::{
    BlockedTool, Blocker, ForeignTool, KeptTool, RejectReason, Rejection, ToolChanges,
};
pub(crate) use validate::waits_for_server;
pub use validate::{
    DenialError, PlatformToolsetsReport, UnknownToolset, validate_denials,
    validate_platform_toolsets,
};
pub use world::{Toolset, ToolsetWorld};

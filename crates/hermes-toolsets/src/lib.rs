#![doc = include_str!("../README.md")]

pub mod catalog;
mod config;
pub mod credentials;
mod custom;
pub mod distribution;
mod edit;
mod issue;
mod platform;
mod resolve;
mod select;
pub mod suggest;
mod toggle;
mod toggle_report;
mod validate;
mod world;

pub use config::{disabled_tools, disabled_toolsets};
pub use custom::{CustomError, CustomProblem, CustomToolsets};
pub use edit::ConfigEdit;
pub use issue::{NameIssue, NamePlace, NameProblem};
pub use platform::{PlatformRequest, PlatformToolsets, platform_toolsets};
pub use select::{SelectRequest, Selection, select};
pub use toggle::{Toggle, ToggleAction, ToggleRequest, UnknownPlatform, toggle};
pub use toggle_report::{
    BlockedTool, Blocker, ForeignTool, KeptTool, RejectReason, Rejection, ToolChanges,
};
pub use validate::{
    DenialError, PlatformToolsetsReport, UnknownToolset, validate_denials,
    validate_platform_toolsets, waits_for_server,
};
pub use world::{Toolset, ToolsetWorld};

#![doc = include_str!("../README.md")]

pub mod activation;
pub mod assemble;
pub mod bridge;
pub mod catalog;
pub mod config;
pub mod index;
pub mod name_repair;
pub(crate) mod tokens;

pub use activation::{MAX_TOOLS_PER_REQUEST, estimate_tokens, should_activate};
pub use assemble::{Assembly, ToolDefinition, assemble};
pub use bridge::{
    BRIDGE_NAMES, BridgeError, ResolvedCall, TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH,
    answer_describe, answer_search, bridge_definitions, is_bridge, resolve_call,
};
pub use catalog::{Catalog, CatalogEntry, ToolSource};
pub use config::{SearchMode, ToolSearchConfig};
pub use index::SearchIndex;

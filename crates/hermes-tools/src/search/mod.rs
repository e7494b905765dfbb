//! Tool search: showing a model a few tools and letting it find the rest.
//!
//! A session may be granted hundreds of tools, and their schemas would fill the model's context.
//! When that happens the deferrable ones are withheld and three bridge tools take their place:
//! `tool_search` finds tools by words, `tool_describe` shows one schema, `tool_call` calls one.
//!
//! - [`config`]: the `tools.tool_search` section of the configuration
//! - [`activation`]: what withheld tools would cost and whether to withhold them
//! - [`mod@assemble`]: the list of definitions that is sent
//! - [`catalog`]: what is searched, and the cache of its index
//! - [`index`]: ranking, over the tokens of `tokens`
//! - [`bridge`]: the three bridge tools
//!
//! Everything is a pure function of its arguments. Nothing here knows which tools are core: the
//! caller passes that in as a predicate.

pub mod activation;
pub mod assemble;
pub mod bridge;
pub mod catalog;
pub mod config;
pub mod index;
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

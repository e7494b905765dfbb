//! What tool search searches.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::index::SearchIndex;

/// Where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSource {
    /// An MCP server.
    Mcp,
    /// A plugin.
    Plugin,
    /// Anything else, such as a tool crate.
    Other,
}

impl ToolSource {
    /// The word shown to a model: `mcp`, `plugin` or `other`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Plugin => "plugin",
            Self::Other => "other",
        }
    }
}

/// A tool that can be found by searching.
#[derive(Debug, Clone)]
pub struct CatalogEntry {
    /// The tool's name.
    pub name: String,
    /// Where the tool comes from.
    pub source: ToolSource,
    /// The toolset under which the tool is registered.
    pub toolset: String,
    /// What the tool does.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Arc<Value>,
}

/// The deferrable tools of one session, ready to be searched.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<CatalogEntry>,
    positions: HashMap<String, usize>,
    index: SearchIndex,
}

impl Catalog {
    /// Indexes `entries`, whose order decides between equally good matches.
    #[must_use]
    pub fn new(entries: Vec<CatalogEntry>) -> Self {
        let index = SearchIndex::new(&entries);
        let mut positions = HashMap::with_capacity(entries.len());
        for (position, entry) in entries.iter().enumerate() {
            positions.entry(entry.name.clone()).or_insert(position);
        }
        Self { entries, positions, index }
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no tool at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tool of exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.entries.get(*self.positions.get(name)?)
    }

    /// Up to `limit` tools that match `query`, best first.
    pub fn search(&self, query: &str, limit: usize) -> impl Iterator<Item = &CatalogEntry> {
        self.index
            .search(query, limit)
            .into_iter()
            .filter_map(|position| self.entries.get(position))
    }
}

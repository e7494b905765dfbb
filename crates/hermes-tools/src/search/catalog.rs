//! What tool search searches, and the cache of its index.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::index::SearchIndex;

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

/// Keeps a session's catalogue until its key changes.
///
/// The key is what the catalogue depends on: the registry's generation, and whatever else decides
/// which tools a session has.
#[derive(Debug)]
pub struct CatalogCache<K> {
    latest: Mutex<Option<(K, Arc<Catalog>)>>,
}

impl<K> Default for CatalogCache<K> {
    fn default() -> Self {
        Self { latest: Mutex::new(None) }
    }
}

impl<K: PartialEq> CatalogCache<K> {
    /// The catalogue for `key`, made from `entries` unless it is the one at hand.
    pub fn get_or_build(
        &self,
        key: K,
        entries: impl FnOnce() -> Vec<CatalogEntry>,
    ) -> Arc<Catalog> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, catalog)) = latest.as_ref()
            && *known == key
        {
            return Arc::clone(catalog);
        }
        let catalog = Arc::new(Catalog::new(entries()));
        *latest = Some((key, Arc::clone(&catalog)));
        catalog
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entries(names: &[&str]) -> Vec<CatalogEntry> {
        let entry = |name: &&str| CatalogEntry {
            name: (*name).to_owned(),
            source: ToolSource::Other,
            toolset: "t".to_owned(),
            description: String::new(),
            parameters: Arc::new(json!({})),
        };
        names.iter().map(entry).collect()
    }

    #[test]
    fn cache_rebuilds_when_the_key_changes() {
        let cache = CatalogCache::default();
        let first = cache.get_or_build(1, || entries(&["a"]));
        assert!(Arc::ptr_eq(&first, &cache.get_or_build(1, || entries(&["b"]))));
        let second = cache.get_or_build(2, || entries(&["b"]));
        assert!(first.get("a").is_some() && second.get("a").is_none());
        assert_eq!(second.len(), 1);
    }
}

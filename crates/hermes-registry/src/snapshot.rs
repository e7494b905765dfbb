//! One immutable state of the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::check::Check;
use crate::{Owner, Scope, Tool};

/// What was registered at one moment. Readers hold a snapshot and see no later change.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(crate) generation: u64,
    // One layer for all profiles and one for each profile; a name is in at most one of the two
    // layers that a profile sees.
    pub(crate) layers: BTreeMap<Scope, BTreeMap<Arc<str>, Arc<Tool>>>,
    pub(crate) aliases: BTreeMap<Arc<str>, Arc<str>>,
    pub(crate) may_override: BTreeSet<Arc<str>>,
}

impl Snapshot {
    /// Rises by one with every change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The tool of that name that all profiles see.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.get_in(&Scope::Global, name)
    }

    /// The tool of that name that a profile sees.
    pub fn get_in(&self, scope: &Scope, name: &str) -> Option<&Arc<Tool>> {
        self.layers
            .get(scope)
            .and_then(|layer| layer.get(name))
            .or_else(|| self.layers.get(&Scope::Global)?.get(name))
    }

    /// The tools that all profiles see, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.layers.get(&Scope::Global).into_iter().flat_map(BTreeMap::values)
    }

    /// The tools that a profile sees, by name.
    pub fn tools_in(&self, scope: &Scope) -> Vec<&Arc<Tool>> {
        if *scope == Scope::Global {
            return self.tools().collect();
        }
        let own = self.layers.get(scope).into_iter().flat_map(BTreeMap::values);
        let mut tools: Vec<_> = self.tools().chain(own).collect();
        tools.sort_by(|a, b| a.name().cmp(b.name()));
        tools
    }

    /// Where each alias points, by alias.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(alias, target)| (&**alias, &**target))
    }

    /// The names of the toolsets that have a tool, sorted.
    pub fn toolsets(&self) -> BTreeSet<&str> {
        self.layers.values().flat_map(BTreeMap::values).map(|tool| tool.toolset()).collect()
    }

    /// The distinct probes of some tools, in order of first use.
    pub fn distinct_checks<'a>(tools: impl IntoIterator<Item = &'a Arc<Tool>>) -> Vec<Check> {
        let mut seen = BTreeSet::new();
        tools
            .into_iter()
            .filter_map(|tool| tool.check())
            .filter(|check| seen.insert(check.address()))
            .cloned()
            .collect()
    }

    /// Whether the operator lets a plugin replace other owners' tools.
    pub(crate) fn may_override(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Plugin { id } => self.may_override.contains(id),
            Owner::Mcp { .. } => false,
            Owner::Builtin { .. } | Owner::User => true,
        }
    }

    /// The tool that a registration under `scope` would shadow or be shadowed by.
    pub(crate) fn rival(&self, scope: &Scope, name: &str) -> Option<&Arc<Tool>> {
        match scope {
            Scope::Global => self.layers.values().find_map(|layer| layer.get(name)),
            Scope::Profile(_) => self.get_in(scope, name),
        }
    }

    /// Drops the aliases of a toolset that has no tool left.
    pub(crate) fn drop_orphaned_aliases(&mut self, toolset: &str) {
        let left = self.layers.values().flat_map(BTreeMap::values);
        if !left.into_iter().any(|tool| tool.toolset() == toolset) {
            self.aliases.retain(|_, target| **target != *toolset);
        }
    }
}

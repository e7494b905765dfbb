//! The value all toolset questions are asked of.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::{self, StaticToolset};
use crate::custom::CustomToolsets;

/// The definition of a toolset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolset {
    /// One line for lists.
    pub description: Cow<'static, str>,
    /// The toolset's own tools. They need not be registered.
    pub tools: Vec<Cow<'static, str>>,
    /// Toolsets whose tools belong to this one as well. Unknown ones add nothing.
    pub includes: Vec<Cow<'static, str>>,
    /// Whether it stands for a way of working that is chosen for a whole session; turning it off
    /// then leaves the core tools alone.
    pub posture: bool,
}

impl From<&StaticToolset> for Toolset {
    fn from(set: &StaticToolset) -> Self {
        Self {
            description: Cow::Borrowed(set.description),
            tools: set
                .tools
                .iter()
                .flat_map(|group| group.iter().copied())
                .map(Cow::from)
                .collect(),
            includes: set.includes.iter().copied().map(Cow::from).collect(),
            posture: set.posture,
        }
    }
}

/// All that decides which tools a toolset name stands for.
///
/// Build it once per registry generation: every answer borrows from it.
#[derive(Clone, Debug, Default)]
pub struct ToolsetWorld {
    pub(super) toolsets: BTreeMap<Cow<'static, str>, Toolset>,
    pub(super) custom: BTreeSet<Arc<str>>,
    /// Toolset -> its registered tools.
    pub(super) registered: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Registered tool -> its toolset.
    pub(super) owners: BTreeMap<Arc<str>, Arc<str>>,
    pub(super) aliases: BTreeMap<Arc<str>, Arc<str>>,
    pub(super) platforms: BTreeSet<Arc<str>>,
}

impl ToolsetWorld {
    /// A world without toolsets and tools.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The built-in toolsets ([`catalog::TOOLSETS`]), with no tool registered.
    #[must_use]
    pub fn builtin() -> Self {
        let toolsets = catalog::TOOLSETS
            .iter()
            .map(|set| (Cow::Borrowed(set.name), Toolset::from(set)))
            .collect();
        Self { toolsets, ..Self::default() }
    }

    /// The same world with tools (name, toolset) registered. A name that is registered already
    /// keeps its toolset.
    #[must_use]
    pub fn with_registered<N, T>(mut self, tools: impl IntoIterator<Item = (N, T)>) -> Self
    where
        N: Into<Arc<str>>,
        T: Into<Arc<str>>,
    {
        for (name, toolset) in tools {
            let name = name.into();
            if !self.owners.contains_key(&name) {
                let toolset = toolset.into();
                self.registered.entry(Arc::clone(&toolset)).or_default().insert(Arc::clone(&name));
                self.owners.insert(name, toolset);
            }
        }
        self
    }

    /// The same world with toolset aliases (alias, toolset or other alias).
    #[must_use]
    pub fn with_aliases<A, T>(mut self, aliases: impl IntoIterator<Item = (A, T)>) -> Self
    where
        A: Into<Arc<str>>,
        T: Into<Arc<str>>,
    {
        self.aliases.extend(aliases.into_iter().map(|(alias, to)| (alias.into(), to.into())));
        self
    }

    /// The same world with platforms that plugins brought.
    #[must_use]
    pub fn with_platforms<P: Into<Arc<str>>>(
        mut self,
        platforms: impl IntoIterator<Item = P>,
    ) -> Self {
        self.platforms.extend(platforms.into_iter().map(Into::into));
        self
    }

    /// The same world with a toolset added, or put in place of the one of that name.
    #[must_use]
    pub fn with_toolset(mut self, name: impl Into<Cow<'static, str>>, toolset: Toolset) -> Self {
        self.toolsets.insert(name.into(), toolset);
        self
    }

    /// The same world with the user's own toolsets; they may redefine built-in ones.
    #[must_use]
    pub fn with_custom(mut self, custom: &CustomToolsets) -> Self {
        for (name, toolset) in custom.iter() {
            self.custom.insert(Arc::from(name));
            self.toolsets.insert(Cow::Owned(name.to_owned()), toolset.clone());
        }
        self
    }

    /// The toolset a registered tool belongs to.
    #[must_use]
    pub fn owner(&self, tool: &str) -> Option<&str> {
        self.owners.get(tool).map(|toolset| &**toolset)
    }

    /// The definition of a built-in or custom toolset, without registered tools.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&Toolset> {
        self.toolsets.get(name)
    }

    /// Whether the user defined this toolset.
    #[must_use]
    pub fn is_custom(&self, name: &str) -> bool {
        self.custom.contains(name)
    }

    pub(super) fn custom_names(&self) -> impl Iterator<Item = &str> {
        self.custom.iter().map(|name| &**name)
    }

    /// Whether the platform is built in or was brought by a plugin.
    #[must_use]
    pub fn is_platform(&self, platform: &str) -> bool {
        catalog::PLATFORMS.iter().any(|(name, _)| *name == platform)
            || self.platforms.contains(platform)
    }

    /// All platforms, sorted.
    #[must_use]
    pub fn platforms(&self) -> BTreeSet<&str> {
        catalog::PLATFORMS
            .iter()
            .map(|(name, _)| *name)
            .chain(self.platforms.iter().map(|name| &**name))
            .collect()
    }

    /// Every tool that is registered or named by a toolset, sorted.
    #[must_use]
    pub fn tools(&self) -> BTreeSet<&str> {
        let named = self.toolsets.values().flat_map(|toolset| &toolset.tools).map(|tool| &**tool);
        self.owners.keys().map(|tool| &**tool).chain(named).collect()
    }

    /// Whether the tool is registered or named by a toolset.
    #[must_use]
    pub fn is_tool(&self, name: &str) -> bool {
        self.owners.contains_key(name)
            || self.toolsets.values().any(|toolset| toolset.tools.iter().any(|tool| tool == name))
    }

    /// The toolsets to turn on for a tool: the one it is registered in and those that list it,
    /// without postures and platform bundles. Sorted.
    #[must_use]
    pub fn toolsets_with(&self, tool: &str) -> Vec<&str> {
        let listing = self
            .toolsets
            .iter()
            .filter(|(name, set)| {
                !set.posture && !name.starts_with("hermes-") && set.tools.iter().any(|t| t == tool)
            })
            .map(|(name, _)| &**name);
        let all: BTreeSet<&str> = self.owner(tool).into_iter().chain(listing).collect();
        all.into_iter().collect()
    }
}

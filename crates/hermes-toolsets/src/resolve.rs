//! From the name of a toolset to its tools.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::catalog;
use crate::world::{Toolset, ToolsetWorld};

/// What a toolset name stands for once aliases are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'w> {
    /// `all` and `*`.
    Everything,
    /// A built-in or custom toolset.
    Defined(&'w str, &'w Toolset),
    /// A toolset that exists because tools are registered in it.
    Registered(&'w str),
    /// The bundle of a platform that a plugin brought; the platform.
    Platform(&'w str),
}

impl<'w> Found<'w> {
    /// The canonical name; for a plugin's platform the toolset that holds its tools.
    pub(super) fn name(self) -> &'w str {
        match self {
            Self::Everything => "all",
            Self::Defined(name, _) | Self::Registered(name) | Self::Platform(name) => name,
        }
    }

    /// Whether turning it off leaves the core tools alone.
    fn preserves_core(self) -> bool {
        match self {
            Self::Everything | Self::Registered(_) => false,
            Self::Defined(name, toolset) => toolset.posture || name.starts_with("hermes-"),
            Self::Platform(_) => true,
        }
    }

    fn includes(self) -> impl Iterator<Item = &'w str> {
        let includes = match self {
            Self::Defined(_, toolset) => toolset.includes.as_slice(),
            _ => &[],
        };
        includes.iter().map(|name| &**name)
    }
}

/// Which tools of a toolset count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Those in the definition and those registered.
    Merged,
    /// Those in the definition only.
    Static,
}

impl ToolsetWorld {
    /// Whether the name stands for a toolset. Names are taken as they are: case counts and blanks
    /// are not trimmed.
    #[must_use]
    pub fn is_valid(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The tools of a toolset, its includes and what is registered in any of them; sorted, without
    /// duplicates, and empty for an unknown name.
    ///
    /// Tools need not be registered. Diamonds, cycles and includes that don't exist are no errors.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Vec<&str> {
        self.resolve_many([name])
    }

    /// The union of [`resolve`](Self::resolve) over several names.
    #[must_use]
    pub fn resolve_many<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&str> {
        let mut tools = Tools::new(self, View::Merged);
        for name in names {
            tools.add(name);
        }
        tools.sorted()
    }

    /// The same without what came at run time: the tools that the definitions alone give. A toolset
    /// known only from the registry is empty then, and so is the bundle of a plugin's platform.
    #[must_use]
    pub fn resolve_static(&self, name: &str) -> Vec<&str> {
        let mut tools = Tools::new(self, View::Static);
        tools.add(name);
        tools.sorted()
    }

    /// The names to show, sorted: defined toolsets, and those known from the registry under an
    /// alias if they have a usable one.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut shown = BTreeMap::new();
        for (alias, target) in &self.aliases {
            if self.is_usable_alias(alias) {
                shown.entry(&**target).or_insert(&**alias);
            }
        }
        let registered = self.registered.keys().map(|name| &**name);
        let registered = registered
            .filter(|name| !self.toolsets.contains_key(*name))
            .map(|name| shown.get(name).copied().unwrap_or(name));
        let names: BTreeSet<&str> =
            self.toolsets.keys().map(|name| &**name).chain(registered).collect();
        names.into_iter().collect()
    }

    /// Every name that [`is_valid`](Self::is_valid) accepts, but for `all` and `*`.
    pub(super) fn valid_names(&self) -> BTreeSet<&str> {
        self.toolsets
            .keys()
            .map(|name| &**name)
            .chain(self.registered.keys().map(|name| &**name))
            .chain(self.aliases.keys().map(|name| &**name).filter(|name| self.is_valid(name)))
            .collect()
    }

    /// An alias that hides nothing. An MCP server named `web` makes the alias `web`, which must not
    /// lead anywhere: the built-in toolset has that name.
    fn is_usable_alias(&self, alias: &str) -> bool {
        !is_everything(alias)
            && !self.toolsets.contains_key(alias)
            && !self.registered.contains_key(alias)
    }

    pub(super) fn find(&self, name: &str) -> Option<Found<'_>> {
        let mut name = name;
        // A chain of aliases longer than their number has passed one of them twice.
        for _ in 0..=self.aliases.len() {
            if let Some(found) = self.find_unaliased(name) {
                return Some(found);
            }
            match self.aliases.get(name) {
                Some(target) => name = target,
                None => return self.find_platform(name),
            }
        }
        None
    }

    fn find_unaliased(&self, name: &str) -> Option<Found<'_>> {
        if is_everything(name) {
            return Some(Found::Everything);
        }
        if let Some((name, toolset)) = self.toolsets.get_key_value(name) {
            return Some(Found::Defined(name, toolset));
        }
        self.registered.get_key_value(name).map(|(name, _)| Found::Registered(name))
    }

    fn find_platform(&self, name: &str) -> Option<Found<'_>> {
        let platform = name.strip_prefix("hermes-")?;
        self.platforms.get(platform).map(|platform| Found::Platform(platform))
    }

    /// The tools that turning a toolset off takes away; none if the name is neither a toolset nor
    /// an old name.
    ///
    /// Bundles and postures are built on the core tools, which everything shares: turning one of
    /// them off takes only what it has beyond those.
    pub(super) fn taken_by(&self, name: &str) -> Option<Vec<&str>> {
        match self.find(name) {
            Some(found) if found.preserves_core() || name.starts_with("hermes-") => {
                Some(self.non_core_tools(found).collect())
            }
            Some(_) => Some(self.resolve(name)),
            None => catalog::legacy(name).map(<[_]>::to_vec),
        }
    }

    /// A toolset's own tools and those of its includes, one level deep, without core tools.
    fn non_core_tools(&self, found: Found<'_>) -> impl Iterator<Item = &str> {
        let direct = found.includes().filter_map(|name| self.find(name));
        std::iter::once(found)
            .chain(direct)
            .flat_map(|found| self.own_tools(found, View::Merged))
            .filter(|tool| !catalog::is_core(tool))
            .collect::<BTreeSet<_>>()
            .into_iter()
    }

    fn own_tools<'w>(&'w self, found: Found<'_>, view: View) -> impl Iterator<Item = &'w str> {
        let defined = match found {
            Found::Defined(name, _) => {
                self.toolsets.get(name).map_or(&[][..], |set| set.tools.as_slice())
            }
            _ => &[],
        };
        let core = match (view, found) {
            (View::Merged, Found::Platform(_)) => catalog::CORE,
            _ => &[],
        };
        let registered = match (view, found) {
            (View::Static, _) | (_, Found::Everything) => None,
            (View::Merged, found) => self.registered.get(found.name()),
        };
        let registered = registered.into_iter().flatten().map(|tool| &**tool);
        defined.iter().map(|tool| &**tool).chain(core.iter().copied()).chain(registered)
    }
}

fn is_everything(name: &str) -> bool {
    matches!(name, "all" | "*")
}

/// Tools being collected. Keeps its own stack: includes may form chains of any length.
struct Tools<'w> {
    world: &'w ToolsetWorld,
    view: View,
    seen: HashSet<(bool, &'w str)>,
    tools: HashSet<&'w str>,
}

impl<'w> Tools<'w> {
    fn new(world: &'w ToolsetWorld, view: View) -> Self {
        Self { world, view, seen: HashSet::new(), tools: HashSet::new() }
    }

    fn add(&mut self, name: &str) {
        let mut stack = Vec::from_iter(self.world.find(name));
        while let Some(found) = stack.pop() {
            if !self.seen.insert((matches!(found, Found::Platform(_)), found.name())) {
                continue;
            }
            if found == Found::Everything {
                stack.extend(self.world.names().into_iter().filter_map(|n| self.world.find(n)));
            }
            self.tools.extend(self.world.own_tools(found, self.view));
            stack.extend(found.includes().filter_map(|name| self.world.find(name)));
        }
    }

    fn sorted(self) -> Vec<&'w str> {
        let mut tools = Vec::from_iter(self.tools);
        tools.sort_unstable();
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tools: &[&'static str], includes: &[&'static str]) -> Toolset {
        Toolset {
            tools: tools.iter().map(|&tool| tool.into()).collect(),
            includes: includes.iter().map(|&name| name.into()).collect(),
            ..Toolset::default()
        }
    }

    #[test]
    fn registered_tools_join_a_defined_toolset_except_in_the_static_view() {
        let world = ToolsetWorld::builtin().with_registered([
            ("read_terminal", "terminal"),
            ("browser_cdp", "browser-cdp"),
            ("irc_whois", "irc"),
        ]);
        assert_eq!(world.resolve("terminal"), ["process", "read_terminal", "terminal"]);
        assert_eq!(world.resolve_static("terminal"), ["process", "terminal"]);
        assert!(world.is_valid("browser-cdp"));
        assert!(world.resolve_static("browser-cdp").is_empty());
        assert!(!world.is_valid("hermes-irc"));
        let world = world.with_platforms(["irc"]);
        assert!(world.is_valid("hermes-irc"));
        assert_eq!(world.resolve("hermes-irc").len(), catalog::CORE.len() + 1);
        for unknown in ["Web", " web", "hermes", ""] {
            assert!(!world.is_valid(unknown) && world.resolve(unknown).is_empty(), "{unknown}");
        }
    }

    #[test]
    fn aliases_expand_fully_and_loops_are_no_names() {
        let world = ToolsetWorld::builtin()
            .with_registered([("mcp__web__x", "mcp-web"), ("mcp__gh__y", "mcp-gh")])
            .with_aliases([
                ("dbg", "debugging"),
                ("dbg2", "dbg"),
                ("web", "mcp-web"),
                ("gh", "mcp-gh"),
                ("a", "b"),
                ("b", "a"),
                ("self", "self"),
                ("lost", "nowhere"),
            ]);
        assert_eq!(world.resolve("dbg2"), world.resolve("debugging"));
        assert_eq!(world.resolve("gh"), ["mcp__gh__y"]);
        assert_eq!(world.resolve("web"), ["web_extract", "web_search"]);
        assert_eq!(world.resolve("mcp-web"), ["mcp__web__x"]);
        for invalid in ["a", "b", "self", "lost"] {
            assert!(!world.is_valid(invalid) && world.resolve(invalid).is_empty(), "{invalid}");
        }
        let names = world.names();
        assert!(names.contains(&"gh") && !names.contains(&"mcp-gh"));
        assert!(names.contains(&"mcp-web"));
        assert_eq!(names.iter().filter(|name| **name == "web").count(), 1);
    }

    #[test]
    fn chains_diamonds_and_cycles_end() {
        let mut world = ToolsetWorld::empty();
        for i in 0..5000 {
            let next = format!("c{}", i + 1);
            let toolset = Toolset {
                tools: vec![format!("t{i}").into()],
                includes: vec![next.into()],
                ..Toolset::default()
            };
            world = world.with_toolset(format!("c{i}"), toolset);
        }
        assert_eq!(world.resolve("c0").len(), 5000);
        assert_eq!(world.resolve("c4999"), ["t4999"]);
        let world = ToolsetWorld::empty()
            .with_toolset("a", set(&["ta"], &["b", "all", "missing"]))
            .with_toolset("b", set(&["tb"], &["a"]))
            .with_toolset("c", set(&["tc"], &[]));
        assert_eq!(world.resolve("a"), ["ta", "tb", "tc"]);
        assert_eq!(world.resolve("b"), ["ta", "tb", "tc"]);
        assert_eq!(world.resolve("*"), ["ta", "tb", "tc"]);
    }

    #[test]
    fn validity_agrees_with_resolution() {
        let world =
            ToolsetWorld::builtin().with_platforms(["irc"]).with_aliases([("i", "hermes-irc")]);
        for name in world.valid_names().into_iter().chain(["all", "*", "hermes-irc", "i"]) {
            assert!(world.is_valid(name), "{name}");
            assert!(!world.resolve(name).is_empty() || name == "context_engine", "{name}");
        }
        assert_eq!(world.resolve("i"), catalog::CORE);
        assert_eq!(world.resolve("hermes-gateway").len(), 64);
    }
}

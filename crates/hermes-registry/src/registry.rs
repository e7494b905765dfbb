//! The run-time set of tools: who may add, replace and remove what.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::owner::{Owner, Scope, describe};
use crate::{RESERVED_NAMES, Snapshot, Tool, is_valid_dynamic_name, linked_specs};

/// The run-time set of tools. A value: a program may have several. Clones share one set.
///
/// Readers take a [`snapshot`](Self::snapshot) without a lock. Changes go through a
/// [`Registrar`], which knows in whose name it acts.
#[derive(Clone, Default)]
pub struct Registry {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    current: ArcSwap<Snapshot>,
    writing: Mutex<()>,
}

/// What a registration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The name was free.
    New,
    /// An earlier tool of the same owner, or one that the owner may override, was replaced.
    Replaced,
}

/// What a removal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// The tool is gone.
    Removed,
    /// There was no such tool.
    NotThere,
}

/// Why a change was refused. `Display` names both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The name belongs to the tool-search bridge.
    Reserved {
        /// The name.
        name: String,
    },
    /// Model providers would refuse the name.
    InvalidName {
        /// The name.
        name: String,
    },
    /// The name is taken.
    Taken {
        /// The name.
        name: String,
        /// Who has it.
        holder: String,
        /// Who wanted it.
        claimant: String,
    },
    /// A plugin asked to override without the operator's consent.
    OverrideNotAllowed {
        /// The name.
        name: String,
        /// The plugin.
        plugin: String,
    },
    /// Somebody else's tool was to be removed.
    NotTheOwner {
        /// The name.
        name: String,
        /// Who has it.
        holder: String,
        /// Who wanted to remove it.
        claimant: String,
    },
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserved { name } => {
                write!(f, "the tool name {name} is reserved for tool search; choose another")
            }
            Self::InvalidName { name } => write!(
                f,
                "{name:?} can't be a tool name: it needs 1 to 64 letters, digits, `_` or `-`"
            ),
            Self::Taken { name, holder, claimant } => write!(
                f,
                "the tool name {name} is taken: registered by {holder}, and again by {claimant}, \
                 which was refused"
            ),
            Self::OverrideNotAllowed { name, plugin } => write!(
                f,
                "plugin {plugin} may not override {name}: set \
                 plugins.entries.{plugin}.allow_tool_override to true to allow it"
            ),
            Self::NotTheOwner { name, holder, claimant } => {
                write!(f, "{claimant} may not remove {name}, which belongs to {holder}")
            }
        }
    }
}

impl std::error::Error for Rejection {}

impl Registry {
    /// A registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// A registry with all linked tools, and what was refused: of two declarations of one name
    /// the first (by crate) is kept.
    pub fn builtin() -> (Self, Vec<Rejection>) {
        let registry = Self::new();
        let mut rejections = Vec::new();
        registry.change(|snapshot| {
            for spec in linked_specs() {
                let tool = Tool::linked(spec);
                let owner = tool.owner().clone();
                // A crate that declares a name twice is no replacement of its own tool.
                if let Some(held) = snapshot.get(spec.name) {
                    rejections.push(Rejection::Taken {
                        name: spec.name.to_owned(),
                        holder: describe(held.owner(), held.origin()),
                        claimant: describe(&owner, Some(spec.origin)),
                    });
                } else if let Err(rejection) = insert(snapshot, tool, owner, Scope::Global, false) {
                    rejections.push(rejection);
                }
            }
        });
        (registry, rejections)
    }

    /// What is registered now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.current.load_full()
    }

    /// The number of changes so far.
    pub fn generation(&self) -> u64 {
        self.shared.current.load().generation
    }

    /// The one way to change the registry, in the name of `owner` and for all profiles.
    pub fn registrar(&self, owner: Owner) -> Registrar {
        Registrar { registry: self.clone(), owner, scope: Scope::Global }
    }

    /// Records whether the operator lets a plugin override tools of other owners.
    ///
    /// This is the key `plugins.entries.<id>.allow_tool_override`, read when the plugin is loaded.
    /// It is no change of the tools.
    pub fn allow_override(&self, plugin: &str, allowed: bool) {
        let _writing = self.shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&self.shared.current.load());
        if allowed {
            next.may_override.insert(plugin.into());
        } else {
            next.may_override.remove(plugin);
        }
        self.shared.current.store(Arc::new(next));
    }

    /// Applies a change to a copy and publishes it; a change without effect isn't published.
    fn change<T>(&self, apply: impl FnOnce(&mut Snapshot) -> T) -> T {
        let _writing = self.shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.shared.current.load_full();
        let mut next = Snapshot::clone(&current);
        let result = apply(&mut next);
        if next.generation != current.generation {
            self.shared.current.store(Arc::new(next));
        }
        result
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.current.load().fmt(f)
    }
}

/// Changes a registry in the name of one owner.
#[derive(Clone, Debug)]
pub struct Registrar {
    registry: Registry,
    owner: Owner,
    scope: Scope,
}

impl Registrar {
    /// The same owner, for one profile only.
    #[must_use]
    pub fn in_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Makes several changes at once: readers see all of them or none.
    ///
    /// A change that is refused doesn't undo the others.
    pub fn batch<T>(&self, changes: impl FnOnce(&mut Batch<'_>) -> T) -> T {
        self.registry
            .change(|next| changes(&mut Batch { next, owner: &self.owner, scope: &self.scope }))
    }

    /// [`Batch::register`] alone.
    ///
    /// # Errors
    /// As there.
    pub fn register(&self, tool: Tool) -> Result<Registered, Rejection> {
        self.batch(|batch| batch.register(tool))
    }

    /// [`Batch::register_override`] alone.
    ///
    /// # Errors
    /// As there.
    pub fn register_override(&self, tool: Tool) -> Result<Registered, Rejection> {
        self.batch(|batch| batch.register_override(tool))
    }

    /// [`Batch::deregister`] alone.
    ///
    /// # Errors
    /// As there.
    pub fn deregister(&self, name: &str) -> Result<Removed, Rejection> {
        self.batch(|batch| batch.deregister(name))
    }

    /// [`Batch::alias`] alone.
    pub fn alias(&self, alias: &str, toolset: &str) {
        self.batch(|batch| batch.alias(alias, toolset));
    }
}

/// Changes that become visible together, such as the new tool list of a server.
#[derive(Debug)]
pub struct Batch<'a> {
    next: &'a mut Snapshot,
    owner: &'a Owner,
    scope: &'a Scope,
}

impl Batch<'_> {
    /// Adds a tool, or replaces this owner's own tool of that name.
    ///
    /// # Errors
    /// The name is reserved, invalid or another owner's.
    pub fn register(&mut self, tool: Tool) -> Result<Registered, Rejection> {
        insert(self.next, tool, self.owner.clone(), self.scope.clone(), false)
    }

    /// Adds a tool in place of whoever has the name.
    ///
    /// # Errors
    /// As [`register`](Self::register); also for a plugin without the operator's consent, even
    /// where the name is free, and for an MCP server that doesn't own the name.
    pub fn register_override(&mut self, tool: Tool) -> Result<Registered, Rejection> {
        insert(self.next, tool, self.owner.clone(), self.scope.clone(), true)
    }

    /// Removes a tool.
    ///
    /// # Errors
    /// The tool belongs to somebody else. Plugins with the operator's consent, linked crates and
    /// the host program may remove others' tools, but those of an MCP server only that server and
    /// the host program.
    pub fn deregister(&mut self, name: &str) -> Result<Removed, Rejection> {
        remove(self.next, name, self.owner, self.scope)
    }

    /// Lets `alias` stand for `toolset`. An earlier target is given up.
    pub fn alias(&mut self, alias: &str, toolset: &str) {
        self.next.aliases.insert(alias.into(), toolset.into());
        self.next.generation += 1;
    }
}

fn insert(
    next: &mut Snapshot,
    mut tool: Tool,
    owner: Owner,
    scope: Scope,
    overriding: bool,
) -> Result<Registered, Rejection> {
    let name: Arc<str> = tool.name().into();
    if RESERVED_NAMES.contains(&&*name) {
        return Err(Rejection::Reserved { name: name.to_string() });
    }
    if !is_valid_dynamic_name(&name) {
        return Err(Rejection::InvalidName { name: name.to_string() });
    }
    if overriding
        && let Owner::Plugin { id } = &owner
        && !next.may_override(&owner)
    {
        return Err(Rejection::OverrideNotAllowed {
            name: name.to_string(),
            plugin: id.to_string(),
        });
    }
    let rival = next.rival(&scope, &name).cloned();
    if let Some(rival) = &rival {
        let own = rival.owner == owner && rival.scope == scope;
        let allowed = own || (overriding && next.may_override(&owner));
        if !allowed {
            return Err(Rejection::Taken {
                name: name.to_string(),
                holder: describe(&rival.owner, rival.origin()),
                claimant: describe(&owner, tool.origin()),
            });
        }
    }
    tool.owner = owner;
    tool.scope = scope.clone();
    next.layers.entry(scope).or_default().insert(name, Arc::new(tool));
    next.generation += 1;
    Ok(match rival {
        None => Registered::New,
        Some(rival) => {
            next.drop_orphaned_aliases(rival.toolset());
            Registered::Replaced
        }
    })
}

fn remove(
    next: &mut Snapshot,
    name: &str,
    owner: &Owner,
    scope: &Scope,
) -> Result<Removed, Rejection> {
    let Some(held) = next.layers.get(scope).and_then(|layer| layer.get(name)).cloned() else {
        return Ok(Removed::NotThere);
    };
    let allowed = held.owner == *owner
        || match (owner, &held.owner) {
            (Owner::User, _) => true,
            (Owner::Builtin { .. }, Owner::Mcp { .. }) => false,
            _ => next.may_override(owner),
        };
    if !allowed {
        return Err(Rejection::NotTheOwner {
            name: name.to_owned(),
            holder: describe(&held.owner, held.origin()),
            claimant: owner.to_string(),
        });
    }
    if let Some(layer) = next.layers.get_mut(scope) {
        layer.remove(name);
    }
    next.drop_orphaned_aliases(held.toolset());
    next.generation += 1;
    Ok(Removed::Removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolContext, ToolFuture, ToolOutput};
    use serde_json::{Value, json};

    fn tool(name: &str, toolset: &str) -> Tool {
        let handler = |_: Value, _: ToolContext| -> ToolFuture {
            Box::pin(async { Ok(ToolOutput::from("ok")) })
        };
        Tool::dynamic(name, toolset, "a tool", json!({"type": "object"}), handler)
    }

    #[test]
    fn a_second_owner_is_refused_and_both_are_named() {
        let registry = Registry::new();
        registry.registrar(Owner::mcp("one")).register(tool("x", "mcp-one")).unwrap();
        let err = registry.registrar(Owner::mcp("two")).register(tool("x", "mcp-two")).unwrap_err();
        let text = err.to_string();
        assert!(text.contains("MCP server one") && text.contains("MCP server two"), "{text}");
        assert_eq!(registry.snapshot().get("x").unwrap().toolset(), "mcp-one");
        assert_eq!(registry.generation(), 1);
    }

    #[test]
    fn profiles_are_apart_but_can_not_shadow_what_all_see() {
        let registry = Registry::new();
        let user = registry.registrar(Owner::User);
        let (a, b) = (Scope::profile("a"), Scope::profile("b"));
        user.clone().in_scope(a.clone()).register(tool("x", "t")).unwrap();
        user.clone().in_scope(b.clone()).register(tool("x", "t")).unwrap();
        assert!(user.register(tool("x", "t")).is_err());
        user.register(tool("y", "t")).unwrap();
        assert!(user.clone().in_scope(a.clone()).register(tool("y", "t")).is_err());
        let snapshot = registry.snapshot();
        let names: Vec<_> = snapshot.tools_in(&a).iter().map(|t| t.name().to_owned()).collect();
        assert_eq!(names, ["x", "y"]);
        assert!(snapshot.get("x").is_none());
        user.in_scope(a).deregister("x").unwrap();
        assert!(registry.snapshot().get_in(&b, "x").is_some());
    }

    #[test]
    fn a_snapshot_does_not_change_and_generations_rise() {
        let registry = Registry::new();
        let before = registry.snapshot();
        let user = registry.registrar(Owner::User);
        user.register(tool("x", "t")).unwrap();
        user.alias("short", "t");
        assert_eq!(user.deregister("nothing"), Ok(Removed::NotThere));
        assert!(user.register(tool("tool_call", "t")).is_err());
        assert!(user.register(tool("no spaces", "t")).is_err());
        assert_eq!((before.generation(), registry.generation()), (0, 2));
        assert_eq!(before.tools().count(), 0);
    }

    #[test]
    fn an_mcp_tool_is_removed_by_its_server_or_the_host() {
        let registry = Registry::new();
        registry.registrar(Owner::mcp("gh")).register(tool("x", "mcp-gh")).unwrap();
        for stranger in [Owner::mcp("other"), Owner::plugin("p"), Owner::builtin("c")] {
            assert!(registry.registrar(stranger).deregister("x").is_err());
        }
        assert_eq!(registry.registrar(Owner::User).deregister("x"), Ok(Removed::Removed));
    }
}

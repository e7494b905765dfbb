//! What turning toolsets or tools on or off did, and what it could not do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::config;
use crate::platform::{PlatformRequest, platform_toolsets};
use crate::select::{SelectRequest, select};
use crate::world::ToolsetWorld;

/// A name that was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The name as it was given.
    pub name: String,
    /// Why.
    pub reason: RejectReason,
}

/// Why a name was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// Nothing has that name.
    Unknown {
        /// The nearest name that would have been taken.
        nearest: Option<String>,
    },
    /// A toolset that is not switched per platform: a composite, a bundle, an MCP server.
    NotSwitchable,
    /// The toolset exists on other platforms only.
    WrongPlatform {
        /// Those platforms.
        allowed: &'static [&'static str],
    },
    /// A single tool, where only toolsets are taken.
    IsTool {
        /// The toolsets that have the tool.
        toolsets: Vec<String>,
    },
    /// The tool is not denied; no toolset that has it is on.
    NotGranted {
        /// The toolsets that have the tool.
        toolsets: Vec<String>,
    },
    /// `server:tool` with a server that is not configured.
    UnknownServer {
        /// The nearest `server:tool`.
        nearest: Option<String>,
    },
    /// `server:tool` with one half missing.
    Incomplete,
}

impl Rejection {
    /// The nearest name that would have been taken.
    #[must_use]
    pub fn nearest(&self) -> Option<&str> {
        match &self.reason {
            RejectReason::Unknown { nearest } | RejectReason::UnknownServer { nearest } => {
                nearest.as_deref()
            }
            RejectReason::IsTool { toolsets } | RejectReason::NotGranted { toolsets } => {
                toolsets.first().map(String::as_str)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.reason {
            RejectReason::Unknown { nearest } => {
                write!(f, "unknown toolset `{name}`")?;
                nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            RejectReason::NotSwitchable => {
                write!(f, "`{name}` is a toolset, but not one that is switched per platform")
            }
            RejectReason::WrongPlatform { allowed } => {
                write!(f, "toolset `{name}` exists only on {}", allowed.join(", "))
            }
            RejectReason::IsTool { toolsets } => {
                write!(f, "`{name}` is a tool")?;
                toolsets.first().map_or(Ok(()), |toolset| write!(f, "; switch toolset `{toolset}`"))
            }
            RejectReason::NotGranted { toolsets } => {
                write!(f, "tool `{name}` is not denied, but no toolset that has it is on")?;
                toolsets.first().map_or(Ok(()), |toolset| write!(f, "; turn on `{toolset}`"))
            }
            RejectReason::UnknownServer { nearest } => {
                write!(f, "`{name}` names an MCP server that is not configured")?;
                nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            RejectReason::Incomplete => write!(f, "`{name}` is not of the form server:tool"),
        }
    }
}

impl std::error::Error for Rejection {}

/// A tool of a disabled toolset that stays, because other toolsets grant it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTool {
    /// The tool.
    pub tool: String,
    /// The toolset that was turned off.
    pub toolset: String,
    /// The toolsets that are on and grant it.
    pub granted_by: Vec<String>,
}

/// A tool that a switched toolset lists while it is registered in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignTool {
    /// The tool.
    pub tool: String,
    /// The toolset that was switched.
    pub toolset: String,
    /// The toolset the tool is registered in.
    pub owner: String,
}

/// What keeps a tool of an enabled toolset away.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blocker {
    /// `agent.disabled_tools` names it.
    DisabledTools,
    /// This entry of `agent.disabled_toolsets` takes it.
    DisabledToolset(String),
    /// No toolset that has it is on.
    NoToolset,
}

/// A tool that was turned on and still is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedTool {
    /// The tool.
    pub tool: String,
    /// What keeps it away.
    pub by: Blocker,
}

/// How a change of configuration changes the registered tools that a platform gets.
///
/// Availability does not count: a tool without its credentials is listed all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolChanges {
    /// Tools that appear, sorted.
    pub added: Vec<String>,
    /// Tools that vanish, sorted.
    pub removed: Vec<String>,
    /// Tools of disabled toolsets that stay.
    pub kept: Vec<KeptTool>,
    /// Tools of switched toolsets that are registered in another toolset.
    pub foreign: Vec<ForeignTool>,
    /// Tools that were turned on and still are not there.
    pub blocked: Vec<BlockedTool>,
    /// Names that were switched without effect, because another setting decides.
    pub ineffective: Vec<String>,
}

/// What a platform gets under one configuration.
pub(super) struct Granted<'w> {
    world: &'w ToolsetWorld,
    pub(super) toolsets: BTreeSet<String>,
    disabled_toolsets: Vec<String>,
    disabled_tools: Vec<String>,
    tools: BTreeSet<&'w str>,
}

impl<'w> Granted<'w> {
    pub(super) fn new(world: &'w ToolsetWorld, request: &PlatformRequest<'_>) -> Self {
        let toolsets = platform_toolsets(world, request).toolsets;
        let disabled_toolsets = config::disabled_toolsets(request.config);
        let disabled_tools = config::disabled_tools(request.config);
        let enabled = Vec::from_iter(toolsets.iter().cloned());
        let selection = select(
            world,
            &SelectRequest {
                enabled: Some(&enabled),
                disabled: &disabled_toolsets,
                denied_tools: &disabled_tools,
                kanban_task: false,
            },
        );
        let tools = selection.tools.into_iter().filter(|tool| world.owner(tool).is_some());
        Self { world, toolsets, disabled_toolsets, disabled_tools, tools: tools.collect() }
    }

    pub(super) fn has(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }

    fn has_server(&self, server: &str) -> bool {
        self.toolsets.contains(server) || self.toolsets.contains(&format!("mcp-{server}"))
    }

    fn granting(&self, tool: &str) -> Vec<String> {
        let grants = |name: &&String| self.world.resolve(name).contains(&tool);
        self.toolsets.iter().filter(grants).cloned().collect()
    }

    fn blocker(&self, tool: &str) -> Blocker {
        if self.disabled_tools.iter().any(|name| name == tool) {
            return Blocker::DisabledTools;
        }
        if self.granting(tool).is_empty() {
            return Blocker::NoToolset;
        }
        let takes =
            |name: &&String| self.world.taken_by(name).is_some_and(|taken| taken.contains(&tool));
        self.disabled_toolsets
            .iter()
            .find(takes)
            .map_or(Blocker::NoToolset, |name| Blocker::DisabledToolset(name.clone()))
    }
}

/// What was switched, sorted out by kind.
#[derive(Default)]
pub(super) struct Switched<'a> {
    pub(super) enable: bool,
    pub(super) toolsets: Vec<&'a str>,
    pub(super) tools: Vec<&'a str>,
    /// Server and raw tool name, with whether the filters let the tool through before and after.
    pub(super) server_tools: BTreeMap<(&'a str, &'a str), (bool, bool)>,
}

/// Compares what a platform gets before and after a change.
pub(super) fn compare(
    before: &Granted<'_>,
    after: &Granted<'_>,
    switched: &Switched<'_>,
) -> ToolChanges {
    let mut changes = ToolChanges::default();
    let owned = |tools: &BTreeSet<&str>, minus: &BTreeSet<&str>| -> BTreeSet<String> {
        tools.difference(minus).map(|&tool| tool.to_owned()).collect()
    };
    let mut added = owned(&after.tools, &before.tools);
    let mut removed = owned(&before.tools, &after.tools);
    for (&(server, tool), &(was, is)) in &switched.server_tools {
        // The registry follows when the server is next listed; until then it holds the old tools.
        let name = config::mcp_tool_name(server, tool);
        if was && !is && before.has(&name) {
            removed.insert(name);
        } else if !was && is && after.has_server(server) {
            added.insert(name);
        } else if is != switched.enable {
            changes.ineffective.push(format!("{server}:{tool}"));
        }
    }
    changes.added = added.into_iter().collect();
    changes.removed = removed.into_iter().collect();
    for &toolset in &switched.toolsets {
        if after.toolsets.contains(toolset) != switched.enable {
            changes.ineffective.push(toolset.to_owned());
        }
        for tool in after.world.resolve(toolset) {
            let Some(owner) = after.world.owner(tool) else { continue };
            let (tool_name, toolset) = (tool.to_owned(), toolset.to_owned());
            if owner != toolset {
                changes.foreign.push(ForeignTool {
                    tool: tool_name.clone(),
                    toolset: toolset.clone(),
                    owner: owner.to_owned(),
                });
            }
            if switched.enable && !after.has(tool) {
                changes.blocked.push(BlockedTool { tool: tool_name, by: after.blocker(tool) });
            } else if !switched.enable && after.has(tool) {
                let granted_by = after.granting(tool);
                changes.kept.push(KeptTool { tool: tool_name, toolset, granted_by });
            }
        }
    }
    for &tool in switched.tools.iter().filter(|tool| switched.enable && !after.has(tool)) {
        changes.blocked.push(BlockedTool { tool: tool.to_owned(), by: after.blocker(tool) });
    }
    changes
}

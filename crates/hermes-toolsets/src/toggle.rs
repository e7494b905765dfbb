//! Turning toolsets, tools of MCP servers and single tools on or off.
//!
//! [`toggle`] writes nothing: it says which values of `config.yaml` to set and what that changes.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::catalog::{self, CONFIGURABLE};
use crate::config;
use crate::edit::{ConfigEdit, Draft};
use crate::platform::{NO_MCP, PlatformRequest, is_configurable, platform_toolsets};
use crate::suggest;
use crate::toggle_report::{Granted, RejectReason, Rejection, Switched, ToolChanges, compare};
use crate::world::ToolsetWorld;

/// Which way to switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToggleAction {
    /// Turn on.
    Enable,
    /// Turn off.
    Disable,
}

/// What to switch.
#[derive(Clone, Copy, Debug)]
pub struct ToggleRequest<'a> {
    /// The platform and what its toolsets depend on.
    pub platform: PlatformRequest<'a>,
    /// Which way.
    pub action: ToggleAction,
    /// Switchable toolsets (built-in, plugin or custom), or `server:tool`.
    pub names: &'a [String],
    /// Whether a name that is no toolset may be a tool's, to be switched by `agent.disabled_tools`
    /// on every platform.
    pub single_tools: bool,
}

/// What to write, and what it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toggle {
    /// The values that differ from the present ones; none if there is nothing to write.
    pub edits: Vec<ConfigEdit>,
    /// The names that were taken, in the order given.
    pub applied: Vec<String>,
    /// The names that were not taken, in the order given.
    pub rejected: Vec<Rejection>,
    /// How the platform's tools change.
    pub changes: ToolChanges,
}

/// The platform does not exist, so nothing is switched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPlatform {
    /// The name given.
    pub platform: String,
    /// The nearest platform.
    pub nearest: Option<String>,
}

impl fmt::Display for UnknownPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown platform `{}`", self.platform)?;
        self.nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
    }
}

impl std::error::Error for UnknownPlatform {}

/// Computes what turning the given names on or off writes and changes. Names that can't be switched
/// are reported; the others are applied.
///
/// # Errors
/// The platform is neither built in nor a plugin's.
pub fn toggle(
    world: &ToolsetWorld,
    request: &ToggleRequest<'_>,
) -> Result<Toggle, UnknownPlatform> {
    let platform = request.platform.platform;
    if !world.is_platform(platform) {
        let nearest = suggest::nearest(platform, world.platforms()).map(str::to_owned);
        return Err(UnknownPlatform { platform: platform.to_owned(), nearest });
    }
    let before = Granted::new(world, &request.platform);
    let mut switched =
        Switched { enable: request.action == ToggleAction::Enable, ..Switched::default() };
    let mut toggle = Toggle::default();
    let mut seen = BTreeSet::new();
    for name in request.names.iter().filter(|name| seen.insert(name.as_str())) {
        match classify(world, request, &before, name) {
            Ok(Target::Toolset) => switched.toolsets.push(name),
            Ok(Target::Tool) => switched.tools.push(name),
            Ok(Target::ServerTool(server, tool)) => {
                switched.server_tools.insert((server, tool), (false, false));
            }
            Err(reason) => {
                toggle.rejected.push(Rejection { name: name.clone(), reason });
                continue;
            }
        }
        toggle.applied.push(name.clone());
    }
    let mut draft = Draft::new(request.platform.config);
    if !switched.toolsets.is_empty() {
        save_toolsets(world, request, &switched.toolsets, &mut draft);
    }
    for (&(server, tool), allowed) in &mut switched.server_tools {
        allowed.0 = config::mcp_tool_allowed(server_config(&draft.config, server), tool);
        save_server_tool(server, tool, switched.enable, &mut draft);
        allowed.1 = config::mcp_tool_allowed(server_config(&draft.config, server), tool);
    }
    if !switched.tools.is_empty() {
        save_single_tools(&switched, &mut draft);
    }
    let after = Granted::new(world, &PlatformRequest { config: &draft.config, ..request.platform });
    toggle.changes = compare(&before, &after, &switched);
    toggle.edits = draft.edits(request.platform.config);
    Ok(toggle)
}

enum Target<'a> {
    Toolset,
    Tool,
    ServerTool(&'a str, &'a str),
}

fn is_switchable(world: &ToolsetWorld, request: &PlatformRequest<'_>, name: &str) -> bool {
    is_configurable(name) || request.is_plugin(name) || world.is_custom(name)
}

fn classify<'a>(
    world: &ToolsetWorld,
    request: &ToggleRequest<'_>,
    before: &Granted<'_>,
    name: &'a str,
) -> Result<Target<'a>, RejectReason> {
    if let Some((server, tool)) = name.split_once(':') {
        return classify_server_tool(request, server, tool);
    }
    if is_switchable(world, &request.platform, name) {
        return match catalog::restricted_to(name) {
            Some(allowed) if !allowed.contains(&request.platform.platform) => {
                Err(RejectReason::WrongPlatform { allowed })
            }
            _ => Ok(Target::Toolset),
        };
    }
    if world.is_tool(name) {
        let toolsets = || world.toolsets_with(name).into_iter().map(str::to_owned).collect();
        if !request.single_tools {
            return Err(RejectReason::IsTool { toolsets: toolsets() });
        }
        let is_denied =
            || config::disabled_tools(request.platform.config).iter().any(|t| t == name);
        let is_reachable = request.action == ToggleAction::Disable || before.has(name);
        return if is_reachable || is_denied() {
            Ok(Target::Tool)
        } else {
            Err(RejectReason::NotGranted { toolsets: toolsets() })
        };
    }
    if world.is_valid(name) {
        return Err(RejectReason::NotSwitchable);
    }
    let plugins = request.platform.plugin_toolsets.iter().map(String::as_str);
    let switchable = CONFIGURABLE.iter().copied().chain(plugins).chain(world.custom_names());
    let nearest = suggest::nearest(name, switchable)
        .or_else(|| suggest::nearest(name, world.tools()).filter(|_| request.single_tools));
    Err(RejectReason::Unknown { nearest: nearest.map(str::to_owned) })
}

fn classify_server_tool<'a>(
    request: &ToggleRequest<'_>,
    server: &'a str,
    tool: &'a str,
) -> Result<Target<'a>, RejectReason> {
    if server.is_empty() || tool.is_empty() {
        return Err(RejectReason::Incomplete);
    }
    let servers = config::map_at(request.platform.config, &["mcp_servers"]);
    if servers.is_some_and(|servers| servers.contains_key(server)) {
        return Ok(Target::ServerTool(server, tool));
    }
    let known = servers.into_iter().flat_map(Map::keys).map(String::as_str);
    let nearest = suggest::nearest(server, known).map(|server| format!("{server}:{tool}"));
    Err(RejectReason::UnknownServer { nearest })
}

/// Writes the platform's list with the toolsets added or taken away.
fn save_toolsets(
    world: &ToolsetWorld,
    request: &ToggleRequest<'_>,
    toolsets: &[&str],
    draft: &mut Draft,
) {
    let enable = request.action == ToggleAction::Enable;
    let platform = PlatformRequest { include_default_mcp: false, ..request.platform };
    let mut on = platform_toolsets(world, &platform).toolsets;
    let saved = platform.saved().unwrap_or_default();
    // A bundle that stayed in the list would turn everything on again.
    on.extend(saved.into_iter().filter(|name| {
        !is_configurable(name)
            && !platform.is_plugin(name)
            && !platform.is_default_bundle(name)
            && name != NO_MCP
    }));
    for &name in toolsets {
        if enable {
            on.insert(name.to_owned());
        } else {
            on.remove(name);
        }
    }
    on.retain(|name| catalog::allowed_on(name, platform.platform));
    draft.set_names(&["platform_toolsets", platform.platform], on.iter().map(String::as_str));
    if !platform.plugin_toolsets.is_empty() {
        let known: BTreeSet<_> = platform.plugin_toolsets.iter().map(String::as_str).collect();
        draft.set_names(&["known_plugin_toolsets", platform.platform], known);
    }
    let disabled = config::disabled_toolsets(platform.config);
    if enable && disabled.iter().any(|name| toolsets.contains(&name.as_str())) {
        let rest = disabled.iter().map(String::as_str).filter(|name| !toolsets.contains(name));
        draft.set_names(&["agent", "disabled_toolsets"], rest);
    }
}

fn server_config<'v>(config: &'v Value, server: &str) -> &'v Value {
    config::at(config, &["mcp_servers", server]).unwrap_or(&Value::Null)
}

/// Edits a server's `tools.exclude`, and its `tools.include` if it has names: those would win.
fn save_server_tool(server: &str, tool: &str, enable: bool, draft: &mut Draft) {
    let present = server_config(&draft.config, server);
    let switch = |list: Vec<String>, in_list: bool| -> Vec<String> {
        let mut seen = BTreeSet::new();
        let rest = list.into_iter().filter(|name| in_list || name != tool);
        let new = in_list.then(|| tool.to_owned());
        rest.chain(new).filter(|name| seen.insert(name.clone())).collect()
    };
    let old_exclude = config::mcp_filter(present, "exclude");
    let include = config::mcp_filter(present, "include");
    let exclude = switch(old_exclude.clone(), !enable);
    if exclude != old_exclude {
        let names = exclude.iter().map(String::as_str);
        draft.set_names(&["mcp_servers", server, "tools", "exclude"], names);
    }
    if !include.is_empty() {
        let include = switch(include, enable);
        // An empty list limits nothing, so the last name has to stay.
        if !include.is_empty() {
            let names = include.iter().map(String::as_str);
            draft.set_names(&["mcp_servers", server, "tools", "include"], names);
        }
    }
}

fn save_single_tools(switched: &Switched<'_>, draft: &mut Draft) {
    let mut denied: BTreeSet<String> = config::disabled_tools(&draft.config).into_iter().collect();
    for &tool in &switched.tools {
        if switched.enable {
            denied.remove(tool);
        } else {
            denied.insert(tool.to_owned());
        }
    }
    draft.set_names(&["agent", "disabled_tools"], denied.iter().map(String::as_str));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{BlockedTool, Blocker, KeptTool};

    fn world() -> ToolsetWorld {
        let tools = catalog::CORE.iter().map(|&tool| {
            let toolset = match tool {
                "web_search" | "web_extract" => "web",
                "browser_cdp" | "browser_dialog" => "browser-cdp",
                _ => "rest",
            };
            (tool, toolset)
        });
        ToolsetWorld::builtin()
            .with_registered(tools)
            .with_registered([("mcp__g_h__x", "mcp-g.h")])
            .with_aliases([("g.h", "mcp-g.h")])
    }

    fn run(config: &Value, action: ToggleAction, names: &[&str]) -> (Toggle, Value) {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let platform = PlatformRequest {
            config,
            platform: "cli",
            plugin_toolsets: &[],
            hass_token: false,
            xai_credentials: false,
            include_default_mcp: true,
        };
        let request = ToggleRequest { platform, action, names: &names, single_tools: true };
        let toggle = toggle(&world(), &request).unwrap();
        let mut after = config.clone();
        for edit in &toggle.edits {
            edit.apply(&mut after);
        }
        (toggle, after)
    }

    fn list(names: &[&str]) -> Value {
        json!({"platform_toolsets": {"cli": names}})
    }

    #[test]
    fn a_disabled_toolset_leaves_what_others_grant() {
        let config = list(&["browser", "todo", "web"]);
        let (toggle, after) = run(&config, ToggleAction::Disable, &["web"]);
        assert_eq!(after, list(&["browser", "kanban", "todo"]));
        assert_eq!(toggle.changes.removed, ["web_extract"]);
        let kept = KeptTool {
            tool: "web_search".to_owned(),
            toolset: "web".to_owned(),
            granted_by: vec!["browser".to_owned()],
        };
        assert_eq!(toggle.changes.kept, [kept]);
        let (toggle, _) = run(&config, ToggleAction::Disable, &["browser"]);
        let foreign: Vec<_> = toggle
            .changes
            .foreign
            .iter()
            .filter(|foreign| foreign.owner != "rest")
            .map(|foreign| (foreign.tool.as_str(), foreign.owner.as_str()))
            .collect();
        assert_eq!(
            foreign,
            [
                ("browser_cdp", "browser-cdp"),
                ("browser_dialog", "browser-cdp"),
                ("web_search", "web")
            ]
        );
        assert_eq!(toggle.changes.removed.len(), 12);
    }

    #[test]
    fn enabling_lifts_the_denial_of_the_toolset_but_not_of_its_tools() {
        let mut config = list(&["todo", "kanban"]);
        config["agent"] =
            json!({"disabled_toolsets": ["web", "memory"], "disabled_tools": ["web_search"]});
        let (toggle, after) = run(&config, ToggleAction::Enable, &["web"]);
        assert_eq!(after["agent"]["disabled_toolsets"], json!(["memory"]));
        assert_eq!(toggle.changes.added, ["web_extract"]);
        let blocked = BlockedTool { tool: "web_search".to_owned(), by: Blocker::DisabledTools };
        assert_eq!(toggle.changes.blocked, [blocked]);
        let (toggle, after) = run(&after, ToggleAction::Enable, &["web_search"]);
        assert_eq!(toggle.changes.added, ["web_search"]);
        assert_eq!(after["agent"]["disabled_tools"], json!([]));
    }

    #[test]
    fn single_tools_go_by_name() {
        let config = list(&["kanban", "web"]);
        let (toggle, after) = run(&config, ToggleAction::Disable, &["web_search"]);
        assert_eq!(after["agent"]["disabled_tools"], json!(["web_search"]));
        assert_eq!(after["platform_toolsets"], config["platform_toolsets"]);
        assert_eq!(toggle.changes.removed, ["web_search"]);
        let (toggle, after) = run(&config, ToggleAction::Enable, &["write_file"]);
        assert_eq!(after, config);
        assert_eq!(toggle.rejected[0].nearest(), Some("file"));
    }

    #[test]
    fn names_are_refused_one_by_one() {
        let config = json!({"mcp_servers": {"g.h": null}});
        let names = ["Web", "nope", "discord", "debugging", "gxh:x", ":x", "g.h:", "todo", "todo"];
        let (toggle, _) = run(&config, ToggleAction::Disable, &names);
        assert_eq!(toggle.applied, ["todo"]);
        let refused: Vec<_> = toggle.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(
            refused,
            [
                "unknown toolset `Web`; did you mean `web`?",
                "unknown toolset `nope`",
                "toolset `discord` exists only on discord",
                "`debugging` is a toolset, but not one that is switched per platform",
                "`gxh:x` names an MCP server that is not configured; did you mean `g.h:x`?",
                "`:x` is not of the form server:tool",
                "`g.h:` is not of the form server:tool",
            ]
        );
        let (toggle, after) = run(&config, ToggleAction::Disable, &["nope"]);
        assert!(toggle.edits.is_empty() && after == config);
    }

    #[test]
    fn tools_of_servers_go_by_the_filters_that_count() {
        let check = |tools: Value, action, name: &str, expected: Value| {
            let config = json!({"mcp_servers": {"g.h": {"tools": tools}}});
            let (toggle, after) = run(&config, action, &[name]);
            assert_eq!(after["mcp_servers"]["g.h"]["tools"], expected, "{tools}");
            toggle
        };
        use ToggleAction::{Disable, Enable};
        let toggle = check(json!(null), Disable, "g.h:x", json!({"exclude": ["x"]}));
        assert_eq!(toggle.changes.removed, ["mcp__g_h__x"]);
        check(json!({"exclude": ["x"]}), Disable, "g.h:x", json!({"exclude": ["x"]}));
        check(json!({"exclude": ["x", "y"]}), Enable, "g.h:x", json!({"exclude": ["y"]}));
        check(
            json!({"include": ["x", "y"]}),
            Disable,
            "g.h:x",
            json!({"include": ["y"], "exclude": ["x"]}),
        );
        check(json!({"include": ["y"]}), Enable, "g.h:a:b", json!({"include": ["y", "a:b"]}));
        let toggle = check(
            json!({"include": ["x"]}),
            Disable,
            "g.h:x",
            json!({"include": ["x"], "exclude": ["x"]}),
        );
        assert_eq!(toggle.changes.ineffective, ["g.h:x"]);
    }

    #[test]
    fn an_unknown_platform_switches_nothing() {
        let config = json!({});
        let platform = PlatformRequest {
            config: &config,
            platform: "telegramm",
            plugin_toolsets: &[],
            hass_token: false,
            xai_credentials: false,
            include_default_mcp: true,
        };
        let names = ["web".to_owned()];
        let request = ToggleRequest {
            platform,
            action: ToggleAction::Disable,
            names: &names,
            single_tools: false,
        };
        let error = toggle(&world(), &request).unwrap_err();
        assert_eq!(error.nearest.as_deref(), Some("telegram"));
    }
}

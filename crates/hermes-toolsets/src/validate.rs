//! Names in `config.yaml` that mean nothing, found before they silently do nothing.

use std::fmt;

use serde_json::Value;

use crate::config;
use crate::issue::{NameIssue, NamePlace};
use crate::platform::NO_MCP;
use crate::world::ToolsetWorld;

/// A name in a platform's list that is no toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownToolset {
    /// The platform whose list has it.
    pub platform: String,
    /// The name as it was written.
    pub name: String,
    /// The platform's own bundle, if there is one: a mangled list was most likely meant to be that.
    pub suggestion: Option<String>,
}

impl fmt::Display for UnknownToolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "platform_toolsets.{}: unknown toolset `{}`", self.platform, self.name)?;
        self.suggestion.iter().try_for_each(|name| write!(f, "; did you mean `{name}`?"))
    }
}

impl std::error::Error for UnknownToolset {}

/// What is wrong in `platform_toolsets`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformToolsetsReport {
    /// The unknown names, in the order they stand.
    pub unknown: Vec<UnknownToolset>,
    /// The platforms whose lists hold no valid toolset.
    pub without_tools: Vec<String>,
    /// Whether there are lists and none of them holds a valid toolset.
    pub zero_valid: bool,
}

/// Checks the value of `platform_toolsets`.
///
/// Blank and non-text entries are passed over, and so are the names in `mcp_servers`, which only
/// become toolsets once the server is connected. Anything but a mapping has nothing to check.
#[must_use]
pub fn validate_platform_toolsets(
    world: &ToolsetWorld,
    platform_toolsets: &Value,
    mcp_servers: &[&str],
) -> PlatformToolsetsReport {
    let mut report = PlatformToolsetsReport::default();
    let Some(lists) = platform_toolsets.as_object() else { return report };
    for (platform, list) in lists {
        let names = list.as_array().map_or(std::slice::from_ref(list), Vec::as_slice);
        let names = names.iter().filter_map(Value::as_str).filter(|name| !name.trim().is_empty());
        let (valid, other): (Vec<_>, Vec<_>) =
            names.partition(|name| world.is_valid(name) || is_server(name, mcp_servers));
        if valid.is_empty() {
            report.without_tools.push(platform.clone());
        }
        let bundle = format!("hermes-{platform}");
        let suggestion = world.is_valid(&bundle).then_some(bundle);
        for name in other.into_iter().filter(|name| *name != NO_MCP) {
            report.unknown.push(UnknownToolset {
                platform: platform.clone(),
                name: name.to_owned(),
                suggestion: suggestion.clone(),
            });
        }
    }
    report.zero_valid = !lists.is_empty() && report.without_tools.len() == lists.len();
    report
}

fn is_server(name: &str, servers: &[&str]) -> bool {
    servers.contains(&name) || name.strip_prefix("mcp-").is_some_and(|name| servers.contains(&name))
}

/// A denial that would not deny what it was meant to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenialError {
    /// A name is unknown or stands in the wrong list.
    Name {
        /// The dotted key of the list.
        key: &'static str,
        /// What is wrong with the name.
        issue: NameIssue,
    },
    /// The setting is no list of names.
    Shape {
        /// The dotted key.
        key: &'static str,
    },
}

impl DenialError {
    /// The nearest name that would be valid there.
    #[must_use]
    pub fn nearest(&self) -> Option<&str> {
        match self {
            Self::Name { issue, .. } => issue.nearest(),
            Self::Shape { .. } => None,
        }
    }
}

impl fmt::Display for DenialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { key, issue } => write!(f, "{key}: {issue}"),
            Self::Shape { key } => write!(f, "{key} must be a list of names"),
        }
    }
}

impl std::error::Error for DenialError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Name { issue, .. } => Some(issue),
            Self::Shape { .. } => None,
        }
    }
}

/// Checks `agent.disabled_toolsets` and `agent.disabled_tools`: a denial with a slip in its name
/// leaves the tool on, so every one that matches nothing is an error.
///
/// Toolsets of plugins, of configured MCP servers and the tools of those servers pass even while
/// they are not registered.
///
/// # Errors
/// All names that are unknown or in the wrong list, and settings that are no lists.
pub fn validate_denials(
    world: &ToolsetWorld,
    config: &Value,
    plugin_toolsets: &[String],
) -> Result<(), Vec<DenialError>> {
    let mut errors = Vec::new();

    let key = "agent.disabled_toolsets";
    check_shape(config, "disabled_toolsets", key, &mut errors);
    for name in config::disabled_toolsets(config) {
        if plugin_toolsets.contains(&name) {
            continue;
        }
        let issue = world.toolset_issue(&name, NamePlace::DisabledToolsets);
        let issue = issue.filter(|issue| !waits_for_server(config, issue));
        errors.extend(issue.map(|issue| DenialError::Name { key, issue }));
    }

    let key = "agent.disabled_tools";
    check_shape(config, "disabled_tools", key, &mut errors);
    for name in config::disabled_tools(config) {
        let issue = world.tool_issue(&name, NamePlace::DisabledTools);
        let issue = issue.filter(|issue| !waits_for_server(config, issue));
        errors.extend(issue.map(|issue| DenialError::Name { key, issue }));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Whether a denied name that nothing has yet belongs to a configured MCP server: it means
/// something as soon as the server is connected.
#[must_use]
pub fn waits_for_server(config: &Value, issue: &NameIssue) -> bool {
    let Some(servers) = config::map_at(config, &["mcp_servers"]) else { return false };
    let mut servers = servers.keys().map(String::as_str);
    match issue.place {
        NamePlace::DisabledTools => {
            servers.any(|server| issue.name.starts_with(&config::mcp_tool_name(server, "")))
        }
        _ => is_server(&issue.name, &servers.collect::<Vec<_>>()),
    }
}

fn check_shape(config: &Value, name: &str, key: &'static str, errors: &mut Vec<DenialError>) {
    let is_list = match config::at(config, &["agent", name]) {
        None | Some(Value::String(_)) => true,
        Some(Value::Array(items)) => items.iter().all(|item| config::item_text(item).is_some()),
        Some(_) => false,
    };
    if !is_list {
        errors.push(DenialError::Shape { key });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_names_in_platform_lists_are_found() {
        let world = ToolsetWorld::builtin().with_platforms(["irc"]);
        let check = |lists: Value, unknown: &[(&str, Option<&str>)], zero: bool| {
            let report = validate_platform_toolsets(&world, &lists, &["gh"]);
            let found: Vec<_> =
                report.unknown.iter().map(|u| (u.name.as_str(), u.suggestion.as_deref())).collect();
            assert_eq!((found.as_slice(), report.zero_valid), (unknown, zero), "{lists}");
        };
        check(json!({"cli": ["hermes"]}), &[("hermes", Some("hermes-cli"))], true);
        check(json!({"cli": ["web", "nope"]}), &[("nope", Some("hermes-cli"))], false);
        check(json!({"cli": ["Web"], "irc": ["todo"]}), &[("Web", Some("hermes-cli"))], false);
        check(json!({"irc": ["x"], "fax": ["y"]}), &[("x", Some("hermes-irc")), ("y", None)], true);
        check(json!({"cli": ["", "  ", 7, null, "web", "no_mcp", "gh", "mcp-gh"]}), &[], false);
        check(json!({"cli": "web"}), &[], false);
        check(json!({"cli": []}), &[], true);
        check(json!({}), &[], false);
        check(json!(null), &[], false);
    }

    #[test]
    fn denials_must_name_what_they_deny() {
        let world = ToolsetWorld::builtin().with_registered([("t", "terminal")]);
        let check = |agent: Value, expected: &[&str]| {
            let config = json!({"agent": agent, "mcp_servers": {"git.hub": null}});
            let errors = validate_denials(&world, &config, &["wx".to_owned()]).err();
            let texts: Vec<_> = errors.iter().flatten().map(ToString::to_string).collect();
            assert_eq!(texts, expected, "{config}");
        };
        check(json!(null), &[]);
        check(
            json!({"disabled_toolsets": ["web", " memory ", "wx", "git.hub", "mcp-git.hub", "web_tools"],
                   "disabled_tools": ["web_search", "terminal", "mcp__git_hub__x"]}),
            &[],
        );
        check(
            json!({"disabled_toolsets": ["web_search", "terminl"], "disabled_tools": ["web", "tod"]}),
            &[
                "agent.disabled_toolsets: `web_search` among the disabled toolsets is a tool; \
                 it belongs to `browser`, `search`, `web`",
                "agent.disabled_toolsets: unknown name `terminl` among the disabled toolsets; \
                 did you mean `terminal`?",
                "agent.disabled_tools: `web` among the disabled tools is a toolset, not a tool",
                "agent.disabled_tools: unknown name `tod` among the disabled tools; \
                 did you mean `todo`?",
            ],
        );
        check(
            json!({"disabled_toolsets": {"web": true}, "disabled_tools": [["todo"]]}),
            &[
                "agent.disabled_toolsets must be a list of names",
                "agent.disabled_tools must be a list of names",
            ],
        );
    }
}

//! From lists of enabled and disabled toolsets to the tools a session asks for.

use std::collections::HashSet;

use crate::catalog;
use crate::issue::{NameIssue, NamePlace};
use crate::world::ToolsetWorld;

/// What a session asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectRequest<'a> {
    /// The toolsets to take; none means all, an empty list means nothing.
    pub enabled: Option<&'a [String]>,
    /// The toolsets to take away afterwards.
    pub disabled: &'a [String],
    /// Single tools to take away last.
    pub denied_tools: &'a [String],
    /// Whether `HERMES_KANBAN_TASK` is set to anything: the session works on a card of the board
    /// and gets the `kanban` toolset whatever list was given.
    pub kanban_task: bool,
}

/// The tools a session asks for. Some may not be registered or not be available.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection<'w> {
    /// Tool names, sorted, each once.
    pub tools: Vec<&'w str>,
    /// Names that meant nothing, in the order of the lists.
    pub issues: Vec<NameIssue>,
}

/// The tools of the enabled toolsets, less those of the disabled toolsets, less the denied tools.
///
/// Denial wins: a tool goes even if another enabled toolset grants it. Disabling a platform bundle
/// or a posture takes only what it has beyond the core tools, since everything shares those.
#[must_use]
pub fn select<'w>(world: &'w ToolsetWorld, request: &SelectRequest<'_>) -> Selection<'w> {
    let mut issues = Vec::new();
    let mut tools = HashSet::new();
    match request.enabled {
        None => tools.extend(world.resolve("all")),
        Some(enabled) => {
            let listed = enabled.iter().map(String::as_str);
            let kanban = Some("kanban").filter(|name| request.kanban_task && world.is_valid(name));
            let (valid, other): (Vec<_>, Vec<_>) =
                listed.chain(kanban).partition(|name| world.is_valid(name));
            tools.extend(world.resolve_many(valid));
            for name in other {
                match catalog::legacy(name) {
                    Some(list) => tools.extend(list),
                    None => issues.extend(world.toolset_issue(name, NamePlace::Enabled)),
                }
            }
        }
    }
    for name in request.disabled {
        match world.taken_by(name) {
            Some(taken) => {
                for tool in taken {
                    tools.remove(tool);
                }
            }
            None => issues.extend(world.toolset_issue(name, NamePlace::DisabledToolsets)),
        }
    }
    for tool in request.denied_tools {
        if !tools.remove(tool.as_str()) {
            issues.extend(world.tool_issue(tool, NamePlace::DisabledTools));
        }
    }
    let mut tools = Vec::from_iter(tools);
    tools.sort_unstable();
    Selection { tools, issues }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NameProblem, Toolset};

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn chosen(world: &ToolsetWorld, enabled: &[&str], disabled: &[&str]) -> String {
        let (enabled, disabled) = (names(enabled), names(disabled));
        let request = SelectRequest {
            enabled: Some(&enabled),
            disabled: &disabled,
            ..SelectRequest::default()
        };
        select(world, &request).tools.join(" ")
    }

    #[test]
    fn disabling_takes_from_what_is_enabled() {
        let world = ToolsetWorld::builtin()
            .with_registered([("irc_whois", "irc")])
            .with_platforms(["irc"])
            .with_aliases([("code", "coding")])
            .with_toolset(
                "mood",
                Toolset { posture: true, includes: vec!["spotify".into()], ..Toolset::default() },
            );
        let check = |enabled: &[&str], disabled: &[&str], expected| {
            assert_eq!(chosen(&world, enabled, disabled), expected, "{enabled:?} - {disabled:?}");
        };
        check(&[], &[], "");
        check(&["web", "browser"], &["browser"], "web_extract");
        check(&["file"], &["coding"], "patch read_file search_files write_file");
        check(&["file"], &["code"], "patch read_file search_files write_file");
        check(&["web"], &["debugging"], "");
        check(&["web", "discord"], &["hermes-discord"], "web_extract web_search");
        check(&["web", "discord"], &["hermes-gateway"], "web_extract web_search");
        check(&["web", "irc"], &["hermes-irc"], "web_extract web_search");
        check(&["spotify", "todo"], &["mood"], "todo");
        check(&["web_tools"], &["search"], "web_extract");
        check(&["web"], &["web_tools"], "");
        check(&["web"], &["*"], "");
    }

    #[test]
    fn a_card_of_the_board_brings_its_tools_unless_they_are_denied() {
        let world = ToolsetWorld::builtin();
        let (enabled, kanban) = (names(&["todo"]), names(&["kanban"]));
        let request = SelectRequest {
            enabled: Some(&enabled),
            kanban_task: true,
            ..SelectRequest::default()
        };
        assert_eq!(select(&world, &request).tools.len(), 13);
        let request = SelectRequest { disabled: &kanban, ..request };
        assert_eq!(select(&world, &request).tools, ["todo"]);
    }

    #[test]
    fn names_that_mean_nothing_are_reported_with_the_nearest() {
        let world = ToolsetWorld::builtin();
        let (enabled, denied) =
            (names(&["WEB", "web_search"]), names(&["web_serch", "web", "todo"]));
        let request = SelectRequest {
            enabled: Some(&enabled),
            denied_tools: &denied,
            ..SelectRequest::default()
        };
        let selection = select(&world, &request);
        let found: Vec<_> =
            selection.issues.iter().map(|i| (i.name.as_str(), i.nearest())).collect();
        assert_eq!(
            found,
            [
                ("WEB", Some("web")),
                ("web_search", Some("browser")),
                ("web_serch", Some("web_search")),
                ("web", None),
            ]
        );
        assert_eq!(selection.issues[3].problem, NameProblem::ToolsetAmongTools);
    }

    #[test]
    fn without_a_list_everything_is_meant() {
        let world = ToolsetWorld::builtin().with_registered([("extra", "plug")]);
        let selection = select(&world, &SelectRequest::default());
        assert_eq!(selection.tools, world.resolve("all"));
        assert!(selection.tools.contains(&"extra"));
    }
}

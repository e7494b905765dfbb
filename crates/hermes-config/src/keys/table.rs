//! The settings this runtime reads, with their types and defaults.

use serde_json::Value;

/// A setting that is read somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeySpec {
    /// The dotted name; a key in angle brackets stands for any name.
    pub name: &'static str,
    /// What it may hold, besides null, which always means the default.
    pub kind: Kind,
    /// The default as YAML; empty when there is none.
    pub default: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
}

/// What a setting may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A boolean, in YAML's spelling.
    Bool,
    /// A boolean, also as a text or as 0 and 1.
    BoolLike,
    /// A number, also as a text.
    Number,
    /// A text.
    Text,
    /// A text or a list of texts.
    TextOrList,
    /// A list of texts; numbers and booleans in it are taken as texts.
    List,
    /// A list of anything.
    Items,
    /// A mapping.
    Map,
    /// One of these texts, in any case.
    Choice(&'static [&'static str]),
    /// Several kinds, told apart by the reader.
    Any,
}

impl Kind {
    /// What is wanted, for a message such as "must be ...".
    #[must_use]
    pub fn wanted(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::BoolLike => "true or false (also 1, 0, yes, no, on, off)".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::TextOrList => "a text or a list of texts".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::Items => "a list".to_owned(),
            Self::Map => "a mapping".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Any => "anything".to_owned(),
        }
    }

    /// Whether a setting of this kind may hold the value. Null always may.
    #[must_use]
    pub fn accepts(self, value: &Value) -> bool {
        let scalars = |items: &[Value]| !items.iter().any(|v| v.is_array() || v.is_object());
        match (self, value) {
            (Self::Any, _) | (_, Value::Null) => true,
            (Self::Bool | Self::BoolLike, Value::Bool(_)) | (Self::Number, Value::Number(_)) => {
                true
            }
            (Self::BoolLike, Value::Number(number)) => {
                matches!(number.as_i64(), Some(0 | 1))
            }
            (Self::BoolLike, Value::String(text)) => matches!(
                text.trim().to_ascii_lowercase().as_str(),
                "1" | "0" | "true" | "false" | "yes" | "no" | "on" | "off" | "enabled" | "disabled"
            ),
            (Self::Number, Value::String(text)) => {
                text.trim().parse::<f64>().is_ok_and(f64::is_finite)
            }
            // A model may be called `4.0`; the reader takes it as a text.
            (Self::Text, value) => !value.is_array() && !value.is_object(),
            (Self::TextOrList, Value::String(_))
            | (Self::Items, Value::Array(_))
            | (Self::Map, Value::Object(_)) => true,
            (Self::List | Self::TextOrList, Value::Array(items)) => scalars(items),
            (Self::Choice(words), Value::String(text)) => {
                words.iter().any(|word| word.eq_ignore_ascii_case(text.trim()))
            }
            // YAML reads the words `on` and `off` as booleans.
            (Self::Choice(words), Value::Bool(value)) => {
                words.contains(if *value { &"on" } else { &"off" })
            }
            _ => false,
        }
    }
}

const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    about: &'static str,
) -> KeySpec {
    KeySpec { name, kind, default, about }
}

use Kind::{Any, Bool, BoolLike, Choice, Items, List, Map, Number, Text, TextOrList};

/// All settings this runtime reads, sorted by section. Where a name and a `<name>` both fit, the
/// first one in the table counts.
#[rustfmt::skip]
pub const KEYS: &[KeySpec] = &[
    key("agent.coding_context", Text, "", "`focus` narrows the tools to coding inside a code workspace"),
    key("agent.disabled_tools", List, "[]", "tools no session gets"),
    key("agent.disabled_toolsets", List, "[]", "toolsets no session gets, on any platform"),
    key("agent.max_verify_nudges", Number, "", "how often a hook may ask the model to verify its work in one turn"),
    key("approvals.cron_mode", Choice(&["deny", "approve", "off", "allow", "yes"]), "deny", "`approve` lets scheduled jobs run what a person would be asked about"),
    key("approvals.deny", TextOrList, "[]", "globs of commands that never run"),
    key("approvals.destructive_slash_confirm", BoolLike, "true", "chat commands that throw something away are confirmed first"),
    key("approvals.mcp_reload_confirm", BoolLike, "true", "reloading MCP servers by a chat command is confirmed first"),
    key("approvals.mode", Choice(&["manual", "smart", "off"]), "manual", "who decides about dangerous commands: a person, a model first, nobody"),
    key("approvals.noninteractive", Choice(&["deny", "approve"]), "deny", "what happens to dangerous commands where nobody can be asked"),
    key("approvals.timeout", Number, "60", "seconds a person has to answer"),
    key("audit.enabled", BoolLike, "true", "write a line about every call to logs/tool-calls.jsonl"),
    key("auxiliary.approval.api_key", Text, "", "the key for the model of approvals.mode smart"),
    key("auxiliary.approval.base_url", Text, "", "where the model of approvals.mode smart is"),
    key("auxiliary.approval.extra_body", Any, "", "what else goes into requests to that model"),
    key("auxiliary.approval.model", Text, "", "the model of approvals.mode smart"),
    key("auxiliary.approval.provider", Text, "auto", "the provider of that model"),
    key("auxiliary.approval.reasoning_effort", Text, "", "how long that model thinks"),
    key("auxiliary.approval.timeout", Number, "30", "seconds that model has"),
    key("checkpoints.auto_prune", BoolLike, "true", "remove old checkpoints now and then"),
    key("checkpoints.delete_orphans", BoolLike, "true", "pruning removes checkpoints of folders that are gone"),
    key("checkpoints.enabled", BoolLike, "false", "take a snapshot before files are changed"),
    key("checkpoints.max_file_size_mb", Number, "10", "larger files are left out of snapshots; 0 is no limit"),
    key("checkpoints.max_snapshots", Number, "20", "snapshots kept for each project"),
    key("checkpoints.max_total_size_mb", Number, "500", "space for all snapshots; 0 is no limit"),
    key("checkpoints.min_interval_hours", Number, "24", "hours between two prunings"),
    key("checkpoints.retention_days", Number, "7", "pruning removes projects not touched for so long"),
    key("code_execution.mode", Text, "project", "where scripts run: `project` folder or a private one (`strict`)"),
    key("command_allowlist", TextOrList, "[]", "what always runs: rules, commands a rule objects to, texts or globs"),
    key("context.engine", Text, "compressor", "what keeps a conversation within the model's window"),
    key("custom_toolsets.<name>.description", Text, "", "what the toolset is for"),
    key("custom_toolsets.<name>.includes", List, "[]", "other toolsets it contains"),
    key("custom_toolsets.<name>.tools", List, "[]", "the tools it contains"),
    key("delegation.max_concurrent_children", Number, "3", "sub-agents that may run at once"),
    key("delegation.max_spawn_depth", Number, "", "how deep sub-agents may start others"),
    key("delegation.orchestrator_enabled", BoolLike, "", "sub-agents may coordinate others"),
    key("delegation.subagent_auto_approve", BoolLike, "false", "sub-agents run dangerous commands without asking"),
    key("discord.server_actions", TextOrList, "", "the only actions the discord tools offer"),
    key("display.friendly_tool_labels", BoolLike, "true", "show plain words instead of tool names"),
    key("display.tool_preview_length", Number, "0", "characters shown of a call's main argument; 0 is no limit"),
    key("display.tool_progress", Choice(&["off", "new", "all", "verbose", "log"]), "", "which tool calls are shown"),
    key("file_read_max_chars", Number, "100000", "characters one read_file result may have"),
    key("hooks.output_spill", Any, "", "when long hook output goes to a file"),
    key("hooks.<event>", Items, "[]", "commands run at this event: command, matcher, timeout, on_error"),
    key("hooks_auto_accept", BoolLike, "false", "run the commands of hooks without asking first"),
    key("known_plugin_toolsets.<platform>", List, "[]", "plugin toolsets the user has decided about; written by `hermes tools`"),
    key("lint.programs", List, "[]", "programs that also check written files: `node` (node --check), `go` (go vet)"),
    key("lsp.enabled", BoolLike, "true", "ask language servers about written files"),
    key("lsp.install_strategy", Choice(&["auto", "manual", "off"]), "auto", "where language servers are looked for: also in the project and in lsp/bin, in PATH only, or nowhere"),
    key("lsp.servers.<id>", Map, "{}", "one language server: disabled, command, env, initialization_options"),
    key("lsp.wait_mode", Choice(&["document", "full"]), "document", "what a check after a write waits for: the file, or all work of the server"),
    key("lsp.wait_timeout", Number, "5", "seconds one write may wait for a language server"),
    key("mcp_servers.<name>.enabled", BoolLike, "true", "connect to this MCP server"),
    key("mcp_servers.<name>.tools.exclude", TextOrList, "[]", "tools of the server to leave out"),
    key("mcp_servers.<name>.tools.include", TextOrList, "[]", "the only tools of the server to take; wins over exclude"),
    key("memory.write_approval", BoolLike, "false", "a person agrees to what the agent remembers"),
    key("model.context_length", Number, "", "the model's window in tokens"),
    key("model.default", Text, "", "the model to use"),
    key("model.model", Text, "", "the model to use; wins over default"),
    key("platform_toolsets.<platform>", List, "", "toolsets of sessions on this platform"),
    key("plugins.entries.<id>.allow_tool_override", Bool, "false", "the plugin may replace tools of others"),
    key("security.allow_private_urls", BoolLike, "false", "web tools may reach addresses that aren't the internet"),
    key("security.redact_secrets", BoolLike, "true", "hide secrets in what tools print"),
    key("security.tirith_enabled", BoolLike, "true", "have tirith look at commands, where it is installed"),
    key("security.tirith_fail_open", BoolLike, "true", "run commands when tirith fails"),
    key("security.tirith_path", Text, "tirith", "where tirith is"),
    key("security.tirith_timeout", Number, "5", "seconds tirith has"),
    key("security.website_blocklist.domains", List, "[]", "websites that aren't visited: a.com with all below, *.a.com, a.com:8080"),
    key("security.website_blocklist.enabled", Bool, "false", "whether the website blocklist counts"),
    key("security.website_blocklist.shared_files", List, "[]", "files with a website a line, from the home folder on"),
    key("skills.guard_agent_created", BoolLike, "false", "scan skills that the agent makes"),
    key("skills.write_approval", BoolLike, "false", "a person agrees to changes of skills"),
    key("tool_loop_guardrails.hard_stop_after.exact_failure", Number, "5", "equal failing calls before one is refused"),
    key("tool_loop_guardrails.hard_stop_after.idempotent_no_progress", Number, "5", "equal results of a reading call before it is refused"),
    key("tool_loop_guardrails.hard_stop_after.same_tool_failure", Number, "8", "failures of one tool before the turn is halted"),
    key("tool_loop_guardrails.hard_stop_enabled", BoolLike, "false", "refuse calls that go round in circles"),
    key("tool_loop_guardrails.warn_after.exact_failure", Number, "2", "equal failing calls before a warning"),
    key("tool_loop_guardrails.warn_after.idempotent_no_progress", Number, "2", "equal results of a reading call before a warning"),
    key("tool_loop_guardrails.warn_after.same_tool_failure", Number, "3", "failures of one tool before a warning"),
    key("tool_loop_guardrails.warnings_enabled", BoolLike, "true", "warn the model when it goes round in circles"),
    key("tool_output.max_bytes", Number, "50000", "bytes kept of a terminal command's output"),
    key("tool_output.max_line_length", Number, "2000", "characters read_file keeps of a line"),
    key("tool_output.max_lines", Number, "2000", "lines one read_file call may ask for"),
    key("tool_output.max_result_size.<tool>", Any, "", "characters of a tool's result before it goes to a file, or `unlimited`"),
    key("tools.max_parallel", Number, "8", "calls of one message that may run at once"),
    key("tools.tool_search", Any, "", "hide rarely used tools behind a search: a mapping or just on, off, auto"),
    key("tools.tool_search.enabled", Any, "auto", "on, off, or auto: when the hidden tools would cost much"),
    key("tools.tool_search.max_search_limit", Number, "20", "most hits of one search, 1 to 50"),
    key("tools.tool_search.search_default_limit", Number, "5", "hits of a search that names no limit"),
    key("tools.tool_search.threshold_pct", Number, "10", "share of the model's window from which auto hides tools, in percent"),
    key("toolsets", List, "[hermes-cli]", "toolsets of a session when nothing else says so"),
];

/// The setting a path names, if it is a known one.
#[must_use]
pub fn spec<S: AsRef<str>>(path: &[S]) -> Option<&'static KeySpec> {
    KEYS.iter().find(|spec| {
        let mut keys = spec.name.split('.');
        path.iter().all(|key| keys.next().is_some_and(|known| fits(known, key.as_ref())))
            && keys.next().is_none()
    })
}

/// The keys that known settings have right below a path; `None` among them stands for any name.
pub(super) fn below<S: AsRef<str>>(path: &[S]) -> Vec<Option<&'static str>> {
    let mut keys: Vec<Option<&'static str>> = KEYS
        .iter()
        .filter_map(|spec| {
            let mut keys = spec.name.split('.');
            let inside =
                path.iter().all(|key| keys.next().is_some_and(|known| fits(known, key.as_ref())));
            keys.next().filter(|_| inside)
        })
        .map(|key| Some(key).filter(|key| !is_placeholder(key)))
        .collect();
    keys.dedup();
    keys
}

fn fits(known: &str, key: &str) -> bool {
    known == key || is_placeholder(known)
}

fn is_placeholder(known: &str) -> bool {
    known.starts_with('<')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::yaml;

    #[test]
    fn the_table_is_sound() {
        let mut names = BTreeSet::new();
        for spec in KEYS {
            assert!(names.insert(spec.name), "{} is there twice", spec.name);
            assert!(spec.about.chars().count() > 9 && !spec.about.ends_with('.'), "{}", spec.name);
            let default = yaml::parse(spec.default).unwrap();
            assert!(spec.kind.accepts(&default), "{}", spec.name);
            let path: Vec<&str> = spec.name.split('.').collect();
            assert_eq!(self::spec(&path), Some(spec));
        }
    }

    #[test]
    fn placeholders_stand_for_any_name() {
        let name = |path: &[&str]| spec(path).map(|spec| spec.name);
        assert_eq!(name(&["hooks", "pre_tool_call"]), Some("hooks.<event>"));
        assert_eq!(name(&["hooks", "output_spill"]), Some("hooks.output_spill"));
        assert_eq!(name(&["hooks"]), None);
        assert_eq!(name(&["hooks", "a", "b"]), None);
        assert_eq!(below(&["plugins", "entries", "x"]), [Some("allow_tool_override")]);
        assert_eq!(below(&["plugins", "entries"]), [None]);
    }
}

//! Finding mistakes in a whole configuration.

use std::fmt;

use serde_json::Value;

use super::{join, table};
use crate::error::one_line;
use crate::yaml;

/// Sections and settings of the same file that other programs, or later versions, read.
const FOREIGN: &[&str] = &[
    "approvals",
    "auxiliary",
    "browser",
    "command_allowlist",
    "compression",
    "cron",
    "fallback_model",
    "fallback_providers",
    "gateway",
    "homeassistant",
    "image_gen",
    "kanban",
    "mcp_discovery_timeout",
    "memory",
    "moa",
    "prompt_caching",
    "providers",
    "custom_providers",
    "session_reset",
    "sessions",
    "skills",
    "stt",
    "terminal",
    "timezone",
    "tts",
    "video_gen",
    "web",
    "x_search",
];

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Probably a mistake, but nothing that is read.
    Warning,
    /// The value cannot be used; the default takes its place.
    Error,
}

/// Something in the configuration that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The setting's dotted name.
    pub key: String,
    /// What is wrong, in one line. Never holds the value.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", one_line(&self.key), self.message)
    }
}

/// Checks a configuration against the known settings, in its own order.
///
/// A wrong type is an error. An unknown key is only a warning, with the nearest known name, since
/// others read the same file: at the top always, further down when it looks like a known one
/// misspelt.
#[must_use]
pub fn check(config: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut pending: Vec<(Vec<&str>, &Value)> = vec![(Vec::new(), config)];
    while let Some((path, value)) = pending.pop() {
        if value.is_null() {
            continue;
        }
        let spec = table::spec(&path);
        let below = table::below(&path);
        let wanted = match spec {
            Some(spec) => (!spec.kind.accepts(value)).then(|| spec.kind.wanted()),
            None => (!below.is_empty() && !value.is_object()).then(|| table::Kind::Map.wanted()),
        };
        if let Some(wanted) = wanted {
            let is_choice =
                matches!(spec, Some(spec) if matches!(spec.kind, table::Kind::Choice(_)));
            let message = if is_choice && value.is_string() {
                format!("must be {wanted}")
            } else {
                format!("must be {wanted}, not {}", yaml::kind(value))
            };
            problems.push(Problem { severity: Severity::Error, key: join(&path), message });
            continue;
        }
        let Some(map) = value.as_object().filter(|_| !below.is_empty()) else { continue };
        for key in map.keys() {
            problems.extend(unknown_key(&path, key, &below));
        }
        // The last one pushed comes first.
        for (key, value) in map.iter().rev() {
            let mut path = path.clone();
            path.push(key);
            pending.push((path, value));
        }
    }
    problems
}

fn unknown_key(path: &[&str], key: &str, below: &[Option<&'static str>]) -> Option<Problem> {
    let at_top = path.is_empty();
    let foreign = if at_top { FOREIGN } else { &[] };
    if below.contains(&None) || below.contains(&Some(key)) || foreign.contains(&key) {
        return None;
    }
    let nearest = below
        .iter()
        .flatten()
        .chain(foreign)
        .map(|known| (strsim::damerau_levenshtein(known, key), *known))
        .filter(|&(distance, known)| distance <= (known.len() / 4).clamp(1, 3))
        .min();
    let message = match nearest {
        Some((_, known)) => format!("unknown key: did you mean `{known}`?"),
        None if at_top => "unknown key: nothing here reads it".to_owned(),
        None => return None,
    };
    let mut path = path.to_vec();
    path.push(key);
    Some(Problem { severity: Severity::Warning, key: join(&path), message })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        check(&yaml::parse_mapping(text).unwrap())
            .iter()
            .map(|problem| format!("{:?} {problem}", problem.severity))
            .collect()
    }

    #[test]
    fn sound_configurations_pass() {
        for text in [
            "",
            "model:\nagent:\n  disabled_tools: ~\nhooks:\nmcp_servers:\n  x:\n",
            "tools: {tool_search: on}\n",
            "tools: {tool_search: {enabled: off, threshold_pct: '12.5'}}\n",
            "terminal: {backend: local}\nweb: [whatever]\n",
            "platform_toolsets: {cli: [web, 123]}\nmodel: {default: 4.0, extra: 1}\n",
            "hooks: {pre_tool_call: [{command: x}], output_spill: {max: 1}}\n",
            "display: {tool_progress: off}\ndiscord: {server_actions: 'a, b'}\n",
            "checkpoints: {enabled: 'yes', max_snapshots: '5'}\n",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn mistakes_are_found() {
        for (text, expected) in [
            ("toolset: [a]", "Warning toolset: unknown key: did you mean `toolsets`?"),
            ("zzz: 1", "Warning zzz: unknown key: nothing here reads it"),
            (
                "tools: {tool_serch: on}",
                "Warning tools.tool_serch: unknown key: did you mean `tool_search`?",
            ),
            ("agent: 1", "Error agent: must be a mapping, not a number"),
            (
                "agent: {disabled_tools: a}",
                "Error agent.disabled_tools: must be a list of texts, not a text",
            ),
            ("toolsets: [[a]]", "Error toolsets: must be a list of texts, not a list"),
            (
                "tool_output: {max_lines: .nan}",
                "Error tool_output.max_lines: must be a number, not a text",
            ),
            (
                "plugins: {entries: {a.b: {allow_tool_override: 'true'}}}",
                "Error plugins.entries.\"a.b\".allow_tool_override: must be true or false, not a text",
            ),
            (
                "display: {tool_progress: some}",
                "Error display.tool_progress: must be one of off, new, all, verbose, log",
            ),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }
}

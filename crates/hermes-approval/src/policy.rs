//! What the configuration says about asking.

use std::time::Duration;

use hermes_registry::Settings;
use serde_json::Value;

use crate::scanner::ScannerConfig;

/// Who decides about a dangerous command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A person.
    #[default]
    Manual,
    /// A model first, and a person where it isn't sure.
    Smart,
    /// Nobody: it runs.
    Off,
}

/// How long a person has when nothing else is configured.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time a person can be given: a day.
const MAX_TIMEOUT: u64 = 24 * 60 * 60;

/// How long the reviewing model has when nothing else is configured.
const REVIEW_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings around approval, as they are at one moment.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Who decides.
    pub mode: Mode,
    /// How long a person has.
    pub timeout: Duration,
    /// Whether scheduled jobs run what a person would be asked about.
    pub cron_approves: bool,
    /// Whether it runs where nobody can be asked.
    pub noninteractive_approves: bool,
    /// Globs of commands that never run.
    pub deny: Vec<String>,
    /// What always runs: keys of rules, and texts or globs of commands.
    pub allowlist: Vec<String>,
    /// Whether sub-agents get a yes where a person would be asked.
    pub subagent_approves: bool,
    /// Whether writes to the memory wait for a person.
    pub memory_write_approval: bool,
    /// Whether writes to skills wait for a person.
    pub skills_write_approval: bool,
    /// Whether reloading MCP servers by a chat command is confirmed first.
    pub mcp_reload_confirm: bool,
    /// Whether chat commands that throw something away are confirmed first.
    pub destructive_slash_confirm: bool,
    /// How long the reviewing model has.
    pub review_timeout: Duration,
    /// The external scanner.
    pub scanner: ScannerConfig,
    /// What is odd about the settings, a sentence each.
    pub warnings: Vec<String>,
}

impl Policy {
    /// The policy that a configuration describes. `settings` gives the environment.
    #[must_use]
    pub fn of(config: &Value, settings: &Settings) -> Self {
        let get = |dotted: &str| {
            let found = dotted.split('.').try_fold(config, |value, key| value.get(key));
            found.filter(|value| !value.is_null())
        };
        let flag =
            |dotted: &str, default: bool| get(dotted).map_or(default, |it| is_on(it, default));
        let mut warnings = Vec::new();
        let mode = mode(get("approvals.mode"), &mut warnings);
        warnings.extend(unread_deny_rules(config));
        warnings.extend(unknown_cron_mode(get("approvals.cron_mode")));
        Self {
            mode,
            timeout: seconds(get("approvals.timeout")).unwrap_or(TIMEOUT),
            cron_approves: get("approvals.cron_mode").is_some_and(is_approval),
            noninteractive_approves: get("approvals.noninteractive").is_some_and(is_approval),
            deny: texts(get("approvals.deny")),
            allowlist: texts(get("command_allowlist")),
            subagent_approves: flag("delegation.subagent_auto_approve", false),
            memory_write_approval: flag("memory.write_approval", false),
            skills_write_approval: flag("skills.write_approval", false),
            mcp_reload_confirm: flag("approvals.mcp_reload_confirm", true),
            destructive_slash_confirm: flag("approvals.destructive_slash_confirm", true),
            review_timeout: seconds(get("auxiliary.approval.timeout"))
                .filter(|limit| !limit.is_zero())
                .unwrap_or(REVIEW_TIMEOUT),
            scanner: ScannerConfig::of(get("security"), settings),
            warnings,
        }
    }
}

/// What to say where `approvals.deny` isn't a list of texts: a protection that somebody counts on
/// must not be absent without a word.
fn unread_deny_rules(config: &Value) -> Option<String> {
    let is_text = |it: &Value| it.is_string() || it.is_number();
    let approvals = config.get("approvals").filter(|it| !it.is_null())?;
    let Value::Object(approvals) = approvals else {
        return Some("`approvals` isn't a map: all of it is ignored".to_owned());
    };
    let readable = match approvals.get("deny") {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.iter().all(is_text),
        Some(one) => is_text(one),
    };
    (!readable).then(|| "some of `approvals.deny` isn't text and is ignored".to_owned())
}

/// What to say where `approvals.cron_mode` is neither a yes nor a no.
fn unknown_cron_mode(value: Option<&Value>) -> Option<String> {
    let is_no = |it: &Value| it.as_str().is_some_and(|it| it.trim().eq_ignore_ascii_case("deny"));
    let value = value.filter(|it| !it.is_null() && !is_approval(it) && !is_no(it))?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let word: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
    Some(format!("approvals.cron_mode `{word}` is unknown: taken as `deny`"))
}

/// Whether the word of a setting such as `approvals.cron_mode` means yes.
#[must_use]
pub fn is_approval(value: &Value) -> bool {
    let word = value.as_str().unwrap_or_default().trim();
    ["approve", "off", "allow", "yes"].iter().any(|yes| word.eq_ignore_ascii_case(yes))
}

/// A mode as it is written; nothing is manual, and so is what can't be understood.
fn mode(value: Option<&Value>, warnings: &mut Vec<String>) -> Mode {
    let word = match value {
        None => return Mode::Manual,
        // YAML reads a bare `off` and `on` so in some of its versions.
        Some(Value::Bool(false)) => return Mode::Off,
        Some(Value::Bool(true)) => return Mode::Manual,
        Some(Value::String(word)) => word.trim().to_lowercase(),
        Some(other) => other.to_string(),
    };
    match word.as_str() {
        "manual" | "" => Mode::Manual,
        "smart" => Mode::Smart,
        "off" => Mode::Off,
        _ => {
            let word: String = word.chars().filter(|c| !c.is_control()).take(40).collect();
            warnings.push(format!("approvals.mode `{word}` is unknown: taken as `manual`"));
            Mode::Manual
        }
    }
}

pub(crate) fn seconds(value: Option<&Value>) -> Option<Duration> {
    let number = match value? {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    };
    number.map(|seconds| Duration::from_secs(seconds.min(MAX_TIMEOUT)))
}

pub(crate) fn is_on(value: &Value, default: bool) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => true,
            "0" | "false" | "no" | "off" => false,
            _ => default,
        },
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        _ => default,
    }
}

/// The texts of a list; a single text is a list of one.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    let items = match value {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    items.iter().filter_map(text).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn policy(config: &Value) -> Policy {
        Policy::of(config, &Settings::default())
    }

    #[test]
    fn deny_rules_that_cannot_be_read_are_told_of() {
        for (config, told) in [
            (json!({}), false),
            (json!({"approvals": {"deny": ["rm *", 1]}}), false),
            (json!({"approvals": {"deny": "rm *"}}), false),
            (json!({"approvals": {"deny": {"a": 1}}}), true),
            (json!({"approvals": {"deny": ["rm *", ["x"]]}}), true),
            (json!({"approvals": ["rm"]}), true),
        ] {
            assert_eq!(!policy(&config).warnings.is_empty(), told, "{config}");
        }
    }

    #[test]
    fn modes_are_read_generously_and_fail_closed() {
        for (value, expected, warned) in [
            (json!(null), Mode::Manual, false),
            (json!(false), Mode::Off, false),
            (json!(true), Mode::Manual, false),
            (json!(" Smart "), Mode::Smart, false),
            (json!("OFF"), Mode::Off, false),
            (json!("of"), Mode::Manual, true),
            (json!(0), Mode::Manual, true),
        ] {
            let policy = policy(&json!({"approvals": {"mode": value}}));
            assert_eq!((policy.mode, !policy.warnings.is_empty()), (expected, warned), "{value}");
        }
        assert_eq!(policy(&json!("no mapping")).mode, Mode::Manual);
    }

    #[test]
    fn odd_values_are_the_defaults() {
        let timeout = |value: Value| policy(&json!({"approvals": {"timeout": value}})).timeout;
        assert_eq!(timeout(json!(5)), Duration::from_secs(5));
        assert_eq!(timeout(json!("5")), Duration::from_secs(5));
        for odd in [json!(null), json!(-1), json!(1.5), json!("soon"), json!([1])] {
            assert_eq!(timeout(odd), TIMEOUT);
        }
        for (word, expected) in
            [("APPROVE", true), (" off ", true), ("allow", true), ("Yes", true), ("ask", false)]
        {
            let policy = policy(&json!({"approvals": {"cron_mode": word}}));
            assert_eq!(policy.cron_approves, expected, "{word}");
        }
        assert!(!policy(&json!({"approvals": {"cron_mode": true}})).cron_approves);
        let policy = policy(
            &json!({"approvals": {"deny": "rm *"}, "command_allowlist": [1, " a ", null, ""]}),
        );
        assert_eq!(
            (policy.deny, policy.allowlist),
            (vec!["rm *".into()], vec!["1".into(), "a".into()])
        );
    }
}

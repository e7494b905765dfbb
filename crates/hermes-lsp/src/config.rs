//! The settings under `lsp`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use hermes_config::keys::is_secret;
use hermes_registry::Settings;
use serde_json::{Map, Value};

use crate::catalog;

/// How long a change waits for a server when nothing is said, in seconds.
const WAIT: f64 = 5.0;

/// The longest wait that can be asked for, in seconds.
const MAX_WAIT: f64 = 120.0;

/// How long a server may take to say what it can. Those that run on a virtual machine take long.
const START: Duration = Duration::from_secs(45);

/// How long a server is kept that nobody needs.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// What decides which servers run, and how long a change waits for them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LspConfig {
    /// Whether servers are asked at all. Never when commands and files live on another machine.
    pub enabled: bool,
    /// What is waited for.
    pub wait_mode: WaitMode,
    /// How long one change of a file may wait, for what is wrong before and after it together.
    pub wait_timeout: Duration,
    /// How long a server may take to say what it can.
    pub start_timeout: Duration,
    /// A server that wasn't needed for so long is ended.
    pub idle_timeout: Duration,
    /// Where servers are looked for.
    pub strategy: Strategy,
    /// What is said of single servers, by id.
    pub servers: BTreeMap<String, ServerConfig>,
    /// `HERMES_HOME/lsp/bin`.
    pub own_bin: PathBuf,
    /// The environment of the servers: that of the settings, without secrets.
    pub env: BTreeMap<String, String>,
}

/// What a check after a write waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitMode {
    /// The diagnostics of the changed file.
    #[default]
    Document,
    /// Besides them, that the server says it has nothing more to do.
    Full,
}

/// Where servers are looked for. Nothing is ever installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// In `PATH`, in `HERMES_HOME/lsp/bin`, and in `node_modules/.bin` of the project.
    #[default]
    Auto,
    /// In `PATH` alone.
    Manual,
    /// Nowhere: servers whose command is configured run, and no others.
    Off,
}

/// What is said of one server. What is not said is as the catalogue has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerConfig {
    /// Never start it.
    pub disabled: bool,
    /// The program and its arguments.
    pub command: Option<Command>,
    /// Further variables of its environment.
    pub env: BTreeMap<String, String>,
    /// What it is told at its start, laid over what it is told anyway. Also the answer when it asks
    /// for its configuration.
    pub initialization_options: Map<String, Value>,
}

/// How a server is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Another program, with the arguments of the catalogue.
    Program(String),
    /// A program with its arguments.
    Whole(Vec<String>),
}

impl LspConfig {
    /// What the settings say. Anything that can't be understood counts as its default.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let get = |key: &str| settings.get(&format!("lsp.{key}"));
        let word = |key| get(key).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let is = |key, name: &str| word(key).eq_ignore_ascii_case(name);
        let seconds = get("wait_timeout").and_then(amount).unwrap_or(WAIT).min(MAX_WAIT);
        let strategy = match get("install_strategy") {
            // YAML reads the word `off` as a boolean.
            Some(Value::Bool(false)) => Strategy::Off,
            _ if is("install_strategy", "off") => Strategy::Off,
            _ if is("install_strategy", "manual") => Strategy::Manual,
            _ => Strategy::Auto,
        };
        let servers = get("servers").and_then(Value::as_object).into_iter().flatten();
        let servers: BTreeMap<_, _> =
            servers.map(|(id, value)| (id.clone(), ServerConfig::of(value))).collect();
        for id in servers.keys().filter(|id| catalog::by_id(id).is_none()) {
            tracing::warn!("lsp.servers.{id}: no language server is known by this name");
        }
        Self {
            enabled: get("enabled").and_then(truth).unwrap_or(true) && !is_remote(settings),
            wait_mode: if is("wait_mode", "full") { WaitMode::Full } else { WaitMode::Document },
            wait_timeout: Duration::from_secs_f64(seconds),
            start_timeout: START,
            idle_timeout: IDLE,
            strategy,
            servers,
            own_bin: settings.home().join("lsp").join("bin"),
            env: settings
                .envs()
                .filter(|(name, _)| !is_secret(name))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }

    /// What is said of a server; nothing if it is not named.
    pub(crate) fn server(&self, id: &str) -> ServerConfig {
        self.servers.get(id).cloned().unwrap_or_default()
    }
}

impl ServerConfig {
    fn of(value: &Value) -> Self {
        let texts = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        let command = match value.get("command") {
            Some(Value::String(program)) if !program.trim().is_empty() => {
                Some(Command::Program(program.trim().to_owned()))
            }
            Some(Value::Array(words)) if !words.is_empty() => {
                words.iter().map(texts).collect::<Option<Vec<_>>>().map(Command::Whole)
            }
            _ => None,
        };
        let map = |key: &str| value.get(key).and_then(Value::as_object).cloned();
        let env = map("env").unwrap_or_default();
        Self {
            disabled: value.get("disabled").and_then(truth).unwrap_or(false),
            command,
            env: env.iter().filter_map(|(name, it)| Some((name.clone(), texts(it)?))).collect(),
            initialization_options: map("initialization_options").unwrap_or_default(),
        }
    }
}

/// Whether commands and files live on another machine than this program.
fn is_remote(settings: &Settings) -> bool {
    let backend = settings
        .env_filled("TERMINAL_ENV")
        .or_else(|| settings.get("terminal.backend").and_then(Value::as_str));
    backend
        .map(str::trim)
        .is_some_and(|name| !name.is_empty() && !name.eq_ignore_ascii_case("local"))
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" | "enabled" => Some(true),
            "0" | "false" | "no" | "off" | "disabled" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A number that is not negative, as a text too.
fn amount(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn config(lsp: &Value) -> LspConfig {
        LspConfig::of(&Settings::new("/h").with_config(json!({"lsp": lsp})))
    }

    #[test]
    fn the_defaults() {
        for lsp in [json!(null), json!({"enabled": "perhaps", "wait_timeout": -1, "servers": 3})] {
            let found = config(&lsp);
            assert!(found.enabled && found.servers.is_empty());
            assert_eq!((found.wait_mode, found.strategy), (WaitMode::Document, Strategy::Auto));
            assert_eq!(found.wait_timeout, Duration::from_secs(5));
            assert_eq!(found.own_bin, PathBuf::from("/h/lsp/bin"));
        }
    }

    #[test]
    fn everything_can_be_said() {
        let found = config(&json!({
            "enabled": "off", "wait_mode": "Full", "wait_timeout": "0.5",
            "install_strategy": false,
            "servers": {
                "pyright": {
                    "disabled": true, "command": ["basedpyright", "--stdio"],
                    "env": {"A": 1, "B": []},
                    "initialization_options": {"python": {"analysis": {}}},
                },
                "gopls": {"command": " /opt/gopls "},
                "clangd": {"command": []},
                "other": null,
            },
        }));
        assert!(!found.enabled);
        assert_eq!((found.wait_mode, found.strategy), (WaitMode::Full, Strategy::Off));
        assert_eq!(found.wait_timeout, Duration::from_millis(500));
        let pyright = found.server("pyright");
        assert!(pyright.disabled);
        let words = ["basedpyright", "--stdio"].map(str::to_owned).to_vec();
        assert_eq!(pyright.command, Some(Command::Whole(words)));
        assert_eq!(pyright.env, BTreeMap::from([("A".to_owned(), "1".to_owned())]));
        assert!(pyright.initialization_options.contains_key("python"));
        assert_eq!(found.server("gopls").command, Some(Command::Program("/opt/gopls".to_owned())));
        assert_eq!(found.server("clangd"), ServerConfig::default());
        assert_eq!(config(&json!({"wait_timeout": 1e9})).wait_timeout, Duration::from_secs(120));
        assert_eq!(config(&json!({"install_strategy": "manual"})).strategy, Strategy::Manual);
    }

    #[test]
    fn secrets_and_remote_files_stay_away() {
        let settings = Settings::new("/h").with_env([("PATH", "/bin"), ("OPENAI_API_KEY", "s")]);
        let found = LspConfig::of(&settings);
        assert_eq!(found.env.keys().collect::<Vec<_>>(), ["PATH"]);
        for (name, enabled) in [("local", true), ("docker", false), (" ", true)] {
            let settings = Settings::new("/h").with_env([("TERMINAL_ENV", name)]);
            assert_eq!(LspConfig::of(&settings).enabled, enabled, "{name}");
        }
        let ssh = json!({"terminal": {"backend": "ssh"}});
        assert!(!LspConfig::of(&Settings::new("/h").with_config(ssh)).enabled);
    }
}

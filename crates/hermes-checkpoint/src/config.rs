//! The settings under `checkpoints`.

use std::path::PathBuf;
use std::time::Duration;

use hermes_registry::Settings;
use serde_json::Value;

const MEGABYTE: f64 = 1024.0 * 1024.0;

/// How many entries a folder may have to be worth a snapshot.
const MAX_ENTRIES: usize = 50_000;

/// What decides where snapshots go and which are taken and kept.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointConfig {
    /// Whether calls take snapshots.
    pub enabled: bool,
    /// The folder of the store; `HERMES_HOME/checkpoints`.
    pub base: PathBuf,
    /// The user's home, of which no snapshot is taken.
    pub home: Option<PathBuf>,
    /// Where `git` is looked for.
    pub path: Option<String>,
    /// How long one run of `git`, or the wait for another process, may take.
    pub timeout: Duration,
    /// Snapshots kept for each project; at least one.
    pub max_snapshots: usize,
    /// Bytes for all snapshots; none is no limit.
    pub max_total_size: Option<u64>,
    /// Files of more bytes are left out; none is no limit.
    pub max_file_size: Option<u64>,
    /// Folders with more entries are left alone.
    pub max_entries: usize,
    /// Whether calls prune now and then.
    pub auto_prune: bool,
    /// Pruning removes projects not touched for so long; none keeps them.
    pub retention: Option<Duration>,
    /// Whether pruning removes the snapshots of folders that are gone.
    pub delete_orphans: bool,
    /// The time between two prunings of calls.
    pub min_interval: Duration,
    /// The environment that commands and files live in, if it isn't this machine.
    pub remote: Option<String>,
}

impl CheckpointConfig {
    /// The defaults, with the store in `base`.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self {
            enabled: false,
            base: base.into(),
            home: None,
            path: None,
            timeout: Duration::from_secs(30),
            max_snapshots: 20,
            max_total_size: bytes(500.0),
            max_file_size: bytes(10.0),
            max_entries: MAX_ENTRIES,
            auto_prune: true,
            retention: Some(days(7.0)),
            delete_orphans: true,
            min_interval: days(1.0),
            remote: None,
        }
    }

    /// What the configuration says. Anything that can't be understood counts as its default.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let default = Self::new(settings.home().join("checkpoints"));
        let get = |key: &str| settings.get(&format!("checkpoints.{key}"));
        let flag = |key, default| get(key).and_then(truth).unwrap_or(default);
        let number = |key, default: f64| get(key).and_then(amount).unwrap_or(default);
        let seconds = settings.env_filled("HERMES_CHECKPOINT_TIMEOUT");
        let seconds = seconds.and_then(|text| text.trim().parse::<f64>().ok());
        let seconds = seconds.filter(|seconds| seconds.is_finite()).unwrap_or(30.0);
        let remote = settings
            .env_filled("TERMINAL_ENV")
            .or_else(|| settings.get("terminal.backend").and_then(Value::as_str))
            .map(str::trim)
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("local"));
        Self {
            enabled: flag("enabled", false),
            home: settings.env_filled("HOME").map(PathBuf::from),
            path: settings.env_filled("PATH").map(str::to_owned),
            timeout: Duration::from_secs_f64(seconds.clamp(10.0, 60.0)),
            max_snapshots: number("max_snapshots", 20.0).max(1.0) as usize,
            max_total_size: bytes(number("max_total_size_mb", 500.0)),
            max_file_size: bytes(number("max_file_size_mb", 10.0)),
            auto_prune: flag("auto_prune", true),
            retention: Some(days(number("retention_days", 7.0))).filter(|time| !time.is_zero()),
            delete_orphans: flag("delete_orphans", true),
            min_interval: days(number("min_interval_hours", 24.0) / 24.0),
            remote: remote.map(str::to_owned),
            ..default
        }
    }
}

/// Megabytes in bytes; none for 0.
fn bytes(megabytes: f64) -> Option<u64> {
    (megabytes > 0.0).then_some((megabytes * MEGABYTE) as u64)
}

fn days(days: f64) -> Duration {
    Duration::try_from_secs_f64(days * 86_400.0).unwrap_or(Duration::MAX)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            "0" | "false" | "no" | "off" => Some(false),
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
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_understood_is_the_default() {
        let settings = Settings::new("/h").with_config(json!({"checkpoints": {
            "enabled": "yes", "max_snapshots": "5", "max_file_size_mb": 0,
            "max_total_size_mb": -3, "retention_days": 0, "auto_prune": "maybe",
        }}));
        let config = CheckpointConfig::of(&settings);
        assert!(config.enabled && config.auto_prune);
        assert_eq!(config.base, PathBuf::from("/h/checkpoints"));
        assert_eq!((config.max_snapshots, config.max_file_size), (5, None));
        assert_eq!(config.max_total_size, Some(500 * 1024 * 1024));
        assert_eq!(config.retention, None);
    }

    #[test]
    fn the_time_limit_has_bounds() {
        for (text, seconds) in [("1", 10), ("45", 45), ("600", 60), ("soon", 30), ("nan", 30)] {
            let settings = Settings::new("/h").with_env([("HERMES_CHECKPOINT_TIMEOUT", text)]);
            assert_eq!(CheckpointConfig::of(&settings).timeout, Duration::from_secs(seconds));
        }
    }

    #[test]
    fn other_machines_are_recognised() {
        let remote = |name| {
            let settings = Settings::new("/h").with_env([("TERMINAL_ENV", name)]);
            CheckpointConfig::of(&settings).remote
        };
        assert_eq!((remote("local"), remote("docker")), (None, Some("docker".to_owned())));
    }
}

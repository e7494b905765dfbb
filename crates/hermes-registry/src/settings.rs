//! What the host read once at start-up: environment, configuration, home folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

/// A read-only snapshot of the process environment merged with `.env`, of `config.yaml` and of the
/// home folder.
///
/// Tools, availability checks and schema overrides read their settings from here and never from
/// the process: two sessions with different profiles can then live in one process, and a test
/// passes what it needs. Cloning is cheap; a changed configuration is a new snapshot.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug, Default)]
struct Inner {
    id: u64,
    home: PathBuf,
    profile: Option<String>,
    env: BTreeMap<String, String>,
    config: Value,
}

impl Settings {
    /// Settings with the given home folder (`HERMES_HOME`) and nothing else.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self::default().edit(|inner| inner.home = home.into())
    }

    fn edit(mut self, edit: impl FnOnce(&mut Inner)) -> Self {
        // Process-wide, yet nobody can tell but by comparing ids: it only makes them differ.
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let inner = Arc::make_mut(&mut self.inner);
        edit(inner);
        inner.id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        self
    }

    /// The same settings with the given environment variables in place of the present ones.
    #[must_use]
    pub fn with_env<K, V>(self, env: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<String>,
        V: Into<String>,
    {
        self.edit(|inner| {
            inner.env = env.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        })
    }

    /// The same settings with `config` (the parsed `config.yaml`) in place of the present one.
    #[must_use]
    pub fn with_config(self, config: Value) -> Self {
        self.edit(|inner| inner.config = config)
    }

    /// The same settings under a named profile.
    #[must_use]
    pub fn with_profile(self, profile: impl Into<String>) -> Self {
        self.edit(|inner| inner.profile = Some(profile.into()))
    }

    /// A number that differs between snapshots that were made differently; the key of caches.
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// The folder that holds configuration, state and logs.
    pub fn home(&self) -> &Path {
        &self.inner.home
    }

    /// The profile's name; none for the default profile.
    pub fn profile(&self) -> Option<&str> {
        self.inner.profile.as_deref()
    }

    /// A variable as it was at start-up. A variable that is set to nothing counts as present.
    pub fn env(&self, name: &str) -> Option<&str> {
        self.inner.env.get(name).map(String::as_str)
    }

    /// A variable that is set to something other than blanks.
    pub fn env_filled(&self, name: &str) -> Option<&str> {
        self.env(name).filter(|value| !value.trim().is_empty())
    }

    /// Whether a variable holds `1`, `true`, `yes` or `on`, in any case.
    pub fn env_truthy(&self, name: &str) -> bool {
        self.env(name).is_some_and(|value| {
            matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
        })
    }

    /// All variables, by name.
    pub fn envs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.inner.env.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// The whole configuration; `null` when there is none.
    pub fn config(&self) -> &Value {
        &self.inner.config
    }

    /// The configuration value at a dotted path such as `tools.tool_search.enabled`.
    ///
    /// A missing key, a step into something that is no mapping and an explicit `null` all give
    /// `None`: any key of `config.yaml` may be null.
    pub fn get(&self, dotted: &str) -> Option<&Value> {
        dotted
            .split('.')
            .try_fold(&self.inner.config, |value, key| value.get(key))
            .filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn get_walks_mappings_and_treats_null_as_absent() {
        let settings =
            Settings::new("/h").with_config(json!({"a": {"b": 1, "n": null}, "s": "text"}));
        assert_eq!(settings.get("a.b"), Some(&json!(1)));
        assert_eq!(settings.get("a.n"), None);
        assert_eq!(settings.get("s.b"), None);
        assert_eq!(settings.get("zz"), None);
    }

    #[test]
    fn an_empty_variable_is_present_but_not_filled() {
        let settings = Settings::default().with_env([("A", ""), ("B", " Yes ")]);
        assert_eq!(settings.env("A"), Some(""));
        assert_eq!(settings.env_filled("A"), None);
        assert!(settings.env_truthy("B"));
    }
}

//! The configuration as it is now, and the last good one while it is broken.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hermes_config::ConfigFile;
use hermes_registry::Settings;
use serde_json::Value;

use crate::policy::Policy;

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
    inode: u64,
}

/// The policy of a host: of its settings, then of config.yaml as often as that changes.
#[derive(Debug)]
pub(crate) struct LivePolicy {
    settings: Settings,
    file: ConfigFile,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    stamp: Option<Stamp>,
    policy: Arc<Policy>,
}

impl LivePolicy {
    pub(crate) fn new(settings: Settings) -> Self {
        let policy = Arc::new(Policy::of(settings.config(), &settings));
        warn(&policy);
        let file = ConfigFile::new(settings.home().join("config.yaml"));
        Self { settings, file, state: Mutex::new(State { stamp: None, policy }) }
    }

    /// The policy now. Rules don't vanish because somebody is in the middle of editing the file:
    /// one that is broken or gone leaves the last good policy in force.
    pub(crate) fn now(&self) -> Arc<Policy> {
        let stamp = self.stamp();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp.is_some() && stamp != state.stamp {
            state.stamp = stamp;
            match self.file.read() {
                Ok(config) => self.take(&mut state, &config),
                Err(error) => {
                    tracing::warn!(%error, "going on with the last good approval settings");
                }
            }
        }
        Arc::clone(&state.policy)
    }

    fn take(&self, state: &mut State, config: &Value) {
        let policy = Policy::of(config, &self.settings);
        if policy.warnings != state.policy.warnings {
            warn(&policy);
        }
        state.policy = Arc::new(policy);
    }

    fn stamp(&self) -> Option<Stamp> {
        let metadata = fs::metadata(self.file.path()).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Some(Stamp { modified: metadata.modified().ok(), len: metadata.len(), inode })
    }
}

fn warn(policy: &Policy) {
    for warning in &policy.warnings {
        tracing::warn!("{warning}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::Mode;

    #[test]
    fn the_last_good_policy_stays_while_the_file_is_broken() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.yaml");
        let settings = Settings::new(home.path())
            .with_config(json!({"approvals": {"mode": "off", "deny": ["a"]}}));
        let live = LivePolicy::new(settings);
        assert_eq!(live.now().mode, Mode::Off);
        fs::write(&path, "approvals: {mode: smart, deny: [b]}\n").unwrap();
        assert_eq!((live.now().mode, live.now().deny.clone()), (Mode::Smart, vec!["b".to_owned()]));
        fs::write(&path, "approvals: {mode: [").unwrap();
        assert_eq!(live.now().deny, ["b"]);
        fs::remove_file(&path).unwrap();
        assert_eq!(live.now().deny, ["b"]);
        fs::write(&path, "approvals: {deny: [c, d]}\n").unwrap();
        assert_eq!((live.now().mode, live.now().deny.len()), (Mode::Manual, 2));
    }

    #[test]
    fn a_process_that_starts_with_a_broken_file_asks() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("config.yaml"), "approvals: {mode: off").unwrap();
        assert_eq!(LivePolicy::new(Settings::new(home.path())).now().mode, Mode::Manual);
    }
}

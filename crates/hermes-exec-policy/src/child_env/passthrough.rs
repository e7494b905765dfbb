//! Variables that skills and the configuration ask for, by session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::session::is_session_variable;
use super::{Blocklist, forced, is_dynamic_secret};

/// What became of the names that somebody asked for; both sorted, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registered {
    /// What is let through from now on.
    pub accepted: BTreeSet<String>,
    /// What isn't: no names at all, or secrets of this program.
    pub refused: BTreeSet<String>,
}

/// Which variables of the host go into sandboxes, besides those that are always there. Each session
/// has its own; the configuration's count for all.
#[derive(Debug)]
pub struct Passthrough {
    blocklist: Arc<Blocklist>,
    configured: BTreeSet<String>,
    sessions: Mutex<BTreeMap<String, BTreeSet<String>>>,
}

impl Passthrough {
    /// With the names of `terminal.env_passthrough`, of which those are left out that
    /// [`judge`](Self::judge) refuses.
    pub fn new<S: AsRef<str>>(
        blocklist: Arc<Blocklist>,
        configured: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut made = Self { blocklist, configured: BTreeSet::new(), sessions: Mutex::default() };
        made.configured = made.judge(configured).accepted;
        made
    }

    /// Which of these names may be let through. Blanks around them don't count.
    pub fn judge<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> Registered {
        let mut judged = Registered::default();
        for name in names {
            let name = name.as_ref().trim();
            if name.is_empty() {
                continue;
            }
            let is_refused = !is_identifier(name)
                || self.blocklist.contains(name)
                || is_dynamic_secret(name)
                || is_session_variable(name)
                || forced(name).is_some();
            let list = if is_refused { &mut judged.refused } else { &mut judged.accepted };
            list.insert(name.to_owned());
        }
        judged
    }

    /// Lets through what a loaded skill declares, for one session.
    pub fn register<S: AsRef<str>>(
        &self,
        session: &str,
        names: impl IntoIterator<Item = S>,
    ) -> Registered {
        let judged = self.judge(names);
        if !judged.accepted.is_empty() {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            let own = sessions.entry(session.to_owned()).or_default();
            own.extend(judged.accepted.iter().cloned());
        }
        judged
    }

    /// What is let through for a session.
    #[must_use]
    pub fn names(&self, session: &str) -> BTreeSet<String> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let own = sessions.get(session).into_iter().flatten();
        own.chain(&self.configured).cloned().collect()
    }

    /// Whether a variable is let through for a session.
    #[must_use]
    pub fn allows(&self, session: &str, name: &str) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        self.configured.contains(name)
            || sessions.get(session).is_some_and(|names| names.contains(name))
    }

    /// Forgets what a session registered, at its end.
    pub fn forget(&self, session: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

/// Whether a shell takes this for the name of a variable.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

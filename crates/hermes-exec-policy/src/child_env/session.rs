//! The variables that say which session a command belongs to.

use std::collections::BTreeMap;

/// All variables that tell of a session: who writes, where, and where answers go.
pub const SESSION_VARIABLES: [&str; 15] = [
    "HERMES_SESSION_PLATFORM",
    "HERMES_SESSION_SOURCE",
    "HERMES_SESSION_CHAT_ID",
    "HERMES_SESSION_CHAT_NAME",
    "HERMES_SESSION_THREAD_ID",
    "HERMES_SESSION_USER_ID",
    "HERMES_SESSION_USER_NAME",
    "HERMES_SESSION_KEY",
    "HERMES_SESSION_ID",
    "HERMES_SESSION_MESSAGE_ID",
    "HERMES_SESSION_PROFILE",
    "HERMES_UI_SESSION_ID",
    "HERMES_CRON_AUTO_DELIVER_PLATFORM",
    "HERMES_CRON_AUTO_DELIVER_CHAT_ID",
    "HERMES_CRON_AUTO_DELIVER_THREAD_ID",
];

/// What a session says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionVars {
    vars: BTreeMap<String, String>,
    multi_session: bool,
}

impl SessionVars {
    /// The session's variables. Others than [`SESSION_VARIABLES`] are left out.
    pub fn new<K, V>(vars: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<String>,
        V: Into<String>,
    {
        let vars = vars.into_iter().map(|(name, value)| (name.into(), value.into()));
        let vars = vars.filter(|(name, _): &(String, _)| is_session_variable(name)).collect();
        Self { vars, multi_session: false }
    }

    /// The same in a process that hosts several sessions: then what a session doesn't say isn't
    /// taken from the process, since it would be another one's.
    #[must_use]
    pub fn multi_session(mut self, multi_session: bool) -> Self {
        self.multi_session = multi_session;
        self
    }

    /// Whether the process hosts several sessions.
    #[must_use]
    pub fn is_multi_session(&self) -> bool {
        self.multi_session
    }

    /// What the session says under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }
}

/// Whether a variable tells of a session, whatever its case.
pub(super) fn is_session_variable(name: &str) -> bool {
    SESSION_VARIABLES.iter().any(|it| it.eq_ignore_ascii_case(name))
}

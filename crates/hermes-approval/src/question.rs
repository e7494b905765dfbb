//! A question as it is put to a person.

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A reason for asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What an approval is remembered under.
    pub key: String,
    /// A sentence for people, secrets masked.
    pub why: String,
    /// The part of the shown command that it is about, in bytes. Empty if it is about all of it.
    pub span: Range<usize>,
}

/// Everything a person needs in order to answer. Nothing in it holds a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Names it among those that wait.
    pub id: String,
    /// The session it belongs to.
    pub session: String,
    /// The tool that was called.
    pub tool: String,
    /// What would be done.
    pub command: String,
    /// All reasons in one text.
    pub description: String,
    /// The reasons.
    pub reasons: Vec<Reason>,
    /// Whether the answer may hold for ever.
    pub allow_permanent: bool,
    /// Whether a model has refused, so that a yes can only be for once.
    pub smart_denied: bool,
    /// What "always" would cover, an entry each.
    pub covers: Vec<String>,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

impl Ask {
    /// The keys of all reasons.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        self.reasons.iter().map(|reason| reason.key.as_str()).collect()
    }

    /// What a messaging platform is told.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let keys = self.keys();
        let mut value = json!({
            "command": self.command,
            "pattern_key": keys.first(),
            "pattern_keys": keys,
            "description": self.description,
            "allow_permanent": self.allow_permanent,
        });
        if let Some(map) = value.as_object_mut().filter(|_| self.smart_denied) {
            map.insert("smart_denied".to_owned(), true.into());
        }
        value
    }
}

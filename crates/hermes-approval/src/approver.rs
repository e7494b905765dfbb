//! Who is asked, what, and what comes back.

use std::future::{Future, ready};
use std::pin::Pin;

use hermes_registry::ToolContext;

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The tool that was called.
    pub tool: String,
    /// What remembers the answer, e.g. `plugin_rule:no-deploys`.
    pub key: String,
    /// What would be done, secrets masked.
    pub what: String,
    /// Why somebody should look at it.
    pub why: String,
    /// Whether the answer may hold for ever.
    pub allow_permanent: bool,
}

impl Question {
    /// A question whose answer may be remembered for ever.
    pub fn new(
        tool: impl Into<String>,
        key: impl Into<String>,
        what: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self {
            tool: tool.into(),
            key: key.into(),
            what: what.into(),
            why: why.into(),
            allow_permanent: true,
        }
    }
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// Yes, this time.
    Once,
    /// Yes, for the rest of the session.
    Session,
    /// Yes, from now on.
    Always,
    /// No, perhaps with a reason for the model.
    Deny {
        /// What the person said.
        reason: Option<String>,
    },
    /// Nobody answered in time, which is no consent.
    Timeout,
}

impl Answer {
    /// Whether it is a yes.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Once | Self::Session | Self::Always)
    }

    /// The answer's name in logs and hooks, e.g. `session`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::Deny { .. } => "deny",
            Self::Timeout => "timeout",
        }
    }
}

/// An answer to come. An error says why nobody could be asked, and counts as a no.
pub type AskFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, String>> + Send + 'a>>;

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer.
    fn ask<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AskFuture<'a>;
}

/// Gives the same answer to every question: what was said beforehand on a command line.
#[derive(Clone, Debug)]
pub struct FixedAnswer(pub Answer);

impl Approver for FixedAnswer {
    fn ask<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AskFuture<'a> {
        Box::pin(ready(Ok(self.0.clone())))
    }
}

//! Who is asked, what, and what comes back.

use std::future::{Future, ready};
use std::pin::Pin;

use hermes_registry::ToolContext;
use serde::{Deserialize, Serialize};

use crate::question::Ask;

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

    /// The same question, whose answer holds for the session at most.
    #[must_use]
    pub fn not_permanent(mut self) -> Self {
        self.allow_permanent = false;
        self
    }
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// No, without a word.
    pub const NO: Self = Self::Deny { reason: None };

    /// A choice as programs name it. Every word that is none of the four is a no.
    #[must_use]
    pub fn from_choice(choice: &str) -> Self {
        match choice.trim().to_ascii_lowercase().as_str() {
            "once" => Self::Once,
            "session" => Self::Session,
            "always" => Self::Always,
            _ => Self::NO,
        }
    }

    /// A choice as it is typed at a prompt about `ask`: a letter or a word. What can't be
    /// understood, and what wasn't offered, is a no; `always` where only the session can be
    /// agreed to means the session.
    #[must_use]
    pub fn from_typed(typed: &str, ask: &Ask) -> Self {
        let answer = match typed.trim().to_ascii_lowercase().as_str() {
            "o" | "once" => Self::Once,
            "s" | "session" => Self::Session,
            "a" | "always" => Self::Always,
            _ => return Self::NO,
        };
        match answer {
            Self::Once => Self::Once,
            _ if ask.smart_denied => Self::NO,
            Self::Always if !ask.allow_permanent => Self::Session,
            answer => answer,
        }
    }

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

    /// What asking would come to, without asking.
    fn prospect(&self, question: &Question, cx: &ToolContext) -> Prospect {
        let _ = (question, cx);
        Prospect::Asks
    }
}

/// What asking would come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prospect {
    /// Somebody would be asked.
    Asks,
    /// It is agreed to already, for this reason.
    Agreed(&'static str),
    /// Nobody can be asked.
    Nobody,
}

/// A person in front of the program: a prompt of a terminal, a dialog, an editor.
///
/// The answer is waited for as long as the question says; then, and when the call is given up or
/// answered elsewhere, the future is dropped.
pub trait Prompter: Send + Sync {
    /// Puts one question. Questions come one after the other.
    fn prompt<'a>(&'a self, ask: &'a Ask) -> AskFuture<'a>;
}

/// Gives the same answer to every question: what was said beforehand on a command line.
#[derive(Clone, Debug)]
pub struct FixedAnswer(pub Answer);

impl Approver for FixedAnswer {
    fn ask<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AskFuture<'a> {
        Box::pin(ready(Ok(self.0.clone())))
    }
}

impl Prompter for FixedAnswer {
    fn prompt<'a>(&'a self, _: &'a Ask) -> AskFuture<'a> {
        Box::pin(ready(Ok(self.0.clone())))
    }
}

/// A dialog made of a closure `(command, description, allow_permanent, smart_denied) -> choice`.
/// An error is a no, and so is a choice that is none.
pub struct Callback<F>(pub F);

impl<F, E> Prompter for Callback<F>
where
    F: Fn(&str, &str, bool, bool) -> Result<String, E> + Send + Sync,
    E: std::fmt::Display,
{
    fn prompt<'a>(&'a self, ask: &'a Ask) -> AskFuture<'a> {
        Box::pin(async {
            let Self(choose) = self;
            let choice =
                choose(&ask.command, &ask.description, ask.allow_permanent, ask.smart_denied);
            choice.map(|choice| Answer::from_choice(&choice)).map_err(|error| error.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_is_typed_is_a_no_unless_it_was_offered() {
        let ask = |allow_permanent: bool, smart_denied: bool| Ask {
            id: String::new(),
            session: String::new(),
            tool: String::new(),
            command: String::new(),
            description: String::new(),
            reasons: Vec::new(),
            allow_permanent,
            smart_denied,
            covers: Vec::new(),
            timeout: Duration::ZERO,
        };
        let no = || Answer::Deny { reason: None };
        for (typed, free, session_only, denied) in [
            ("o", Answer::Once, Answer::Once, Answer::Once),
            (" ONCE\n", Answer::Once, Answer::Once, Answer::Once),
            ("s", Answer::Session, Answer::Session, no()),
            ("a", Answer::Always, Answer::Session, no()),
            ("always", Answer::Always, Answer::Session, no()),
            ("d", no(), no(), no()),
            ("", no(), no(), no()),
            ("y", no(), no(), no()),
            ("once more", no(), no(), no()),
        ] {
            assert_eq!(Answer::from_typed(typed, &ask(true, false)), free, "{typed}");
            assert_eq!(Answer::from_typed(typed, &ask(false, false)), session_only, "{typed}");
            assert_eq!(Answer::from_typed(typed, &ask(false, true)), denied, "{typed}");
        }
        assert_eq!(Answer::from_choice("yes"), no());
    }
}

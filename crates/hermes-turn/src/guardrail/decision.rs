//! What the guardrail says about a call.

use std::fmt;

/// What is to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Allow,
    /// The message is put after the result.
    Warn,
    /// The call doesn't run; the message is its error.
    Block,
    /// The message is put after the result, and the turn ends.
    Halt,
}

impl Action {
    /// Its word: `allow`, `warn`, `block` or `halt`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Block => "block",
            Self::Halt => "halt",
        }
    }
}

/// SHA-256 of the arguments' canonical JSON. `Display` gives 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(pub(super) [u8; 32]);

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A pattern that isn't getting anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    ExactFailure,
    ToolFailure,
    NoProgress,
}

/// What the guardrail says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is to happen.
    pub action: Action,
    /// Why, as a fixed word; `allow` for nothing.
    pub code: &'static str,
    /// How many times it was seen.
    pub count: u64,
    /// The tool; empty when nothing is to happen.
    pub tool: String,
    /// The arguments; none when nothing is to happen.
    pub signature: Option<Signature>,
    /// One bracketed line for the model; empty when nothing is to happen.
    pub message: String,
}

impl Decision {
    pub(super) const fn allow(count: u64) -> Self {
        Self {
            action: Action::Allow,
            code: "allow",
            count,
            tool: String::new(),
            signature: None,
            message: String::new(),
        }
    }

    pub(super) fn new(
        action: Action,
        pattern: Pattern,
        count: u64,
        tool: &str,
        signature: Signature,
    ) -> Self {
        let code = code(action, pattern);
        let seen = match pattern {
            Pattern::ExactFailure => {
                format!("{tool} has failed {} with the same arguments", times(count))
            }
            Pattern::ToolFailure => format!("{tool} has failed {} in this turn", times(count)),
            Pattern::NoProgress => {
                format!("{tool} has given the same result {} for the same arguments", times(count))
            }
        };
        let then = match action {
            Action::Block => "This call was not run. ",
            Action::Halt => "The turn ends here. ",
            Action::Allow | Action::Warn => "",
        };
        let advice = advice(pattern, tool);
        let message = format!("[{code}, count {count}: {seen}. {then}{advice}]");
        Self { action, code, count, tool: tool.to_owned(), signature: Some(signature), message }
    }
}

const fn code(action: Action, pattern: Pattern) -> &'static str {
    match (pattern, action) {
        (_, Action::Allow) => "allow",
        (Pattern::ExactFailure, Action::Warn) => "repeated_exact_failure_warning",
        (Pattern::ExactFailure, Action::Block | Action::Halt) => "repeated_exact_failure_block",
        (Pattern::ToolFailure, Action::Warn) => "same_tool_failure_warning",
        (Pattern::ToolFailure, Action::Block | Action::Halt) => "same_tool_failure_halt",
        (Pattern::NoProgress, Action::Warn) => "idempotent_no_progress_warning",
        (Pattern::NoProgress, Action::Block | Action::Halt) => "idempotent_no_progress_block",
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

fn advice(pattern: Pattern, tool: &str) -> &'static str {
    match (pattern, tool) {
        (Pattern::NoProgress, _) => {
            "Asking again will not change it: use what you have, or ask for something else."
        }
        (_, "terminal") => {
            "Before another try, run a small diagnostic command (pwd, ls, a version, the tail of a \
             log) to find the cause, then change the command."
        }
        (Pattern::ExactFailure, _) => {
            "The same call will fail again: read the error, then change the arguments or the \
             approach."
        }
        (Pattern::ToolFailure, _) => {
            "Read the errors for what they have in common, check what you assume, or take another \
             tool."
        }
    }
}

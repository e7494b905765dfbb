//! Whether a call may be run with the arguments that arrived.

use std::fmt;

use serde_json::{Map, Value};

use super::repair::{Read, read};
use super::report::{Ended, Fault, RepairReport};

/// What to do with a call, by the text of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgsDecision {
    /// Run it.
    Execute {
        /// The arguments.
        args: Map<String, Value>,
        /// What had to be mended; never a missing end.
        repairs: RepairReport,
    },
    /// The text is complete but no JSON: the model should write it again.
    InvalidJson {
        /// What is wrong with it, and where.
        fault: Fault,
    },
    /// The end of the text is missing: nothing may be run.
    RefuseTruncated {
        /// How many characters arrived.
        chars: usize,
        /// Where the text ends.
        ended: Ended,
        /// What is wrong before the end, if the text isn't the beginning of JSON: it is prose, as
        /// likely as not.
        fault: Option<Fault>,
    },
    /// JSON, but no object.
    RejectNotObject {
        /// What it is instead.
        kind: NotObject,
    },
}

impl ArgsDecision {
    /// The name in logs.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Execute { .. } => "execute",
            Self::InvalidJson { .. } => "invalid_json",
            Self::RefuseTruncated { .. } => "refuse_truncated",
            Self::RejectNotObject { .. } => "reject_not_object",
        }
    }
}

/// A kind of value that can't be arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotObject {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string that doesn't hold the text of an object.
    String,
    /// A list.
    List,
}

impl NotObject {
    /// In words, e.g. `a list`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
        }
    }
}

impl fmt::Display for NotObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Decides about the text of arguments as a model sent it.
///
/// ```
/// use hermes_turn::argument_text::{ArgsDecision, Ended, decide};
///
/// assert!(matches!(decide(r#"{"path": "a.txt",}"#), ArgsDecision::Execute { .. }));
/// assert_eq!(
///     decide(r#"{"path": "a.txt""#),
///     ArgsDecision::RefuseTruncated { chars: 16, ended: Ended::InContainer, fault: None },
/// );
/// ```
#[must_use]
pub fn decide(raw: &str) -> ArgsDecision {
    let cut =
        |ended, fault| ArgsDecision::RefuseTruncated { chars: raw.chars().count(), ended, fault };
    match read(raw) {
        Read::Whole(value, repairs) => of_value(value, repairs),
        Read::Closed(_, _, ended) | Read::Cut(ended) => cut(ended, None),
        Read::Fault { fault, complete: true } => ArgsDecision::InvalidJson { fault },
        Read::Fault { fault, complete: false } => cut(Ended::Unclear, Some(fault)),
    }
}

/// Decides about arguments that the provider decoded already. A string is taken as their text.
#[must_use]
pub fn decide_value(value: Value) -> ArgsDecision {
    match value {
        Value::String(text) => decide(&text),
        value => of_value(value, RepairReport::default()),
    }
}

fn of_value(value: Value, repairs: RepairReport) -> ArgsDecision {
    let kind = match value {
        Value::Null => return ArgsDecision::Execute { args: Map::new(), repairs },
        Value::Object(args) => return ArgsDecision::Execute { args, repairs },
        Value::Bool(_) => NotObject::Boolean,
        Value::Number(_) => NotObject::Number,
        Value::String(_) => NotObject::String,
        Value::Array(_) => NotObject::List,
    };
    ArgsDecision::RejectNotObject { kind }
}

//! What each step of the pipeline decided, for people who ask before they run.

use std::borrow::Cow;

/// The steps of the pipeline that decide something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// Finding the tool behind the name.
    Name,
    /// Parsing the argument text.
    Parse,
    /// Unwrapping a call through tool search.
    Bridge,
    /// Whether the session was granted the tool.
    Grant,
    /// Whether the tool can be used right now.
    Availability,
    /// Bringing arguments into the types of the schema.
    Coercion,
    /// Checking arguments against the schema.
    Validation,
}

impl Gate {
    /// The gate's name in machine output, e.g. `validation`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Parse => "parse",
            Self::Bridge => "bridge",
            Self::Grant => "grant",
            Self::Availability => "availability",
            Self::Coercion => "coercion",
            Self::Validation => "validation",
        }
    }
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which gate.
    pub gate: Gate,
    /// Whether the call went on.
    pub passed: bool,
    /// What happened, in words.
    pub note: Cow<'static, str>,
}

/// Collects decisions, or nothing where nobody asks.
pub(crate) struct Trace {
    decisions: Option<Vec<Decision>>,
}

impl Trace {
    pub(crate) fn off() -> Self {
        Self { decisions: None }
    }

    pub(crate) fn on() -> Self {
        Self { decisions: Some(Vec::new()) }
    }

    pub(crate) fn pass(&mut self, gate: Gate, note: impl FnOnce() -> Cow<'static, str>) {
        if let Some(decisions) = &mut self.decisions {
            decisions.push(Decision { gate, passed: true, note: note() });
        }
    }

    pub(crate) fn stop(&mut self, gate: Gate, note: &str) {
        if let Some(decisions) = &mut self.decisions {
            decisions.push(Decision { gate, passed: false, note: note.to_owned().into() });
        }
    }

    pub(crate) fn into_decisions(self) -> Vec<Decision> {
        self.decisions.unwrap_or_default()
    }
}

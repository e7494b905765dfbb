//! What each step of the pipeline decided, for people who ask before they run, for logs, and for
//! timelines.

use std::borrow::Cow;
use std::time::{Duration, Instant};

/// The steps of the pipeline that decide something, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// Middleware that changes arguments.
    Request,
    /// Hooks before the call, and the person they may want to be asked.
    Hooks,
    /// Whether the model goes round in circles.
    Guardrail,
    /// Whether a person agrees to an edit.
    EditReview,
    /// The snapshot of what may be changed.
    Checkpoint,
    /// What the tool itself would ask a person, or refuse. Only of calls that aren't run: others
    /// ask in their handler.
    Consent,
    /// The handler, with the middleware around it.
    Execution,
    /// Hooks that replace a result.
    Transform,
    /// What stands in for a result that is too long.
    Limit,
    /// The frame around the words of third parties.
    Frame,
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
            Self::Request => "request_middleware",
            Self::Hooks => "pre_tool_call",
            Self::Guardrail => "guardrail",
            Self::EditReview => "edit_review",
            Self::Checkpoint => "checkpoint",
            Self::Consent => "consent",
            Self::Execution => "execution",
            Self::Transform => "transform_tool_result",
            Self::Limit => "result_limit",
            Self::Frame => "trust_frame",
        }
    }

    /// The span in which the gate works.
    pub(crate) fn span(self) -> tracing::Span {
        tracing::debug_span!("gate", otel.name = self.as_str(), gate = self.as_str())
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
    /// When, since the call arrived.
    pub at: Duration,
}

/// How much is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// What changed or stopped the call.
    Notable,
    /// Every gate.
    All,
}

/// Collects decisions.
pub(crate) struct Trace {
    detail: Detail,
    since: Instant,
    decisions: Vec<Decision>,
}

impl Trace {
    pub(crate) fn new(detail: Detail) -> Self {
        Self { detail, since: Instant::now(), decisions: Vec::new() }
    }

    /// The call went on as it was.
    pub(crate) fn pass(&mut self, gate: Gate, note: impl FnOnce() -> Cow<'static, str>) {
        if self.detail == Detail::All {
            self.push(gate, true, note());
        }
    }

    /// The call went on, and something about it was changed or is worth knowing.
    pub(crate) fn note(&mut self, gate: Gate, note: impl Into<Cow<'static, str>>) {
        self.push(gate, true, note.into());
    }

    /// The call ended here.
    pub(crate) fn stop(&mut self, gate: Gate, note: &str) {
        self.push(gate, false, note.to_owned().into());
    }

    /// When the call arrived.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// What was collected, leaving nothing.
    pub(crate) fn take(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.decisions)
    }

    fn push(&mut self, gate: Gate, passed: bool, note: Cow<'static, str>) {
        self.decisions.push(Decision { gate, passed, note, at: self.since.elapsed() });
    }
}

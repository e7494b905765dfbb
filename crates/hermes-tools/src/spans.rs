//! The spans of calls, for logs and for those who collect them.

use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use crate::call::{CallOutcome, CallStatus};
use crate::pipeline::Origin;

/// A span for a call. Spans leave the machine where somebody collects them, so they never hold
/// arguments, results, or a name that stands for no tool: all of these are a model's own words.
pub(crate) fn call(id: &str) -> Span {
    tracing::info_span!(
        "tool_call",
        otel.status_code = Empty,
        tool = Empty,
        call = id,
        session = Empty,
        status = Empty,
    )
}

/// A span for a call that only the gates see.
pub(crate) fn dry_run(id: &str) -> Span {
    tracing::info_span!("dry_run", tool = Empty, call = id)
}

/// Takes a call to its outcome in its span, which is told how the call ended.
pub(crate) async fn within(
    span: Span,
    origin: &Origin,
    work: impl Future<Output = CallOutcome>,
) -> CallOutcome {
    span.record("session", &*origin.context.ids().session);
    let outcome = work.instrument(span.clone()).await;
    if matches!(outcome.status, CallStatus::Error | CallStatus::Timeout) {
        span.record("otel.status_code", "ERROR");
    }
    span.record("status", outcome.status.as_str());
    outcome
}

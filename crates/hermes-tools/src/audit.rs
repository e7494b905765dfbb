//! What the audit log holds of a call.

use std::time::{SystemTime, UNIX_EPOCH};

use hermes_audit::AuditLog;
use hermes_guard::redact::{self, Mode};
use hermes_guard::threats::Risk;
use hermes_turn::canonical::canonical_json;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::call::CallOutcome;
use crate::way::Way;

/// How many characters of the arguments are shown.
const MAX_PREVIEW: usize = 500;
/// How many characters of an error are shown.
const MAX_ERROR: usize = 300;
/// How many arguments are shown.
const MAX_ITEMS: usize = 20;
/// How many characters of any id are kept: a model may send anything.
const MAX_ID: usize = 200;

/// Writes one line about a call that is over.
///
/// The arguments are there as a digest, which tells equal calls, and as the beginning of their
/// text without secrets. Results are not there.
pub(crate) fn record(log: &AuditLog, way: &Way<'_>, outcome: &CallOutcome, shown: Option<&Value>) {
    let ids = way.origin.context.ids();
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let decisions: Vec<Value> = outcome
        .decisions
        .iter()
        .map(|decision| {
            json!({
                "gate": decision.gate.as_str(),
                "passed": decision.passed,
                "note": clean(&decision.note, MAX_ERROR),
                "at_us": decision.at.as_micros() as u64,
            })
        })
        .collect();
    let digest = shown.map(|args| hex(&Sha256::digest(canonical_json(args).as_bytes())));
    let preview = shown.map(|args| {
        let shown = redact::redact_value(&abridged(args), Mode::Log);
        cut(&shown.to_string(), MAX_PREVIEW)
    });
    let error = outcome.result.as_ref().err();
    let line = json!({
        "ts": at.as_millis() as u64,
        "session": cut(&ids.session, MAX_ID),
        "task": cut(&ids.task, MAX_ID),
        "turn": cut(&ids.turn, MAX_ID),
        "request": cut(&way.turn.request, MAX_ID),
        "call": clean(&outcome.id, MAX_ID),
        "depth": way.origin.context.depth(),
        "called": clean(&outcome.called, MAX_ID),
        "tool": outcome.tool.as_deref(),
        "args_sha256": digest,
        "args": preview,
        "decisions": decisions,
        "status": outcome.status.as_str(),
        "failed": outcome.failed,
        "error_kind": error.map(|error| error.kind().as_str()),
        "error_type": outcome.error_type,
        "error": error.map(|error| clean(error.message(), MAX_ERROR)),
        "risk": outcome.risk.as_ref().map(Risk::to_value),
        "stored": outcome.stored.as_deref(),
        "duration_us": outcome.duration.as_micros() as u64,
    });
    if let Some(error) = log.record(&line) {
        tracing::warn!(%error, "the audit log can't be written");
    }
}

/// A text without secrets, cut to size. A secret that reaches over the end of what is looked at is
/// recognised by its beginning.
fn clean(text: &str, max: usize) -> String {
    cut(&redact::redact(&cut(text, 4 * max), Mode::Log), max)
}

/// The beginning of what the arguments hold, enough for a preview: looking for secrets in all of a
/// large file would cost more than the call.
fn abridged(args: &Value) -> Value {
    match args {
        Value::Object(map) => map
            .iter()
            .take(MAX_ITEMS)
            .map(|(key, value)| (cut(key, MAX_ID), abridged_below(value)))
            .collect(),
        other => abridged_below(other),
    }
}

fn abridged_below(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text, 2 * MAX_PREVIEW)),
        Value::Array(_) | Value::Object(_) => {
            Value::String(cut(&value.to_string(), 2 * MAX_PREVIEW))
        }
        other => other.clone(),
    }
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

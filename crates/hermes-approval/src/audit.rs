//! `logs/approvals.jsonl`: every verdict that mattered.

use std::time::{SystemTime, UNIX_EPOCH};

use hermes_audit::AuditLog;
use serde_json::json;

use crate::decision::By;
use crate::keys::sha256;
use crate::shown::line;

/// Most characters of a command that are written down.
const MAX_COMMAND: usize = 2000;

/// Most characters of any other text.
const MAX_TEXT: usize = 200;

/// Most findings that are written down.
const MAX_FINDINGS: usize = 20;

/// A verdict, and what it is about.
pub(crate) struct Record<'r> {
    pub(crate) session: &'r str,
    pub(crate) call: &'r str,
    pub(crate) tool: &'r str,
    pub(crate) command: &'r str,
    pub(crate) findings: &'r [String],
    /// `approved`, `denied`, or what a model said: `smart_approve`, ..
    pub(crate) verdict: &'r str,
    pub(crate) decided_by: By,
}

/// Writes a verdict down. The command is there as a digest of the whole and as text without
/// secrets. A log that can't be written is told of once, and stops nobody.
pub(crate) fn record(log: &AuditLog, record: &Record<'_>) {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let findings: Vec<String> =
        record.findings.iter().take(MAX_FINDINGS).map(|text| line(text, MAX_TEXT)).collect();
    let entry = json!({
        "ts": at.as_millis() as u64,
        "session": line(record.session, MAX_TEXT),
        "call": line(record.call, MAX_TEXT),
        "tool": line(record.tool, MAX_TEXT),
        "command_sha256": sha256(record.command),
        "command": line(record.command, MAX_COMMAND),
        "findings": findings,
        "verdict": record.verdict,
        "decided_by": record.decided_by.as_str(),
    });
    if let Some(error) = log.record(&entry) {
        tracing::warn!(%error, "the log of approvals can't be written");
    }
}

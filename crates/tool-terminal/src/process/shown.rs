//! Processes as a model sees them.

use std::time::SystemTime;

use hermes_exec::environment::Pid;
use hermes_processes::{Ended, Process};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::mask::{mask, mask_after};

/// Most characters of a command in a list.
const COMMAND: usize = 200;

/// Adds a field to a result.
pub(super) fn put(result: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    result.insert(key.to_owned(), value.into());
}

/// A text of a process without secrets.
pub(super) fn masked(process: &Process, text: &str) -> String {
    mask(process.command(), text).into_owned()
}

/// What came after `before`, which was shown already, without secrets.
pub(super) fn masked_after(process: &Process, before: &str, text: &str) -> String {
    mask_after(process.command(), before, text)
}

/// The end of what a process wrote, without secrets.
pub(super) fn preview(process: &Process, chars: usize) -> String {
    process.masked_preview(chars, |text| masked(process, text))
}

/// `running` or `exited`.
pub(super) fn status(process: &Process) -> &'static str {
    if process.ended().is_some() { "exited" } else { "running" }
}

/// Adds how a process ended.
pub(super) fn put_end(result: &mut Map<String, Value>, ended: &Ended) {
    put(result, "exit_code", ended.code);
    put(result, "completion_reason", ended.reason.as_str());
    put(result, "termination_source", ended.source.as_str());
    if let Some(note) = &ended.note {
        put(result, "note", note.as_str());
    }
}

/// A process in a list.
pub(super) fn entry(process: &Process) -> Map<String, Value> {
    let mut entry = Map::new();
    put(&mut entry, "session_id", process.id());
    let command: String = masked(process, process.command()).chars().take(COMMAND).collect();
    put(&mut entry, "command", command);
    put(&mut entry, "cwd", process.cwd());
    put(&mut entry, "pid", process.pid().map(Pid::number));
    put(&mut entry, "started_at", local_time(process.started_at()));
    put(&mut entry, "uptime_seconds", process.uptime().as_secs());
    put(&mut entry, "status", status(process));
    put(&mut entry, "output_preview", preview(process, 200));
    if !process.patterns().is_empty() {
        put(&mut entry, "watch_patterns", process.patterns().to_vec());
        put(&mut entry, "watch_hit", process.watch_hits() > 0);
    }
    if process.notifies() {
        put(&mut entry, "notify_on_complete", true);
    }
    if let Some(ended) = process.ended() {
        put(&mut entry, "exit_code", ended.code);
    }
    if process.is_detached() {
        put(&mut entry, "detached", true);
    }
    entry
}

/// A time of this machine's zone, to the second.
fn local_time(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

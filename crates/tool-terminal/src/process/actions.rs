//! The actions of `process`, and their results.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{Pid, Size};
use hermes_processes::{InputError, Killed, Process, Source, Waited};
use hermes_registry::{ToolContext, ToolError};
use hermes_terminal::News;
use serde_json::{Map, Value, json};

use super::shown::{entry, masked, masked_after, preview, put, put_end, status};
use crate::terminals::Terminals;

/// Lines of `log` when nothing else is asked for.
const LINES: usize = 200;

/// Characters of a preview: of poll and of a wait in vain, and of a wait for an end.
const PREVIEW: usize = 1000;
const FINAL: usize = 2000;

/// Whether a process is one of the task's, or of the conversation's.
pub(super) fn is_visible(process: &Process, cx: &ToolContext) -> bool {
    is_own(process, cx) || is_of_session(process, cx)
}

fn is_own(process: &Process, cx: &ToolContext) -> bool {
    process.task() == &*cx.ids().task
}

fn is_of_session(process: &Process, cx: &ToolContext) -> bool {
    !process.session_key().is_empty() && process.session_key() == &*cx.ids().session
}

/// All processes of the task and the conversation.
pub(super) fn list(terminals: &Terminals, cx: &ToolContext) -> Value {
    let all = terminals.processes().all();
    let seen = all.iter().filter(|process| is_visible(process, cx));
    let entries = seen.map(|process| {
        let mut entry = entry(process);
        if !is_own(process, cx) {
            put(&mut entry, "session_scoped", true);
        }
        Value::Object(entry)
    });
    json!({"processes": entries.collect::<Vec<_>>()})
}

/// How a process is, and what it wrote since the last look.
pub(super) async fn poll(terminals: &Terminals, process: &Process, cx: &ToolContext) -> Value {
    let mut result = Map::new();
    put(&mut result, "session_id", process.id());
    put(&mut result, "command", masked(process, process.command()));
    // Before the output: what comes in between isn't lost then.
    let ended = process.ended();
    put(&mut result, "status", if ended.is_some() { "exited" } else { "running" });
    put(&mut result, "pid", process.pid().map(Pid::number));
    put(&mut result, "uptime_seconds", process.uptime().as_secs());
    put(&mut result, "output_preview", preview(process, PREVIEW));
    put(&mut result, "new_output", new_output(process));
    if let Some((screen, (row, column), is_full)) = process.screen() {
        put(&mut result, "screen", masked(process, &screen));
        put(&mut result, "cursor", json!({"row": row, "column": column}));
        put(&mut result, "full_screen", is_full);
    }
    if process.is_detached() {
        put(&mut result, "detached", true);
        let note = "It was started by an earlier run of this program: it can be looked at and \
                    killed; what it wrote since then and its exit code are unknown.";
        put(&mut result, "note", note);
    }
    if let Some(ended) = &ended {
        put_end(&mut result, ended);
        put_leftovers(&mut result, process).await;
        // At a terminal the person has seen it as well.
        if cx.surface() == hermes_registry::Surface::Cli {
            terminals.processes().consume(process);
        }
    }
    Value::Object(result)
}

/// Most characters of new output in one answer; the end of what is new.
const NEW: usize = 20_000;

fn new_output(process: &Process) -> String {
    let News { before, text, lost } = process.new_output();
    let new = masked_after(process, &before, &text);
    let surplus = new.chars().count().saturating_sub(NEW);
    let rest: String = new.chars().skip(surplus).collect();
    match (surplus, lost) {
        (0, 0) => new,
        (_, 0) => format!("[{surplus} characters are left out; log has them]\n{rest}"),
        _ => {
            let file = match process.log() {
                Some(file) => format!("they are in {}", file.display()),
                None => "they aren't kept".to_owned(),
            };
            let count = lost + surplus as u64;
            format!("[{count} characters are left out; {file}]\n{rest}")
        }
    }
}

/// Adds the end of what a process wrote, and says so if it isn't all.
fn put_output(result: &mut Map<String, Value>, process: &Process, chars: usize) {
    put(result, "output", preview(process, chars));
    if process.written() > chars as u64 {
        put(result, "truncated", true);
        put(result, "output_note", format!("the last {chars} characters; log has more"));
    }
}

/// Says that a process has ended and what it started hasn't.
async fn put_leftovers(result: &mut Map<String, Value>, process: &Process) {
    let count = process.leftovers().await;
    if count > 0 {
        put(result, "leftovers", count);
        let note = "It has ended, and processes that it started still run: kill ends them.";
        put(result, "leftovers_note", note);
    }
}

/// Lines of what a process wrote.
pub(super) fn log(
    terminals: &Terminals,
    process: &Process,
    offset: Option<i64>,
    limit: Option<i64>,
) -> Value {
    let limit = limit.and_then(|it| usize::try_from(it).ok()).filter(|it| *it > 0);
    let ended = process.ended();
    let page = process.page(offset, limit.unwrap_or(LINES));
    let mut result = Map::new();
    put(&mut result, "session_id", process.id());
    put(&mut result, "command", masked(process, process.command()));
    put(&mut result, "status", status(process));
    put(&mut result, "output", masked_after(process, &page.before, &page.text));
    put(&mut result, "total_lines", page.total_lines);
    let (first, lines) = (page.first_line, page.lines as u64);
    let showing = match lines {
        0 => "no lines".to_owned(),
        _ => {
            let cut = if page.is_cut { "; the start of the first isn't kept" } else { "" };
            format!("lines {first}-{} (from 0{cut})", first + lines - 1)
        }
    };
    put(&mut result, "showing", showing);
    if page.is_truncated() {
        put(&mut result, "dropped_lines", page.dropped_lines);
        put(&mut result, "truncated", true);
        if let Some(file) = process.log() {
            put(&mut result, "full_log", file.to_string_lossy());
        }
    }
    if let Some(ended) = &ended {
        put_end(&mut result, ended);
        if first + lines >= page.total_lines {
            terminals.processes().consume(process);
        }
    }
    Value::Object(result)
}

/// Waits for the end of a process.
pub(super) async fn wait(
    terminals: &Terminals,
    process: &Process,
    timeout: Option<f64>,
    cx: &ToolContext,
) -> Result<Value, ToolError> {
    let config = terminals.environments().config_of(cx.ids());
    let most = config.map_or(Duration::from_secs(180), |config| config.timeout);
    let asked = timeout.filter(|seconds| *seconds > 0.0);
    let asked = asked.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let limit = asked.unwrap_or(most).min(most);
    let waited = process.wait(limit, cx.cancel().cancelled()).await;
    let mut result = Map::new();
    let (status, chars) = match &waited {
        Waited::Ended(_) => ("exited", FINAL),
        Waited::TimedOut => ("timeout", PREVIEW),
        Waited::Interrupted => ("interrupted", PREVIEW),
    };
    put(&mut result, "status", status);
    put(&mut result, "session_id", process.id());
    put(&mut result, "command", masked(process, process.command()));
    put_output(&mut result, process, chars);
    if let Waited::Ended(ended) = &waited {
        put_end(&mut result, ended);
        put_leftovers(&mut result, process).await;
        terminals.processes().consume(process);
    }
    if asked.is_some_and(|asked| asked > most) {
        let note = format!("waited {} s, which is the most in one call", most.as_secs());
        put(&mut result, "timeout_note", note);
    } else if asked.is_none() && timeout.is_some() {
        let note = format!("a timeout from 1 s on can be given; it was {} s", limit.as_secs());
        put(&mut result, "timeout_note", note);
    }
    Ok(Value::Object(result))
}

/// Ends a process.
pub(super) async fn kill(terminals: &Terminals, process: &Arc<Process>) -> Value {
    let mut result = Map::new();
    let killed = process.kill(Source::ProcessKill).await;
    match &killed {
        Killed::Killed(ended) => {
            put(&mut result, "status", "killed");
            put(&mut result, "session_id", process.id());
            put_end(&mut result, ended);
        }
        Killed::AlreadyExited(ended) => {
            put(&mut result, "status", "already_exited");
            put(&mut result, "session_id", process.id());
            put_end(&mut result, ended);
        }
        Killed::LeftBehind(ended, count) => {
            put(&mut result, "status", "already_exited");
            put(&mut result, "session_id", process.id());
            put_end(&mut result, ended);
            put(&mut result, "leftovers_killed", *count);
            let note = "It had ended before; processes that it had left running are ended now.";
            put(&mut result, "note", note);
        }
        Killed::Failed(why) => return json!({"status": "error", "error": why}),
    }
    put_output(&mut result, process, FINAL);
    terminals.processes().consume(process);
    Value::Object(result)
}

/// Types something.
pub(super) async fn write(process: &Process, mut data: String, with_enter: bool) -> Value {
    if with_enter {
        data.push('\n');
    }
    match process.write(data.as_bytes()).await {
        Ok(count) => json!({"status": "ok", "bytes_written": count}),
        Err(error) => not_typed(&error),
    }
}

/// Ends the input of a process.
pub(super) async fn close(process: &Process) -> Value {
    match process.close_input().await {
        Ok(()) => json!({"status": "ok", "message": "Its input is at its end."}),
        Err(error) => not_typed(&error),
    }
}

fn not_typed(error: &InputError) -> Value {
    let message = match error {
        InputError::Ended(ended) => {
            let mut result = Map::new();
            put(&mut result, "status", "already_exited");
            put(&mut result, "error", "it has ended and reads nothing any more");
            put_end(&mut result, ended);
            return Value::Object(result);
        }
        InputError::Closed => "its input is closed".to_owned(),
        InputError::Detached => {
            "it was started by an earlier run of this program, which held its input".to_owned()
        }
        InputError::Full(count) => {
            format!("it doesn't read: {count} bytes were taken, and the rest was not")
        }
        InputError::Io(error) => format!("nothing could be typed: {error}"),
    };
    json!({"status": "error", "error": message})
}

/// Makes the terminal of a process another size.
pub(super) fn resize(process: &Process, rows: Option<u16>, cols: Option<u16>) -> Value {
    let (Some(rows), Some(cols)) = (rows.filter(|it| *it > 0), cols.filter(|it| *it > 0)) else {
        return json!({"status": "error", "error": "resize needs `rows` and `cols`"});
    };
    match process.resize(Size { rows, cols }) {
        Ok(()) => json!({"status": "ok", "rows": rows, "cols": cols}),
        Err(error) => json!({"status": "error", "error": format!("not resized: {error}")}),
    }
}

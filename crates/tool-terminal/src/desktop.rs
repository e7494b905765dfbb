//! `read_terminal` and `close_terminal`: the terminal panes of a desktop program.

use std::future::Future;
use std::pin::Pin;

use hermes_registry::{
    Concurrency, Settings, ToolContext, ToolError, ToolOutput, ToolResult, Unavailable, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A program that shows terminals to a person: `cx.service::<dyn DesktopTerminal>()`.
pub trait DesktopTerminal: Send + Sync {
    /// What the person's terminal shows: `count` lines from `start_line` on, or what is in view.
    /// A JSON object as text, or plain text; empty when there is no answer.
    ///
    /// # Errors
    /// The program can't answer.
    fn read<'a>(
        &'a self,
        start_line: Option<u64>,
        count: Option<u64>,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

    /// Takes the pane of a background process away. The process goes on.
    ///
    /// # Errors
    /// There is no such pane.
    fn close(&self, process: &str) -> Result<(), String>;
}

register! {
    pub static READ_TERMINAL;
    name: "read_terminal",
    toolset: "terminal",
    description: "Reads the terminal pane that the person has open in the desktop program: what \
        is in view, or `count` lines from `start_line` on. It is the person's terminal, not the \
        one that your commands run in.",
    handler: read,
    emoji: "🖥️",
    verb: "Reading",
    check: is_desktop,
    concurrency: Concurrency::ReadOnly,
}

register! {
    pub static CLOSE_TERMINAL;
    name: "close_terminal",
    toolset: "terminal",
    description: "Closes the pane of a background process in the desktop program. The process \
        itself goes on.",
    handler: close,
    emoji: "🖥️",
    verb: "Closing",
    check: is_desktop,
    concurrency: Concurrency::Exclusive,
}

fn is_desktop(settings: &Settings) -> Result<(), Unavailable> {
    let is_desktop = settings.env_truthy("HERMES_DESKTOP");
    is_desktop.then_some(()).ok_or_else(|| "only in the desktop program".to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct ReadArgs {
    /// The first line, counted from 0; by default what is in view.
    #[serde(default)]
    #[schemars(with = "Option<i64>")]
    start_line: Value,
    /// How many lines.
    #[serde(default)]
    #[schemars(with = "Option<i64>")]
    count: Value,
}

async fn read(args: ReadArgs, cx: ToolContext) -> ToolResult {
    read_terminal(&args.start_line, &args.count, &cx).await
}

/// `read_terminal` with arguments as they come.
///
/// # Errors
/// A number that is none, or no desktop program that answers.
pub async fn read_terminal(start_line: &Value, count: &Value, cx: &ToolContext) -> ToolResult {
    let start_line = number("start_line", start_line)?.map(|it| it.max(0).unsigned_abs());
    let count = number("count", count)?.map(|it| it.max(1).unsigned_abs());
    let failed = |why: &str| ToolError::unavailable(format!("the terminal can't be read: {why}"));
    let Some(desktop) = cx.service::<dyn DesktopTerminal>() else {
        return Err(failed("no desktop program is connected"));
    };
    let answer = tokio::select! {
        answer = desktop.read(start_line, count) => answer.map_err(|why| failed(&why))?,
        () = cx.cancel().cancelled() => return Err(ToolError::cancelled("interrupted")),
    };
    match serde_json::from_str(&answer) {
        Ok(answer @ Value::Object(_)) => Ok(ToolOutput::Json(answer)),
        _ if answer.trim().is_empty() => Err(failed("the desktop program gave no answer")),
        _ => Ok(ToolOutput::Json(json!({"text": answer}))),
    }
}

fn number(name: &str, value: &Value) -> Result<Option<i64>, ToolError> {
    match value {
        Value::Null => Ok(None),
        value => value.as_i64().map(Some).ok_or_else(|| {
            ToolError::invalid_arguments(format!("`{name}` must be a whole number"))
        }),
    }
}

#[derive(Deserialize, JsonSchema)]
struct CloseArgs {
    /// The session_id of the background process.
    process_id: String,
}

async fn close(args: CloseArgs, cx: ToolContext) -> ToolResult {
    close_terminal(&args.process_id, &cx)
}

/// `close_terminal` for a process.
///
/// # Errors
/// No process is named.
pub fn close_terminal(process: &str, cx: &ToolContext) -> ToolResult {
    let process = process.trim();
    if process.is_empty() {
        return Err(ToolError::invalid_arguments("`process_id` is empty"));
    }
    let closed = match cx.service::<dyn DesktopTerminal>() {
        Some(desktop) => desktop.close(process),
        None => Err("no desktop program is connected".to_owned()),
    };
    Ok(ToolOutput::Json(match closed {
        Ok(()) => json!({
            "status": "ok",
            "closed": process,
            "note": "The pane is closed; the process goes on until it ends or is killed.",
        }),
        Err(why) => json!({"status": "error", "error": format!("the pane isn't closed: {why}")}),
    }))
}

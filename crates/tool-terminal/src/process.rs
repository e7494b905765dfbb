//! `process`: what goes on beside the conversation.

mod actions;
mod shown;

use hermes_registry::{
    Concurrency, Exposure, ToolContext, ToolError, ToolOutput, ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::available;
use crate::terminals::Terminals;

register! {
    pub static PROCESS;
    name: "process",
    toolset: "terminal",
    description: "Looks after background processes started by terminal with background=true.\n\
        list: all of them. poll: whether one runs, its new output and the end of all of it; for a \
        program on a terminal also its screen. log: lines of its output, the last `limit` ones, \
        or from line `offset` (0 is the first, negative counts from the end). wait: until it ends \
        or `timeout` seconds have passed. kill: ends it with all that it started. write: types \
        `data` as it is. submit: types `data` and Enter. close: the end of its input. resize: \
        another size of its terminal, `rows` and `cols`.\n\
        Waiting is better than polling again and again.",
    handler: process,
    emoji: "⚙️",
    verb: "Process",
    check: available::check,
    concurrency: Concurrency::Exclusive,
    // The wait has a limit of its own, which the configuration may raise.
    timeout: std::time::Duration::from_secs(24 * 3600),
    exposure: Exposure::Core,
    repeatable: true,
}

/// What can be done.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Action {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
    Resize,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// What to do.
    #[schemars(with = "Action")]
    action: String,
    /// The process, as terminal named it; for all actions but list.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    session_id: Value,
    /// What to type, for write and submit.
    #[serde(default)]
    data: Option<String>,
    /// The most seconds to wait.
    #[serde(default)]
    #[schemars(with = "Option<i64>", range(min = 1))]
    timeout: Option<f64>,
    /// The first line of log: 0 is the first, -20 the twentieth from the end; without it the last
    /// lines are shown.
    #[serde(default)]
    offset: Option<i64>,
    /// The most lines of log: 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<i64>,
    /// Lines of the terminal, for resize.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    rows: Option<u16>,
    /// Characters in a line of the terminal, for resize.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    cols: Option<u16>,
}

async fn process(args: Args, cx: ToolContext) -> ToolResult {
    let terminals = cx.require_service::<Terminals>("process")?;
    let action = args.action.trim().to_ascii_lowercase();
    const ACTIONS: [&str; 8] =
        ["poll", "log", "wait", "kill", "write", "submit", "close", "resize"];
    if action == "list" {
        return Ok(ToolOutput::Json(actions::list(&terminals, &cx)));
    }
    if !ACTIONS.contains(&&*action) {
        return Err(ToolError::invalid_arguments(format!(
            "`{action}` is no action: use list, {}",
            ACTIONS.join(", ")
        )));
    }
    let id = match &args.session_id {
        Value::String(id) if !id.trim().is_empty() => id.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => {
            let message = format!("{action} needs `session_id`: list shows the processes");
            return Err(ToolError::invalid_arguments(message));
        }
    };
    let found = terminals.processes().get(&id).filter(|it| actions::is_visible(it, &cx));
    let Some(process) = found else {
        return Ok(ToolOutput::Json(json!({
            "status": "not_found",
            "error": format!("there is no process {id}; list shows those that are known"),
        })));
    };
    let result = match &*action {
        "poll" => actions::poll(&terminals, &process, &cx).await,
        "log" => actions::log(&terminals, &process, args.offset, args.limit),
        "wait" => actions::wait(&terminals, &process, args.timeout, &cx).await?,
        "kill" => actions::kill(&terminals, &process).await,
        "write" | "submit" => {
            let Some(data) = args.data else {
                let message = format!("{action} needs `data`");
                return Err(ToolError::invalid_arguments(message));
            };
            actions::write(&process, data, action == "submit").await
        }
        "close" => actions::close(&process).await,
        _ => actions::resize(&process, args.rows, args.cols),
    };
    Ok(ToolOutput::Json(result))
}

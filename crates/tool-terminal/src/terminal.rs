//! `terminal`: a command in a shell.

use std::time::Duration;

use hermes_registry::{
    CheckpointScope, Concurrency, Exposure, ForeseeFuture, ResultLimit, ToolContext, ToolError,
    ToolOutput, ToolResult, register,
};
use serde_json::Value;

use crate::args::{self, Args};
use crate::plan::{self, Plan, refusal};
use crate::{available, background, foreground};

register! {
    pub static TERMINAL;
    name: "terminal",
    toolset: "terminal",
    description: "Runs a command with bash and returns its output and exit code. Commands of a \
        session follow each other as if typed into one shell: the folder, exported variables, \
        functions, aliases and options stay, other variables and traps don't. stdin is empty. \
        stdout and stderr come together; of long output the beginning and the end are shown, and \
        the rest is in the file that the note names.\n\
        A foreground command is answered when it ends. Whatever doesn't end by itself (servers, \
        watchers) and whatever takes long belongs into the background: background=true returns a \
        session_id at once[[process|, and the process tool shows its output, waits for it, types \
        into it and ends it]]. Don't use `&`, nohup or setsid for that, and don't poll in a loop.\n\
        Don't run editors, pagers or other programs that want a person[[process| in the \
        foreground; use pty=true with background=true for them]].[[read_file| Read files with \
        read_file and not with cat, ]][[search_files|search with search_files and not with grep \
        or find, ]][[patch|edit with patch and not with sed.]]",
    handler: terminal,
    emoji: "💻",
    verb: "Running",
    check: available::check,
    overrides: args::definition,
    concurrency: Concurrency::Exclusive,
    max_result_size: ResultLimit::Chars(100_000),
    // The command has a limit of its own, which the configuration may raise.
    timeout: Duration::from_secs(24 * 3600),
    exposure: Exposure::Core,
    foresee: foresee,
    checkpoint: CheckpointScope::Command { command: "command", workdir: "workdir" },
}

fn foresee(args: Value, cx: ToolContext) -> ForeseeFuture {
    Box::pin(async move {
        let args = serde_json::from_value::<Args>(args);
        let args = args.map_err(|error| ToolError::invalid_arguments(error.to_string()))?;
        plan::foresee(args, cx).await
    })
}

async fn terminal(args: Args, cx: ToolContext) -> ToolResult {
    let plan = Plan::of(&args, &cx).await?;
    let result = if args.background {
        background::run(plan, &args, &cx).await
    } else {
        foreground::run(plan, &cx).await
    };
    result.map(ToolOutput::Json).map_err(refusal)
}

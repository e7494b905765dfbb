//! Running a handler so that nothing it does harms anyone else.

use std::sync::Arc;
use std::time::Duration;

use hermes_registry::{
    Concurrency, Deadline, ErrorKind, Invocation, Tool, ToolContext, ToolError, ToolFuture,
    ToolOutput, ToolResult,
};
use serde_json::Value;

use crate::arguments;
use crate::call::{CallStatus, Effect};
use crate::middleware::{CallInfo, Core, ExecutionMiddleware, onion};
use crate::pipeline::status_of_stop;
use crate::prepared::PreparedTool;
use crate::task::{self, TaskFailure};

/// How long an interrupted handler has to end by itself, with what it has so far.
const GRACE: Duration = Duration::from_secs(3);
/// The same for one that ran out of time: the answer is late already.
const LATE_GRACE: Duration = Duration::from_millis(100);

/// How a call ended, before anything is made of its result.
pub(crate) struct Execution {
    pub(crate) result: ToolResult,
    pub(crate) status: CallStatus,
    pub(crate) effect: Effect,
    /// What sort of failure it was, where the kind of the error doesn't say.
    pub(crate) error_type: Option<&'static str>,
}

impl Execution {
    /// The handler never ran.
    pub(crate) fn not_run(status: CallStatus, error: ToolError, error_type: &'static str) -> Self {
        Self { result: Err(error), status, effect: Effect::None, error_type: Some(error_type) }
    }

    /// No handler was needed.
    pub(crate) fn answered(output: ToolOutput) -> Self {
        Self { result: Ok(output), status: CallStatus::Ok, effect: Effect::Ran, error_type: None }
    }
}

/// How long a call of `tool` may take; none for tools that wait for a person.
pub(crate) fn time_limit(tool: &Tool, default: Option<Duration>) -> Option<Duration> {
    match tool.meta().concurrency {
        Concurrency::Interactive => tool.meta().timeout,
        _ => tool.meta().timeout.or(default),
    }
}

/// Runs a handler, inside of the middleware around it, to its end, its deadline or its
/// cancellation, whichever comes first.
///
/// The handler runs as a task of its own, so that a panic or a busy loop stays there. When it is
/// given up its token is cancelled; an async handler is dropped at its next await, a blocking one
/// is left to notice.
pub(crate) async fn execute(
    prepared: &Arc<PreparedTool>,
    args: Value,
    cx: ToolContext,
    layers: &Arc<[Arc<dyn ExecutionMiddleware>]>,
    info: Option<Arc<CallInfo>>,
) -> Execution {
    let tool = &prepared.tool;
    let cancel = cx.cancel().clone();
    let deadlines = cx.deadlines().to_vec();
    // A person who thinks is no work that takes too long.
    let waiting =
        (tool.meta().concurrency == Concurrency::Interactive).then(|| cx.wait_for_person());
    let Some(info) = info.filter(|_| !layers.is_empty()) else {
        let work = isolated(Arc::clone(tool), args, cx);
        return watch(tool, work, cancel, &deadlines, waiting).await;
    };
    let core: Core = Arc::new({
        let (prepared, cx, given) = (Arc::clone(prepared), cx, args.clone());
        move |mut args| -> ToolFuture {
            // A layer may have changed them.
            if args != given
                && let Err(error) = arguments::fit(&prepared, &mut args)
            {
                return Box::pin(std::future::ready(Err(error)));
            }
            let (tool, cx) = (Arc::clone(&prepared.tool), cx.clone());
            Box::pin(async move {
                let joined = isolated(Arc::clone(&tool), args, cx).await;
                joined.unwrap_or_else(|failure| Err(broken(&tool, failure)))
            })
        }
    });
    let around = onion(Arc::clone(layers), info, core, args);
    let work = async { task::caught(around).await.map_err(TaskFailure::Panicked) };
    watch(tool, work, cancel, &deadlines, waiting).await
}

async fn isolated(
    tool: Arc<Tool>,
    args: Value,
    cx: ToolContext,
) -> Result<ToolResult, TaskFailure> {
    // Starting a call runs the handler's own code already (its arguments are parsed there).
    let task = task::spawn(async move {
        match tool.start(args, cx) {
            Invocation::Async(future) => Ok(future.await),
            Invocation::Blocking(work) => task::spawn_blocking(work).await,
        }
    });
    task.await.and_then(|joined| joined)
}

/// Waits for `work`, and gives it up where it must be.
async fn watch(
    tool: &Tool,
    work: impl Future<Output = Result<ToolResult, TaskFailure>>,
    cancel: hermes_registry::CancellationToken,
    deadlines: &[Deadline],
    _waiting: Option<hermes_registry::PersonWait>,
) -> Execution {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        joined = &mut work => finished(tool, joined),
        () = cancel.cancelled() => tokio::select! {
            biased;
            joined = work => finished(tool, joined),
            () = tokio::time::sleep(GRACE) => cancelled(tool),
            () = passed(deadlines) => cancelled(tool),
        },
        () = passed(deadlines) => {
            cancel.cancel();
            let late = tokio::time::timeout(LATE_GRACE, work).await;
            timed_out(tool, late.ok().and_then(Result::ok).and_then(Result::ok))
        }
    }
}

/// Resolves once one of the deadlines has passed. They can move while this waits.
pub(crate) async fn passed(deadlines: &[Deadline]) {
    // How often a deadline is asked that stands still.
    const PAUSED: Duration = Duration::from_millis(250);
    let earliest = || deadlines.iter().min_by_key(|deadline| deadline.instant());
    let Some(mut deadline) = earliest() else { return std::future::pending().await };
    loop {
        let at = deadline.instant();
        tokio::time::sleep_until(at.into()).await;
        if deadline.is_paused() {
            tokio::time::sleep(PAUSED).await;
        } else if deadline.instant() == at {
            return;
        }
        deadline = earliest().unwrap_or(deadline);
    }
}

fn finished(tool: &Tool, joined: Result<ToolResult, TaskFailure>) -> Execution {
    let result = match joined {
        Ok(result) => result,
        Err(TaskFailure::Aborted) => return cancelled(tool),
        Err(failure) => Err(broken(tool, failure)),
    };
    let status = match &result {
        Ok(_) => CallStatus::Ok,
        Err(error) => status_of_stop(error.kind()),
    };
    Execution { result, status, effect: Effect::Ran, error_type: None }
}

fn broken(tool: &Tool, failure: TaskFailure) -> ToolError {
    match failure {
        TaskFailure::Panicked(message) => {
            ToolError::internal(format!("{} crashed: {message}", tool.name()))
        }
        TaskFailure::Aborted => {
            ToolError::new(ErrorKind::Cancelled, format!("{} was stopped", tool.name()))
        }
    }
}

fn cancelled(tool: &Tool) -> Execution {
    let message = format!("{} was interrupted before it finished", tool.name());
    Execution {
        result: Err(ToolError::cancelled(message)),
        status: CallStatus::Cancelled,
        effect: Effect::Unknown,
        error_type: Some("keyboard_interrupt"),
    }
}

/// `late` is what the handler had to give when it was told to end.
fn timed_out(tool: &Tool, late: Option<ToolOutput>) -> Execution {
    let message = format!(
        "{} ran out of time and was stopped; it may have done part of its work",
        tool.name()
    );
    let error = ToolError::timeout(message);
    let error = match late {
        Some(ToolOutput::Json(value)) => error.with_extra("partial_result", value),
        Some(output) => error.with_extra("partial_result", output.to_text()),
        None => error,
    };
    Execution {
        result: Err(error),
        status: CallStatus::Timeout,
        effect: Effect::Unknown,
        error_type: Some("tool_timeout"),
    }
}

//! Running a handler so that nothing it does harms anyone else.

use std::sync::Arc;
use std::time::Duration;

use hermes_registry::{Concurrency, Invocation, Tool, ToolContext, ToolError, ToolResult};
use serde_json::Value;

use crate::call::{CallStatus, Effect};
use crate::task::{self, TaskFailure};

/// How a handler ended.
pub(crate) struct Execution {
    pub(crate) result: ToolResult,
    pub(crate) status: CallStatus,
    pub(crate) effect: Effect,
}

/// How long a call of `tool` may take; none for tools that wait for a person.
pub(crate) fn time_limit(tool: &Tool, default: Option<Duration>) -> Option<Duration> {
    match tool.meta().concurrency {
        Concurrency::Interactive => tool.meta().timeout,
        _ => tool.meta().timeout.or(default),
    }
}

/// Runs a handler to its end, its deadline or its cancellation, whichever comes first.
///
/// The handler runs as a task of its own, so that a panic or a busy loop stays there. When it is
/// given up its token is cancelled; an async handler is dropped at its next await, a blocking one
/// is left to notice.
pub(crate) async fn execute(tool: &Arc<Tool>, args: Value, cx: ToolContext) -> Execution {
    let cancel = cx.cancel().clone();
    let deadline = cx.deadline();
    let task = task::spawn({
        let tool = Arc::clone(tool);
        // Starting a call runs the handler's own code already (its arguments are parsed there).
        async move {
            match tool.start(args, cx) {
                Invocation::Async(future) => Ok(future.await),
                Invocation::Blocking(work) => task::spawn_blocking(work).await,
            }
        }
    });
    let given_up = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        joined = task => finished(tool, joined.and_then(|result| result)),
        () = cancel.cancelled() => cancelled(tool),
        () = given_up => {
            cancel.cancel();
            timed_out(tool)
        }
    }
}

fn finished(tool: &Tool, joined: Result<ToolResult, TaskFailure>) -> Execution {
    let result = match joined {
        Ok(result) => result,
        Err(TaskFailure::Panicked(message)) => {
            Err(ToolError::internal(format!("{} crashed: {message}", tool.name())))
        }
        Err(TaskFailure::Aborted) => return cancelled(tool),
    };
    let status = match &result {
        Ok(_) => CallStatus::Ok,
        Err(error) => status_of(error),
    };
    Execution { result, status, effect: Effect::Ran }
}

/// The status that goes with an error of a handler.
fn status_of(error: &ToolError) -> CallStatus {
    use hermes_registry::ErrorKind;
    match error.kind() {
        ErrorKind::Denied => CallStatus::Blocked,
        ErrorKind::Cancelled => CallStatus::Cancelled,
        ErrorKind::Timeout => CallStatus::Timeout,
        _ => CallStatus::Error,
    }
}

fn cancelled(tool: &Tool) -> Execution {
    let message = format!("{} was interrupted before it finished", tool.name());
    Execution {
        result: Err(ToolError::cancelled(message)),
        status: CallStatus::Cancelled,
        effect: Effect::Unknown,
    }
}

fn timed_out(tool: &Tool) -> Execution {
    let message = format!(
        "{} ran out of time and was stopped; it may have done part of its work",
        tool.name()
    );
    Execution {
        result: Err(ToolError::timeout(message)),
        status: CallStatus::Timeout,
        effect: Effect::Unknown,
    }
}

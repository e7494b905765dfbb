//! Showing a person what a call would change, before it does.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use hermes_registry::{EditProposal, Tool, ToolContext, ToolError};
use serde_json::Value;

use crate::task::{self, TaskFailure};

/// How long a person has.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a reviewer decides; an error says why nobody could be asked, and counts as a no.
pub type ReviewFuture<'a> = Pin<Box<dyn Future<Output = Result<bool, String>> + Send + 'a>>;

/// Somebody who looks at edits before they are made: an editor with the user in front of it.
pub trait EditReviewer: Send + Sync {
    /// Whether the edits may be made. All of them belong to one call of `tool`.
    fn review<'a>(
        &'a self,
        tool: &'a Tool,
        args: &'a Value,
        edits: &'a [EditProposal],
        cx: &'a ToolContext,
    ) -> ReviewFuture<'a>;
}

/// Asks the reviewer about a call, if its tool edits files.
///
/// # Errors
/// Denied: by the reviewer, by silence, or because what would change can't be told.
pub(crate) async fn review(
    reviewer: &dyn EditReviewer,
    tool: &Tool,
    args: &Value,
    cx: &ToolContext,
) -> Result<bool, ToolError> {
    let Some(propose) = tool.propose() else { return Ok(false) };
    let edits = {
        let (args, cx) = (args.clone(), cx.clone());
        match task::spawn_blocking(move || propose(&args, &cx)).await {
            Ok(edits) => edits.map_err(|error| {
                let why = format!("the change can't be shown for review: {}", error.message());
                not_modified(tool, &why)
            })?,
            Err(failure) => return Err(not_modified(tool, &crashed(failure))),
        }
    };
    let _waiting = cx.wait_for_person();
    let asked = task::caught(reviewer.review(tool, args, &edits, cx));
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(Ok(true))) => Ok(true),
        Ok(Ok(Ok(false))) => Err(not_modified(tool, "the edit was turned down")),
        Ok(Ok(Err(why))) => Err(not_modified(tool, &format!("nobody could be asked ({why})"))),
        Ok(Err(panic)) => Err(not_modified(tool, &crashed(TaskFailure::Panicked(panic)))),
        Err(_) => Err(not_modified(tool, "nobody answered in time")),
    }
}

fn crashed(failure: TaskFailure) -> String {
    match failure {
        TaskFailure::Panicked(message) => format!("the review crashed: {message}"),
        TaskFailure::Aborted => "the review was stopped".to_owned(),
    }
}

fn not_modified(tool: &Tool, why: &str) -> ToolError {
    ToolError::denied(format!(
        "{} was not run and nothing was modified: {why}. Do not make the same change in another \
         way; wait for the user",
        tool.name()
    ))
}

//! Snapshots before the calls of a pipeline.

use std::path::Path;

use hermes_registry::{Tool, ToolContext};
use hermes_tools::{CheckpointFuture, Checkpointer};

use crate::checkpoints::{Checkpoints, Outcome};
use crate::project::project_root;
use crate::status::problem;

impl Checkpointer for Checkpoints {
    /// One snapshot of the project that `target` belongs to for each turn of a conversation.
    fn checkpoint<'a>(
        &'a self,
        tool: &'a Tool,
        target: &'a Path,
        cx: &'a ToolContext,
    ) -> CheckpointFuture<'a> {
        Box::pin(async move {
            if let Some(problem) = problem(&self.store, &self.config) {
                return Ok(Some(format!("no snapshot: {problem}")));
            }
            let root = project_root(target, self.config.home.as_deref());
            let ids = cx.ids();
            // A conversation that has begun no turn is in its first one.
            let is_known = !ids.turn.is_empty() || !ids.session.is_empty();
            let turn = is_known.then(|| format!("{}\n{}", ids.session, ids.turn));
            let reason = format!("before {}", tool.name());
            let outcome = Self::checkpoint(self, &root, &reason, turn.as_deref())
                .await
                .map_err(|error| error.to_string())?;
            let root = root.display();
            let note = match outcome {
                Outcome::Taken(hash) => {
                    if let Err(error) = self.prune_if_due().await {
                        tracing::debug!(%error, "old checkpoints could not be removed");
                    }
                    let short: String = hash.chars().take(8).collect();
                    format!("snapshot {short} of {root}")
                }
                Outcome::Skipped(why) => format!("no snapshot of {root}: {}", why.as_str()),
            };
            Ok(Some(note))
        })
    }
}

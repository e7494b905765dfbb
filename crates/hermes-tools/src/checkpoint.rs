//! Snapshots before calls that change files.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use hermes_registry::{Access, CheckpointScope, Concurrency, Tool, ToolContext};
use serde_json::Value;

use crate::canonical_path::canonical_in;
use crate::patch_paths::patched;

/// What came of a snapshot: a note for people if there is one, or why it failed.
pub type CheckpointFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + 'a>>;

/// Keeps what a call is about to change. A failure is logged and never stops the call.
pub trait Checkpointer: Send + Sync {
    /// Takes a snapshot of what is at or below `target`.
    fn checkpoint<'a>(
        &'a self,
        tool: &'a Tool,
        target: &'a Path,
        cx: &'a ToolContext,
    ) -> CheckpointFuture<'a>;
}

/// What a call may change: the paths that it writes, or the folder that a destructive command works
/// in. Empty if nothing is worth a snapshot.
pub(crate) fn targets(tool: &Tool, args: &Value, cx: &ToolContext) -> Vec<PathBuf> {
    let text = |name: &str| {
        args.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    };
    let mut named = BTreeSet::new();
    match tool.meta().checkpoint {
        CheckpointScope::Command { command, workdir }
            if text(command).is_some_and(hermes_guard::destructive::is_destructive) =>
        {
            let configured = cx.settings().env_filled("TERMINAL_CWD");
            named.insert(text(workdir).or(configured).unwrap_or("."));
        }
        CheckpointScope::Patch { path, patch } => {
            named.extend(text(path));
            named.extend(text(patch).into_iter().flat_map(patched));
        }
        CheckpointScope::Declared => {
            if let Concurrency::PathScoped { access: Access::Write, arg, .. } =
                tool.meta().concurrency
            {
                named.insert(text(arg).unwrap_or("."));
            }
        }
        _ => {}
    }
    named.into_iter().map(|path| canonical_in(path, cx)).collect()
}

//! Snapshots before calls that change files.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use hermes_registry::{Access, CheckpointScope, Concurrency, Tool, ToolContext};
use serde_json::Value;

use crate::canonical_path;

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

/// What a call may change: the path that it writes, or the folder that a destructive command works
/// in. None if nothing is worth a snapshot.
pub(crate) fn target(tool: &Tool, args: &Value, cx: &ToolContext) -> Option<PathBuf> {
    let text = |name: &str| {
        args.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    };
    match tool.meta().checkpoint {
        CheckpointScope::Command { command, workdir } => {
            if !hermes_guard::destructive::is_destructive(text(command)?) {
                return None;
            }
            let configured = cx.settings().env_filled("TERMINAL_CWD");
            Some(absolute(text(workdir).or(configured).unwrap_or("."), cx))
        }
        CheckpointScope::Declared => match tool.meta().concurrency {
            Concurrency::PathScoped { access: Access::Write, arg, .. } => {
                Some(absolute(text(arg).unwrap_or("."), cx))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A path as the call means it, with symbolic links resolved.
pub(crate) fn absolute(path: &str, cx: &ToolContext) -> PathBuf {
    canonical_path(path, cx.cwd(), home(cx).as_deref())
}

/// The user's home folder.
fn home(cx: &ToolContext) -> Option<PathBuf> {
    cx.settings().env_filled("HOME").map(PathBuf::from)
}

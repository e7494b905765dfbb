//! What has changed since a snapshot.

use serde::Serialize;

use crate::error::Result;
use crate::project::Project;
use crate::snapshot::tip;
use crate::stage::{Stage, discard, scratch};
use crate::store::{Held, Store};
use crate::walk::Limits;

/// The most bytes of a diff.
const MAX_DIFF: usize = 1024 * 1024;

/// What has changed since a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Always true: a failure is an error.
    pub success: bool,
    /// The files, with the number of changed lines.
    pub stat: String,
    /// The changes as a unified diff.
    pub diff: String,
    /// Whether there was more than is shown.
    pub truncated: bool,
}

/// Compares a snapshot with the present state; none if the project has too many entries.
pub(crate) async fn since(
    store: &Store,
    held: &Held,
    project: &Project,
    limits: &Limits,
    hash: &str,
) -> Result<Option<Diff>> {
    let last = tip(store, project).await?;
    let index = scratch(store, project);
    let last = last.as_ref().map(|last| last.tree.as_str());
    let stage = Stage { store, project, limits, index: index.clone(), last, keep: &[] };
    let tree = stage.tree(held).await;
    discard(&index);
    let Some(tree) = tree? else { return Ok(None) };
    let shown = async |flag: &str| {
        let args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", flag];
        let args = args.into_iter().chain([hash, &*tree, "--"]);
        store.git.run(args).capture(MAX_DIFF).answer().await
    };
    let stat = shown("--stat").await?;
    let diff = shown("--patch").await?;
    Ok(Some(Diff {
        success: true,
        stat: String::from_utf8_lossy(&stat.bytes).into_owned(),
        diff: String::from_utf8_lossy(&diff.bytes).into_owned(),
        truncated: stat.dropped + diff.dropped > 0,
    }))
}

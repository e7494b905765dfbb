//! Taking a snapshot.

use crate::error::Result;
use crate::layout::ref_name;
use crate::names::Name;
use crate::project::Project;
use crate::stage::Stage;
use crate::store::{Held, Store};
use crate::walk::Limits;

/// What a ref that doesn't exist yet is compared with.
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// The identity of all snapshots.
const EMAIL: &str = "hermes@local";

/// The newest snapshot of a project.
#[derive(Clone, Debug)]
pub(crate) struct Tip {
    pub(crate) commit: String,
    pub(crate) tree: String,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The hash of the new snapshot, and its tree.
    New(Tip),
    /// The last one is the same; its tree.
    Unchanged(String),
    /// The project has too many entries.
    TooMany,
}

/// The newest snapshot, if there is one.
pub(crate) async fn tip(store: &Store, project: &Project) -> Result<Option<Tip>> {
    let format = "--format=%(objectname) %(tree)";
    let line = store.git.run(["for-each-ref", format, &ref_name(&project.id)]).line().await?;
    Ok(line
        .split_once(' ')
        .map(|(commit, tree)| Tip { commit: commit.to_owned(), tree: tree.to_owned() }))
}

/// Takes a snapshot unless nothing has changed since the last one.
pub(crate) async fn take(
    store: &Store,
    held: &Held,
    project: &Project,
    limits: &Limits,
    reason: &str,
    keep: &[Name],
) -> Result<Taken> {
    let last = tip(store, project).await?;
    let index = store.layout.index(&project.id);
    let last_tree = last.as_ref().map(|last| last.tree.as_str());
    let stage = Stage { store, project, limits, index, last: last_tree, keep };
    let Some(tree) = stage.tree(held).await? else { return Ok(Taken::TooMany) };
    if last_tree == Some(&*tree) {
        return Ok(Taken::Unchanged(tree));
    }
    let mut args = vec!["commit-tree", &tree];
    if let Some(last) = &last {
        args.extend(["-p", &last.commit]);
    }
    args.extend(["-F", "-"]);
    let commit = store
        .git
        .run(args)
        // The author is the project: two projects never have a snapshot in common.
        .env("GIT_AUTHOR_NAME", &project.id)
        .env("GIT_AUTHOR_EMAIL", EMAIL)
        .env("GIT_COMMITTER_NAME", "hermes")
        .env("GIT_COMMITTER_EMAIL", EMAIL)
        .stdin(reason.replace('\0', " "))
        .line()
        .await?;
    let old = last.as_ref().map_or(NOTHING, |last| &last.commit);
    store.git.run(["update-ref", &ref_name(&project.id), &commit, old]).bytes().await?;
    Ok(Taken::New(Tip { commit, tree }))
}

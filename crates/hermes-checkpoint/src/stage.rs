//! The present files of a project as a tree in the store.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{CheckpointError, Result};
use crate::names::{Name, join, split};
use crate::project::Project;
use crate::store::{Held, Store, log};
use crate::walk::{self, Limits};

/// How many files one git takes. A slow disk may need the whole time limit for the first snapshot of
/// a large project; what the index has by then need not be done again.
pub(crate) const CHUNK: usize = 5_000;

/// What is to be staged.
pub(crate) struct Stage<'s> {
    pub(crate) store: &'s Store,
    pub(crate) project: &'s Project,
    pub(crate) limits: &'s Limits,
    /// The index to do it in. It may hold anything; what it knows of files saves reading them.
    pub(crate) index: PathBuf,
    /// The tree of the last snapshot.
    pub(crate) last: Option<&'s str>,
    /// Files that are taken whatever their size and even if they are ignored.
    pub(crate) keep: &'s [Name],
}

impl Stage<'_> {
    /// The hash of the tree; none if the project has too many entries.
    pub(crate) async fn tree(&self, _held: &Held) -> Result<Option<String>> {
        match self.once().await {
            // The index may be torn, or know of objects that are gone: start without.
            Err(error @ CheckpointError::Git { .. }) if self.index.exists() => {
                tracing::debug!(%error, "the index is made anew");
                log(fs::remove_file(&self.index), &self.index);
                self.once().await
            }
            staged => staged,
        }
    }

    async fn once(&self) -> Result<Option<String>> {
        let git = &self.store.git;
        let root = &self.project.folder;
        if let Some(last) = self.last.filter(|_| !self.index.exists()) {
            git.run(["read-tree", last]).index(&self.index).bytes().await?;
        }
        let tracked: HashSet<Name> = if self.index.exists() {
            let listed = git.run(["ls-files", "-z", "--cached"]).work_tree(root).index(&self.index);
            split(&listed.bytes().await?).map(<[u8]>::to_vec).collect()
        } else {
            HashSet::new()
        };
        let (folder, limits, keep) = (root.clone(), self.limits.clone(), self.keep.to_vec());
        let planned = blocking(move || walk::plan(&folder, &limits, tracked, &keep)).await?;
        let Some(mut plan) = planned else { return Ok(None) };
        if let Err(error) = self.update(&plan.present, &plan.gone).await {
            // Most likely a file that may not be read; git then takes none at all.
            tracing::debug!(%error, "once more without what can't be read");
            let folder = root.clone();
            plan = blocking(move || {
                walk::drop_unreadable(&folder, &mut plan);
                plan
            })
            .await?;
            self.update(&plan.present, &plan.gone).await?;
        }
        git.run(["write-tree"]).work_tree(root).index(&self.index).line().await.map(Some)
    }

    async fn update<'n>(
        &self,
        present: impl IntoIterator<Item = &'n Name>,
        gone: impl IntoIterator<Item = &'n Name>,
    ) -> Result<()> {
        // First, so that a file that became a folder is not in the way.
        self.update_index(&["--force-remove"], gone).await?;
        // Files may vanish meanwhile.
        self.update_index(&["--add", "--remove", "--replace"], present).await
    }

    async fn update_index<'n>(
        &self,
        flags: &[&str],
        names: impl IntoIterator<Item = &'n Name>,
    ) -> Result<()> {
        let mut names = names.into_iter().peekable();
        while names.peek().is_some() {
            let args = ["update-index"].iter().chain(flags).chain(&["-z", "--stdin"]);
            let run = self.store.git.run(args).work_tree(&self.project.folder).index(&self.index);
            run.stdin(join(names.by_ref().take(CHUNK))).bytes().await?;
        }
        Ok(())
    }
}

/// Runs what waits for the disk beside the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    hermes_task::spawn_blocking(work).await.map_err(|failure| CheckpointError::Io {
        path: PathBuf::new(),
        source: std::io::Error::other(format!("{failure:?}")),
    })
}

/// Lends a project's index to something that must not disturb it.
pub(crate) fn scratch(store: &Store, project: &Project) -> PathBuf {
    let scratch = store.layout.scratch_index(&project.id);
    let index = store.layout.index(&project.id);
    // Without the copy all files are read.
    log(copy_with_time(&index, &scratch), &index);
    scratch
}

/// Copies an index. A file that was changed in the same second as the index is read by git to tell
/// whether it has changed, so the copy must not be younger.
fn copy_with_time(index: &Path, scratch: &Path) -> std::io::Result<()> {
    let modified = index.metadata()?.modified()?;
    fs::copy(index, scratch)?;
    fs::File::options().write(true).open(scratch)?.set_modified(modified)
}

/// Removes a scratch index.
pub(crate) fn discard(index: &Path) {
    log(fs::remove_file(index), index);
}

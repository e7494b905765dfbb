//! Everything that can be done with snapshots.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use tokio::sync::Mutex;

use crate::config::CheckpointConfig;
use crate::diff::{self, Diff};
use crate::error::{CheckpointError, Result};
use crate::history::{self, Entry};
use crate::project::{Project, is_protected};
use crate::prune::{self, Pruned};
use crate::restore::{self, Restored};
use crate::room;
use crate::snapshot::{self, Taken};
use crate::status::{self, Status};
use crate::store::{Held, Store};
use crate::walk::Limits;

/// Takes snapshots of folders and goes back to them.
///
/// Folders are those of projects: see [`project_root`](crate::project_root). All work of all
/// processes on one store happens one after the other; a store that stays in use longer than the
/// time limit is an error.
#[derive(Debug)]
pub struct Checkpoints {
    pub(crate) config: CheckpointConfig,
    pub(crate) store: Store,
    /// The turn of the last snapshot of each project. Held while a snapshot is taken.
    turns: Mutex<HashMap<String, String>>,
}

/// What came of a wish for a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was taken, and this is its hash.
    Taken(String),
    /// It was not.
    Skipped(Skipped),
}

/// Why no snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skipped {
    /// There is one of this turn.
    ThisTurn,
    /// Nothing has changed since the last one.
    Unchanged,
    /// The folder is `/`, the home, one that the home lies in, or that of the store.
    Protected,
    /// The folder has too many entries.
    TooMany,
    /// There is no such folder.
    NoFolder,
}

impl Skipped {
    /// For people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ThisTurn => "there is one of this turn",
            Self::Unchanged => "nothing has changed since the last one",
            Self::Protected => "of this folder none is taken",
            Self::TooMany => "the folder has too many entries",
            Self::NoFolder => "there is no such folder",
        }
    }
}

impl Checkpoints {
    /// Over the store that the configuration names, which need not exist.
    #[must_use]
    pub fn new(mut config: CheckpointConfig) -> Self {
        config.home = config.home.map(|home| home.canonicalize().unwrap_or(home));
        let store = Store::new(&config);
        Self { config, store, turns: Mutex::default() }
    }

    /// The configuration.
    pub fn config(&self) -> &CheckpointConfig {
        &self.config
    }

    /// Takes a snapshot of `folder`, unless there is one of this turn or nothing has changed. A
    /// turn that is not known has no limit.
    ///
    /// # Errors
    ///
    /// Git or the disk failed; the snapshots so far are as they were.
    pub async fn checkpoint(
        &self,
        folder: &Path,
        reason: &str,
        turn: Option<&str>,
    ) -> Result<Outcome> {
        let project = Project::new(folder);
        if !project.folder.is_dir() {
            return Ok(Outcome::Skipped(Skipped::NoFolder));
        }
        let base = &self.config.base;
        let base = base.canonicalize().unwrap_or_else(|_| base.clone());
        if is_protected(&project.folder, self.config.home.as_deref())
            || project.folder.starts_with(base)
        {
            return Ok(Outcome::Skipped(Skipped::Protected));
        }
        let mut turns = self.turns.lock().await;
        if turn.is_some() && turns.get(&project.id).map(String::as_str) == turn {
            return Ok(Outcome::Skipped(Skipped::ThisTurn));
        }
        let held = self.hold().await?;
        let taken =
            snapshot::take(&self.store, &held, &project, &self.limits(), reason, &[]).await?;
        let outcome = match taken {
            Taken::TooMany => Outcome::Skipped(Skipped::TooMany),
            Taken::Unchanged(_) => Outcome::Skipped(Skipped::Unchanged),
            Taken::New(tip) => Outcome::Taken(tip.commit),
        };
        if let Some(turn) = turn {
            turns.insert(project.id.clone(), turn.to_owned());
        }
        if outcome != Outcome::Skipped(Skipped::TooMany) {
            self.tidy(&held, &project).await;
        }
        Ok(outcome)
    }

    /// The snapshots of `folder`, newest first.
    ///
    /// # Errors
    ///
    /// Git failed.
    pub async fn list(&self, folder: &Path) -> Result<Vec<Entry>> {
        history::list(&self.store, &Project::new(folder)).await
    }

    /// What has changed in `folder` since a snapshot, which is named by its number (1 is the
    /// newest) or by the beginning of its hash.
    ///
    /// # Errors
    ///
    /// There is no such snapshot of this folder, or git or the disk failed.
    pub async fn diff(&self, folder: &Path, name: &str) -> Result<Diff> {
        let project = Project::new(folder);
        let hash = history::resolve(&history::hashes(&self.store, &project).await?, name)?;
        let held = self.hold().await?;
        let diff = diff::since(&self.store, &held, &project, &self.limits(), &hash).await?;
        diff.ok_or_else(too_many)
    }

    /// Puts `folder`, or one file or folder in it, back as it was at a snapshot, which is named as
    /// for [`diff`](Self::diff).
    ///
    /// The present state becomes a snapshot first, unless the last one is the same. Files that came
    /// after the snapshot are removed when the whole folder is put back; ignored files stay.
    ///
    /// # Errors
    ///
    /// There is no such snapshot of this folder or no such file in it; the file is not a relative
    /// path inside; git or the disk failed.
    /// [`Incomplete`](CheckpointError::Incomplete) if some files could not be written.
    pub async fn restore(&self, folder: &Path, name: &str, file: Option<&str>) -> Result<Restored> {
        let project = Project::new(folder);
        let hash = history::resolve(&history::hashes(&self.store, &project).await?, name)?;
        let _turns = self.turns.lock().await;
        let held = self.hold().await?;
        let limits = self.limits();
        let restored = restore::restore(&self.store, &held, &project, &limits, &hash, file).await;
        // Only now: the snapshot that was gone back to may be the one too many.
        self.tidy(&held, &project).await;
        restored?.ok_or_else(too_many)
    }

    /// Forgets projects that are gone or old, and removes what no snapshot holds.
    ///
    /// # Errors
    ///
    /// Git or the disk failed.
    pub async fn prune(&self) -> Result<Pruned> {
        if !self.store.exists() {
            return Ok(Pruned::default());
        }
        let held = self.hold().await?;
        prune::prune(&self.store, &held, &self.config).await
    }

    /// [Prunes](Self::prune) if the configuration wants that and the last time is long ago.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn prune_if_due(&self) -> Result<Option<Pruned>> {
        if prune::is_due(&self.store, &self.config)? {
            self.prune().await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// What there is.
    ///
    /// # Errors
    ///
    /// Git failed.
    pub async fn status(&self) -> Result<Status> {
        status::status(&self.store, &self.config).await
    }

    /// Removes all snapshots of all projects and gives the bytes that they took.
    ///
    /// # Errors
    ///
    /// The disk failed.
    pub async fn clear(&self) -> Result<u64> {
        let store = self.store.layout.store();
        if !store.exists() {
            return Ok(0);
        }
        let mut turns = self.turns.lock().await;
        let _held = self.store.hold().await?;
        let bytes = room::bytes_in(&store).await?;
        fs::remove_dir_all(&store).map_err(CheckpointError::io(&store))?;
        crate::store::log(fs::remove_file(self.store.layout.last_prune()), &store);
        turns.clear();
        Ok(bytes)
    }

    /// Removes what older versions left and gives the bytes that it took.
    ///
    /// # Errors
    ///
    /// The disk failed.
    pub async fn clear_legacy(&self) -> Result<u64> {
        let mut bytes = 0;
        for folder in status::legacy(&self.store) {
            bytes += room::bytes_in(&folder).await?;
            fs::remove_dir_all(&folder).map_err(CheckpointError::io(&folder))?;
        }
        Ok(bytes)
    }

    async fn hold(&self) -> Result<Held> {
        let held = self.store.hold().await?;
        self.store.ready(&held).await?;
        Ok(held)
    }

    fn limits(&self) -> Limits {
        Limits {
            base: self.config.base.clone(),
            max_entries: self.config.max_entries,
            max_file_size: self.config.max_file_size,
        }
    }

    /// What follows a snapshot, and doesn't make it fail.
    async fn tidy(&self, held: &Held, project: &Project) {
        let tidied = async {
            self.store.touch(project)?;
            room::trim(&self.store, held, project, self.config.max_snapshots).await?;
            room::tidy(&self.store, held, self.config.max_total_size).await
        };
        if let Err(error) = tidied.await {
            tracing::debug!(%error, "the checkpoint store could not be tidied");
        }
    }
}

fn too_many() -> CheckpointError {
    let source = std::io::Error::other(Skipped::TooMany.as_str());
    CheckpointError::Io { path: Path::new("").to_owned(), source }
}

//! Forgetting projects.

use std::fs;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::config::CheckpointConfig;
use crate::error::Result;
use crate::layout::{is_gone, ref_name};
use crate::room;
use crate::store::{Held, Store, log, seconds, write};

/// What pruning did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Projects looked at.
    pub scanned: usize,
    /// Projects forgotten because their folder is gone.
    pub deleted_orphan: usize,
    /// Projects forgotten because nothing was done with them for long.
    pub deleted_stale: usize,
    /// Projects that could not be forgotten.
    pub errors: usize,
    /// How many bytes smaller the store is.
    pub bytes_freed: u64,
}

/// Forgets projects whose folder is gone or that were not touched for long, then removes what no
/// snapshot holds.
pub(crate) async fn prune(store: &Store, held: &Held, config: &CheckpointConfig) -> Result<Pruned> {
    let mut pruned = Pruned::default();
    let before = room::bytes_in(&store.layout.store()).await?;
    let now = seconds(SystemTime::now());
    for (id, note) in store.notes() {
        pruned.scanned += 1;
        let Some(note) = note else {
            pruned.errors += 1;
            continue;
        };
        let is_orphan = config.delete_orphans && is_gone(&note.workdir);
        let age = Duration::try_from_secs_f64(now - note.last_touch).unwrap_or_default();
        let is_stale = config.retention.is_some_and(|limit| age > limit);
        if !is_orphan && !is_stale {
            continue;
        }
        match forget(store, held, &id).await {
            Ok(()) if is_orphan => pruned.deleted_orphan += 1,
            Ok(()) => pruned.deleted_stale += 1,
            Err(error) => {
                tracing::debug!(project = id, %error, "a project could not be forgotten");
                pruned.errors += 1;
            }
        }
    }
    room::collect(store, held).await?;
    room::tidy(store, held, config.max_total_size).await?;
    let after = room::bytes_in(&store.layout.store()).await?;
    pruned.bytes_freed = before.saturating_sub(after);
    write(&store.layout.last_prune(), format!("{now}\n").as_bytes())?;
    Ok(pruned)
}

/// Whether calls should prune again. The time runs from the first question.
pub(crate) fn is_due(store: &Store, config: &CheckpointConfig) -> Result<bool> {
    if !config.auto_prune || !store.exists() {
        return Ok(false);
    }
    let path = store.layout.last_prune();
    match fs::metadata(&path).and_then(|meta| meta.modified()) {
        // A time in the future is a clock that was set back.
        Ok(last) => Ok(last.elapsed().map_or(true, |age| age > config.min_interval)),
        Err(_) => {
            let now = seconds(SystemTime::now());
            write(&path, format!("{now}\n").as_bytes()).map(|()| false)
        }
    }
}

async fn forget(store: &Store, _held: &Held, id: &str) -> Result<()> {
    store.git.run(["update-ref", "-d", &ref_name(id)]).bytes().await?;
    let layout = &store.layout;
    for path in [layout.index(id), layout.scratch_index(id), layout.project(id)] {
        log(fs::remove_file(&path), &path);
    }
    Ok(())
}

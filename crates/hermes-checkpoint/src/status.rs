//! What there is.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use crate::config::CheckpointConfig;
use crate::error::Result;
use crate::history::hashes;
use crate::layout::{Layout, is_gone};
use crate::project::Project;
use crate::room;
use crate::store::Store;

/// What there is, and why calls take no snapshots if they don't.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Whether the configuration wants snapshots.
    pub enabled: bool,
    /// Why none are taken although it does.
    pub problem: Option<String>,
    /// The folder of the store.
    pub base: PathBuf,
    /// The bytes that the store takes.
    pub size: u64,
    /// The projects, by name.
    pub projects: Vec<ProjectStatus>,
    /// Folders with snapshots of older versions, which nothing here reads.
    pub legacy: Vec<PathBuf>,
}

/// A project that has snapshots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProjectStatus {
    /// Its name in the store.
    pub id: String,
    /// Its folder.
    pub workdir: PathBuf,
    /// Whether the folder is still there.
    pub exists: bool,
    /// How many snapshots there are.
    pub snapshots: usize,
    /// When the first one was taken, in seconds since 1970.
    pub created_at: f64,
    /// When something was done last, in seconds since 1970.
    pub last_touch: f64,
}

/// Why no snapshots can be taken.
pub(crate) fn problem(store: &Store, config: &CheckpointConfig) -> Option<String> {
    if let Some(remote) = &config.remote {
        return Some(format!("files are in another environment ({remote}): no snapshots of it"));
    }
    (!store.has_git()).then(|| "the git program is not found".to_owned())
}

pub(crate) async fn status(store: &Store, config: &CheckpointConfig) -> Result<Status> {
    let mut projects = Vec::new();
    for (id, note) in store.notes() {
        let Some(note) = note else { continue };
        let project = Project { folder: note.workdir, id };
        projects.push(ProjectStatus {
            snapshots: hashes(store, &project).await?.len(),
            exists: !is_gone(&project.folder),
            id: project.id,
            workdir: project.folder,
            created_at: note.created_at,
            last_touch: note.last_touch,
        });
    }
    Ok(Status {
        enabled: config.enabled,
        problem: problem(store, config),
        base: config.base.clone(),
        size: room::bytes_in(&store.layout.store()).await?,
        projects,
        legacy: legacy(store),
    })
}

/// The folders of older layouts.
pub(crate) fn legacy(store: &Store) -> Vec<PathBuf> {
    let entries = fs::read_dir(&store.layout.base).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(Layout::is_legacy))
        .map(|entry| entry.path())
        .collect();
    folders.sort_unstable();
    folders
}

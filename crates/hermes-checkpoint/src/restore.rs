//! Going back to a snapshot.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{CheckpointError, Result};
use crate::history;
use crate::names::{Name, inside, is_below, join, shown, split, to_path};
use crate::project::Project;
use crate::snapshot::{self, Taken};
use crate::stage::{CHUNK, blocking, discard};
use crate::store::{Held, Store};
use crate::walk::{Folders, Limits};

/// What was put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// Always true: a failure is an error.
    pub success: bool,
    /// The first eight digits of the snapshot's hash.
    pub restored_to: String,
    /// What that snapshot was taken before.
    pub reason: String,
    /// The project's folder.
    pub directory: PathBuf,
    /// The file or folder, if only that was put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many files were written.
    pub files_written: usize,
    /// How many files were removed.
    pub files_removed: usize,
}

/// What has to be done on the disk.
#[derive(Debug, Default)]
struct Steps {
    remove: BTreeSet<Name>,
    write: BTreeSet<Name>,
}

/// Puts the project, or one file or folder of it, back as it was at `hash`, which must be one of
/// the project's own. None if the project has too many entries.
pub(crate) async fn restore(
    store: &Store,
    held: &Held,
    project: &Project,
    limits: &Limits,
    hash: &str,
    file: Option<&str>,
) -> Result<Option<Restored>> {
    let bad_path = || CheckpointError::BadPath(file.unwrap_or_default().to_owned());
    let only = file.map(|file| inside(file).ok_or_else(bad_path)).transpose()?;
    let listed = store.git.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", hash]);
    let mut names: Vec<Name> = split(&listed.bytes().await?).map(<[u8]>::to_vec).collect();
    if let Some(only) = &only {
        names.retain(|name| is_below(name, only));
        if names.is_empty() {
            return Err(CheckpointError::NoSuchFile(shown(only)));
        }
    }
    let short: String = hash.chars().take(8).collect();
    let reason = format!("before rollback to {short}");
    let now = match snapshot::take(store, held, project, limits, &reason, &names).await? {
        Taken::New(tip) => tip.tree,
        Taken::Unchanged(tree) => tree,
        Taken::TooMany => return Ok(None),
    };
    let steps = steps(store, &now, hash, only.as_deref()).await?;
    let (files_written, files_removed) = (steps.write.len(), steps.remove.len());
    carry_out(store, project, hash, steps).await?;
    Ok(Some(Restored {
        success: true,
        restored_to: short,
        reason: history::reason(store, hash).await?,
        directory: project.folder.clone(),
        file: only.as_deref().map(shown),
        files_written,
        files_removed,
    }))
}

/// What differs. Nothing is removed when only a part is put back: what came after is no part of
/// what was asked for.
async fn steps(store: &Store, now: &str, then: &str, only: Option<&[u8]>) -> Result<Steps> {
    let args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", now, then];
    let answer = store.git.run(args).bytes().await?;
    let mut parts = split(&answer);
    let mut steps = Steps::default();
    while let (Some(status), Some(name)) = (parts.next(), parts.next()) {
        match (status, only) {
            (b"D", None) => steps.remove.insert(name.to_vec()),
            (b"D", Some(_)) => continue,
            (_, Some(only)) if !is_below(name, only) => continue,
            _ => steps.write.insert(name.to_vec()),
        };
    }
    Ok(steps)
}

async fn carry_out(store: &Store, project: &Project, hash: &str, steps: Steps) -> Result<()> {
    let root = project.folder.clone();
    let (write, emptied, mut faults) = blocking(move || clear_the_way(&root, steps)).await?;
    if !write.is_empty() {
        let index = store.layout.scratch_index(&project.id);
        let written = async {
            let git = &store.git;
            git.run(["read-tree", hash]).index(&index).bytes().await?;
            let mut names = write.iter().peekable();
            while names.peek().is_some() {
                let args = ["checkout-index", "--force", "-z", "--stdin"];
                let run = git.run(args).work_tree(&project.folder).index(&index);
                run.stdin(join(names.by_ref().take(CHUNK))).bytes().await?;
            }
            Ok(())
        };
        let written = written.await;
        discard(&index);
        match written {
            Err(CheckpointError::Git { detail, .. }) => faults.push(detail),
            written => written?,
        }
    }
    let root = project.folder.clone();
    blocking(move || remove_empty(&root, emptied.iter())).await?;
    if faults.is_empty() { Ok(()) } else { Err(CheckpointError::Incomplete(faults)) }
}

/// Removes what came later. Gives what can be written, the folders that may be empty now, and what
/// went wrong. All that is removed is in the snapshot that was just taken.
fn clear_the_way(root: &Path, steps: Steps) -> (BTreeSet<Name>, BTreeSet<PathBuf>, Vec<String>) {
    let mut faults = Vec::new();
    let mut emptied = BTreeSet::new();
    let mut folders = Folders::new(root);
    for name in &steps.remove {
        // Not through a link that has taken the place of a folder meanwhile.
        let Some(path) = folders.file(name).and_then(|_| to_path(name)) else { continue };
        match fs::remove_file(root.join(&path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                faults.push(format!("{}: {error}", shown(name)));
            }
            _ => {
                let above = path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
                emptied.extend(above.map(Path::to_owned));
            }
        }
    }
    let mut write = steps.write;
    // A file that comes back where a folder is now.
    let in_the_way: Vec<&PathBuf> = emptied
        .iter()
        .filter(|folder| {
            folder
                .ancestors()
                .any(|part| crate::names::to_name(part).is_some_and(|name| write.contains(&name)))
        })
        .collect();
    remove_empty(root, in_the_way);
    write.retain(|name| match obstacle(root, name) {
        None => true,
        Some(obstacle) => {
            faults.push(format!("{}: {obstacle} is in the way", shown(name)));
            false
        }
    });
    (write, emptied, faults)
}

/// What no snapshot holds and a file that is to be written would destroy.
fn obstacle(root: &Path, name: &[u8]) -> Option<String> {
    let path = to_path(name)?;
    let is_folder = |part: &Path| root.join(part).symlink_metadata().map(|meta| meta.is_dir());
    if is_folder(&path).unwrap_or(false) {
        // An empty one is worth nothing.
        return fs::remove_dir(root.join(&path)).err().map(|_| format!("{}/", path.display()));
    }
    path.ancestors()
        .skip(1)
        .filter(|part| !part.as_os_str().is_empty())
        .find(|part| is_folder(part).is_ok_and(|is_folder| !is_folder))
        .map(|part| part.display().to_string())
}

/// Removes those folders that are empty, the deepest first.
fn remove_empty<'p>(root: &Path, folders: impl IntoIterator<Item = &'p PathBuf>) {
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        // Fails if something is left in it, and that is right.
        let _ = fs::remove_dir(root.join(folder));
    }
}

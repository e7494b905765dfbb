//! Keeping the store small.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::history::hashes;
use crate::project::Project;
use crate::stage::blocking;
use crate::store::{Held, Store, write};

/// How many objects may lie about in files of their own before they are packed.
const MAX_LOOSE: u64 = 6_700;

/// What the objects of the store take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    /// Objects in files of their own.
    pub(crate) loose: u64,
}

/// Drops the oldest snapshots of a project until `max` are left.
pub(crate) async fn trim(store: &Store, held: &Held, project: &Project, max: usize) -> Result<()> {
    let hashes = hashes(store, project).await?;
    match hashes.get(max.saturating_sub(1)) {
        Some(oldest) if hashes.len() > max => cut(store, held, oldest),
        _ => Ok(()),
    }
}

/// Packs the store when it has become untidy, and makes room when it is over its limit: the oldest
/// snapshot of every project goes, then the next, and the newest of each stays.
pub(crate) async fn tidy(store: &Store, held: &Held, max_size: Option<u64>) -> Result<()> {
    let mut size = measure(store).await?;
    let is_over = |size: Size| max_size.is_some_and(|max| size.bytes > max);
    if size.loose > MAX_LOOSE || is_over(size) {
        collect(store, held).await?;
        size = measure(store).await?;
    }
    while is_over(size) {
        let mut is_smaller = false;
        for (id, note) in store.notes() {
            let folder = note.map(|note| note.workdir).unwrap_or_default();
            let hashes = hashes(store, &Project { folder, id }).await?;
            if let Some(before_last) = hashes.len().checked_sub(2).and_then(|at| hashes.get(at)) {
                cut(store, held, before_last)?;
                is_smaller = true;
            }
        }
        if !is_smaller {
            break;
        }
        collect(store, held).await?;
        size = measure(store).await?;
    }
    Ok(())
}

/// Makes a snapshot the oldest one. It stays as it is, with hash and date.
fn cut(store: &Store, _held: &Held, oldest: &str) -> Result<()> {
    let path = store.layout.shallow();
    let known = fs::read_to_string(&path).unwrap_or_default();
    let mut lines: BTreeSet<&str> = known.lines().collect();
    lines.insert(oldest);
    let text: String = lines.into_iter().flat_map(|line| [line, "\n"]).collect();
    write(&path, text.as_bytes())
}

/// Removes objects that no snapshot holds, and packs the others.
pub(crate) async fn collect(store: &Store, _held: &Held) -> Result<()> {
    store.git.run(["gc", "--quiet", "--force", "--prune=now"]).bytes().await.map(drop)
}

/// What the objects take.
pub(crate) async fn measure(store: &Store) -> Result<Size> {
    let objects = store.layout.objects();
    blocking(move || sum(objects)).await
}

/// What a folder takes. Blocks.
pub(crate) fn sum(folder: PathBuf) -> Size {
    let mut size = Size::default();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let is_loose = folder.file_name().is_some_and(|name| name.len() == 2);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    size.bytes += entry.metadata().map_or(0, |meta| meta.len());
                    size.loose += u64::from(is_loose);
                }
                _ => {}
            }
        }
    }
    size
}

/// What a folder takes, without waiting for it on this thread.
pub(crate) async fn bytes_in(folder: &Path) -> Result<u64> {
    let folder = folder.to_owned();
    blocking(move || sum(folder).bytes).await
}

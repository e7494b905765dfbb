//! An archive of the other side, taken apart with suspicion.

mod preface;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType};
use tempfile::{NamedTempFile, TempPath};

use self::preface::Preface;
use super::back::SyncMap;
use super::changes::SyncState;
use super::credential::{is_master_store, normal};
use crate::digest::{Digest, hex};

/// No archive of the other side has more bytes.
pub const MAX_ARCHIVE: u64 = 2 * 1024 * 1024 * 1024;

/// How often bringing files back is tried again, and after what time each.
pub const SYNC_BACK_PAUSES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(4)];

/// How many entries of an archive are looked at.
const MAX_ENTRIES: usize = 200_000;

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncBack {
    /// Files of the host that were written.
    pub written: Vec<PathBuf>,
    /// Files that both sides had changed.
    pub conflicts: Vec<Conflict>,
    /// How many files were as they had been sent.
    pub unchanged: usize,
    /// Entries that were left out, as they name themselves: links, devices, paths that lead
    /// elsewhere, places where nothing comes back to. The first hundred.
    pub refused: Vec<String>,
}

/// A file that both sides had changed: it holds what the other side has, and beside it lies what the
/// host had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// Where the host's own version is now.
    pub kept: PathBuf,
}

/// Why nothing came back, or not all.
#[derive(Debug)]
#[non_exhaustive]
pub enum UnpackError {
    /// The archive has more than [`MAX_ARCHIVE`] bytes or far too many entries. Nothing was changed.
    TooLarge,
    /// The archive can't be read. Nothing was changed.
    Archive(io::Error),
    /// A file of the host can't be written.
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

impl fmt::Display for UnpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the sandbox has too much: nothing was brought back"),
            Self::Archive(source) => write!(f, "can't read what the sandbox sent: {source}"),
            Self::File { path, source } => write!(f, "can't write {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for UnpackError {}

/// Brings back what the other side changed. `archive` is a tar archive made there by
/// `tar cf - -C / BASE` (paths relative to `/`); `home` is the home folder of this side.
///
/// Only ordinary files count. First all of the archive is read to its end into temporary files of
/// the home, then each file is replaced as a whole; a file that is as it was sent stays untouched,
/// also if the host has changed it since. Hold a [`SyncLock`](super::SyncLock) meanwhile.
///
/// # Errors
///
/// See [`UnpackError`].
pub fn unpack(
    archive: impl Read,
    map: &SyncMap,
    state: &SyncState,
    home: &Path,
) -> Result<SyncBack, UnpackError> {
    let mut result = SyncBack::default();
    let home = fs::canonicalize(home).map_err(UnpackError::Archive)?;
    let staging = tempfile::Builder::new()
        .prefix(".sync-")
        .tempdir_in(&home)
        .map_err(UnpackError::Archive)?;
    let staged = stage(archive, map, state, staging.path(), &mut result)?;
    for (remote, file) in staged {
        let Some(path) = map.target(&remote) else { continue };
        if !is_safe(&home, &path, map.is_known(&remote)) {
            refuse(&mut result, remote);
            continue;
        }
        let pushed = state.pushed.get(&remote).and_then(|pushed| pushed.digest);
        let failed = |source| UnpackError::File { path: path.clone(), source };
        put(file, &path, pushed, &mut result).map_err(failed)?;
    }
    Ok(result)
}

/// A file of the archive, in the staging folder.
struct Staged {
    // Closed: there may be more files than a process may have open.
    file: TempPath,
    digest: Digest,
    can_run: bool,
}

/// The files of the archive that may be news.
fn stage(
    archive: impl Read,
    map: &SyncMap,
    state: &SyncState,
    staging: &Path,
    result: &mut SyncBack,
) -> Result<BTreeMap<String, Staged>, UnpackError> {
    let mut source = Bounded { inner: archive, left: MAX_ARCHIVE, is_over: false };
    let mut staged = BTreeMap::new();
    let read = read_entries(&mut source, map, state, staging, result, &mut staged);
    match read {
        _ if source.is_over => Err(UnpackError::TooLarge),
        Err(error) => Err(error),
        Ok(()) => Ok(staged),
    }
}

fn read_entries(
    source: &mut impl Read,
    map: &SyncMap,
    state: &SyncState,
    staging: &Path,
    result: &mut SyncBack,
    staged: &mut BTreeMap<String, Staged>,
) -> Result<(), UnpackError> {
    let mut archive = Archive::new(source);
    // Raw: what `tar` writes before an entry, such as a long name, is read here and not by the
    // library, which would take any amount of it into memory.
    let entries = archive.entries().map_err(UnpackError::Archive)?.raw(true);
    let mut preface = Preface::default();
    for (count, entry) in entries.enumerate() {
        if count >= MAX_ENTRIES {
            return Err(UnpackError::TooLarge);
        }
        let mut entry = entry.map_err(UnpackError::Archive)?;
        if preface.take(&mut entry).map_err(UnpackError::Archive)? {
            continue;
        }
        let Preface { name, is_special } = std::mem::take(&mut preface);
        let name = name.unwrap_or_else(|| entry.path_bytes().into_owned());
        let kind = entry.header().entry_type();
        if kind == EntryType::Directory {
            continue;
        }
        let name = String::from_utf8_lossy(&name).into_owned();
        let relative = name.strip_prefix("./").unwrap_or(&name);
        // A path that has to be put in order first is none that `tar` writes.
        let relative = normal(relative).filter(|it| it == relative);
        let remote = relative.map(|it| format!("/{it}"));
        let is_file = matches!(kind, EntryType::Regular | EntryType::Continuous) && !is_special;
        let remote = remote.filter(|remote| is_file && map.target(remote).is_some());
        let Some(remote) = remote else {
            refuse(result, name);
            continue;
        };
        let mut file = NamedTempFile::new_in(staging).map_err(UnpackError::Archive)?;
        let digest = copy(&mut entry, file.as_file_mut()).map_err(UnpackError::Archive)?;
        let pushed = state.pushed.get(&remote).and_then(|pushed| pushed.digest);
        // Of a path that comes twice the last counts, as for `tar`.
        staged.remove(&remote);
        if pushed == Some(digest) {
            result.unchanged += 1;
            continue;
        }
        let can_run = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
        staged.insert(remote, Staged { file: file.into_temp_path(), digest, can_run });
    }
    Ok(())
}

fn copy(from: &mut impl Read, to: &mut fs::File) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(hash.finalize().into());
        }
        hash.update(bytes);
        to.write_all(bytes)?;
    }
}

fn refuse(result: &mut SyncBack, name: String) {
    if result.refused.len() < 100 {
        result.refused.push(name);
    }
}

/// Whether a file of the host may be written: no link leads elsewhere, and it is none of this
/// program's own secrets. Outside of the home only files that were sent may be.
fn is_safe(home: &Path, path: &Path, is_known: bool) -> bool {
    let kind = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.file_type());
    let is_free = match kind(path) {
        Ok(kind) => kind.is_file(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let has_link = path.ancestors().any(|it| kind(it).is_ok_and(|kind| kind.is_symlink()));
    is_free
        && !has_link
        && (is_known || path.starts_with(home))
        && !is_master_store(home, path, path)
}

/// Puts a file in its place. What the host has changed itself is kept beside it.
fn put(
    staged: Staged,
    path: &Path,
    pushed: Option<Digest>,
    result: &mut SyncBack,
) -> io::Result<()> {
    let present = match fs::File::open(path) {
        Ok(mut file) => Some(digest(&mut file)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if present == Some(staged.digest) {
        result.unchanged += 1;
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if let Some(present) = present.filter(|present| Some(*present) != pushed) {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".host-{}", hex(&present, 4)));
        let kept = path.with_file_name(name);
        fs::copy(path, &kept)?;
        result.conflicts.push(Conflict { path: path.to_owned(), kept });
    }
    fs::set_permissions(&staged.file, mode(path, &staged)?)?;
    staged.file.persist(path)?;
    result.written.push(path.to_owned());
    Ok(())
}

fn digest(file: &mut fs::File) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// The mode of the file that is replaced; a new one can be run if it could there.
fn mode(path: &Path, staged: &Staged) -> io::Result<fs::Permissions> {
    if let Ok(metadata) = fs::metadata(path) {
        return Ok(metadata.permissions());
    }
    #[cfg(unix)]
    {
        let mode = if staged.can_run { 0o700 } else { 0o600 };
        Ok(std::os::unix::fs::PermissionsExt::from_mode(mode))
    }
    #[cfg(not(unix))]
    Ok(fs::metadata(&staged.file)?.permissions())
}

/// A stream that ends with an error where it is too long.
struct Bounded<R> {
    inner: R,
    left: u64,
    is_over: bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.is_over = true;
                return Err(io::Error::other("the archive is too large"));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests;

//! Holding a file while it is read, changed and written, against other calls of this process and
//! against other processes that do the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::open;
use crate::backend::GoesOn;
use crate::error::FsError;
use crate::stat::Stat;
use crate::turn::{self, MAX_WAIT, Turns};

/// A file that no other process changes until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// The file as it was opened; none when there is no file, or none that can be locked.
    _old: Option<File>,
    /// What took its place.
    new: Option<File>,
}

impl Lock {
    /// Keeps a lock on the file that takes the old one's place: whoever comes next opens it, and
    /// shall wait too.
    pub(super) fn keep(&mut self, new: File) {
        self.new = Some(new);
    }
}

/// Several files that no other call changes until this is dropped.
#[derive(Debug)]
pub(super) struct Locks {
    _turns: Turns,
    files: BTreeMap<PathBuf, Lock>,
}

impl Locks {
    /// Waits for the turn of all files, at most ten seconds. A file that can't be locked is held
    /// within this process only.
    pub(super) fn take(
        identity: &str,
        paths: BTreeSet<PathBuf>,
        go: GoesOn<'_>,
    ) -> Result<Self, FsError> {
        Self::take_within(identity, paths, go, MAX_WAIT)
    }

    fn take_within(
        identity: &str,
        paths: BTreeSet<PathBuf>,
        go: GoesOn<'_>,
        wait: Duration,
    ) -> Result<Self, FsError> {
        let until = Instant::now() + wait;
        let turns = Turns::wait(identity, &paths, go, until)?;
        let mut files = BTreeMap::new();
        for path in paths {
            let old = wait_for_file(&path, go, until)?;
            files.insert(path, Lock { _old: old, new: None });
        }
        Ok(Self { _turns: turns, files })
    }

    /// The lock of one of the files.
    pub(super) fn get(&mut self, path: &Path) -> Option<&mut Lock> {
        self.files.get_mut(path)
    }
}

fn wait_for_file(path: &Path, go: GoesOn<'_>, until: Instant) -> Result<Option<File>, FsError> {
    loop {
        let Some(file) = open_to_lock(path) else { return Ok(None) };
        match file.try_lock() {
            // Another process may have put a new file in its place meanwhile.
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            Ok(()) | Err(TryLockError::WouldBlock) => turn::pause(path, go, until)?,
            Err(TryLockError::Error(err)) if err.kind() == io::ErrorKind::Unsupported => {
                return Ok(None);
            }
            // Some file systems lock only what was opened for writing.
            Err(TryLockError::Error(err)) if is_bad_handle(&err) => return Ok(None),
            Err(TryLockError::Error(err)) => return Err(FsError::io("lock", path, err)),
        }
    }
}

/// Locks a file that nobody else knows of yet.
pub(super) fn lock_new(file: &File) {
    // It fails only where the file system has no locks.
    let _ = file.try_lock();
}

/// A handle to lock; none for what is no regular file or can't be opened, which the caller finds
/// out on its own.
fn open_to_lock(path: &Path) -> Option<File> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    open::open(path).or_else(|_| open::open_to_write(path)).ok()
}

pub(super) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(file), Ok(found)) => is_same_file(&Stat::of(&file), &Stat::of(&found)),
        _ => false,
    }
}

#[cfg(unix)]
fn is_bad_handle(err: &io::Error) -> bool {
    err.raw_os_error() == Some(rustix::io::Errno::BADF.raw_os_error())
}

#[cfg(not(unix))]
fn is_bad_handle(_: &io::Error) -> bool {
    false
}

pub(super) fn is_same_file(a: &Stat, b: &Stat) -> bool {
    (a.device, a.inode) == (b.device, b.inode)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn take(path: &Path, wait: u64) -> Result<Locks, FsError> {
        let wait = Duration::from_millis(wait);
        Locks::take_within("local", [path.to_owned()].into(), &|| true, wait)
    }

    #[test]
    fn a_lock_held_by_another_handle_is_waited_for_and_given_up_on() {
        let dir = tempfile::tempdir().unwrap();
        let (path, new) = (dir.path().join("f"), dir.path().join("new"));
        fs::write(&path, "old").unwrap();
        // As another process would.
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        assert!(matches!(take(&path, 30), Err(FsError::Busy(busy)) if busy == path));

        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut locks = take(&path, 10_000).unwrap();
                locks.get(&path).unwrap()._old.take().unwrap()
            });
            std::thread::sleep(Duration::from_millis(50));
            fs::write(&new, "new").unwrap();
            fs::rename(&new, &path).unwrap();
            drop(other);
            waiting.join().unwrap()
        });
        assert!(is_at(&waiting, &path));
    }

    #[test]
    fn a_cancelled_call_stops_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "").unwrap();
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        let locks = Locks::take("local", [path].into(), &|| false);
        assert!(matches!(locks, Err(FsError::Interrupted)));
    }
}

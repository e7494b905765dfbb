//! Holding a file while it is read, changed and written, against other calls of this process and
//! against other processes that do the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError as Poisonable};
use std::time::{Duration, Instant};

use hermes_registry::{ToolContext, ToolError};

use crate::fault::{Fault, check_interrupt, io_error};
use crate::open;

/// How long a call waits for its turn.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(5);

/// A file that no other call changes until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    /// None when several files are held, since they may share a lock.
    _process: Option<MutexGuard<'static, ()>>,
    /// The file as it was opened; none when there is no file, or none that can be locked.
    _old: Option<File>,
    /// What took its place.
    new: Option<File>,
}

impl Held {
    /// Keeps a lock on the file that takes the old one's place: whoever comes next opens it, and
    /// shall wait too.
    pub(crate) fn keep(&mut self, new: File) {
        self.new = Some(new);
    }
}

/// Waits for the file's turn, at most ten seconds. A file that can't be locked is held within this
/// process only.
pub(crate) fn hold(cx: &ToolContext, path: &Path) -> Result<Held, ToolError> {
    hold_within(cx, path, MAX_WAIT)
}

fn hold_within(cx: &ToolContext, path: &Path, wait: Duration) -> Result<Held, ToolError> {
    let until = Instant::now() + wait;
    let process = wait_for_process(cx, process_lock(path), path, until)?;
    let old = wait_for_file(cx, path, until)?;
    Ok(Held { _process: Some(process), _old: old, new: None })
}

/// Several files that no other call changes until this is dropped.
#[derive(Debug)]
pub(crate) struct HeldAll {
    _process: Vec<MutexGuard<'static, ()>>,
    files: BTreeMap<PathBuf, Held>,
}

impl HeldAll {
    /// One of the files.
    pub(crate) fn get(&mut self, path: &Path) -> Option<&mut Held> {
        self.files.get_mut(path)
    }
}

/// Waits for the turn of all files, in an order that is the same in every call, so that two calls
/// never wait for each other.
pub(crate) fn hold_all(cx: &ToolContext, paths: BTreeSet<PathBuf>) -> Result<HeldAll, ToolError> {
    let until = Instant::now() + MAX_WAIT;
    let locks: BTreeMap<usize, &Path> =
        paths.iter().map(|path| (lock_index(path), path.as_path())).collect();
    let process = locks
        .into_values()
        .map(|path| wait_for_process(cx, process_lock(path), path, until))
        .collect::<Result<_, _>>()?;
    let mut files = BTreeMap::new();
    for path in paths {
        let old = wait_for_file(cx, &path, until)?;
        files.insert(path, Held { _process: None, _old: old, new: None });
    }
    Ok(HeldAll { _process: process, files })
}

fn wait_for_process(
    cx: &ToolContext,
    lock: &'static Mutex<()>,
    path: &Path,
    until: Instant,
) -> Result<MutexGuard<'static, ()>, ToolError> {
    loop {
        match lock.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(Poisonable::Poisoned(err)) => return Ok(err.into_inner()),
            Err(Poisonable::WouldBlock) => pause(cx, path, until)?,
        }
    }
}

fn wait_for_file(cx: &ToolContext, path: &Path, until: Instant) -> Result<Option<File>, ToolError> {
    loop {
        let Some(file) = open(path) else { return Ok(None) };
        match file.try_lock() {
            // Another process may have put a new file in its place meanwhile.
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            Ok(()) | Err(TryLockError::WouldBlock) => pause(cx, path, until)?,
            Err(TryLockError::Error(err)) if err.kind() == io::ErrorKind::Unsupported => {
                return Ok(None);
            }
            // Some file systems lock only what was opened for writing.
            Err(TryLockError::Error(err)) if is_bad_handle(&err) => return Ok(None),
            Err(TryLockError::Error(err)) => return Err(io_error("lock", path, &err)),
        }
    }
}

/// Locks a file that nobody else knows of yet.
pub(crate) fn lock_new(file: &File) {
    // It fails only where the file system has no locks.
    let _ = file.try_lock();
}

fn pause(cx: &ToolContext, path: &Path, until: Instant) -> Result<(), ToolError> {
    check_interrupt(cx)?;
    if Instant::now() >= until {
        return Err(Fault::Conflict.error(format!(
            "nothing was written: {} is being changed by someone else, and its lock didn't become \
             free in time; try again",
            path.display()
        )));
    }
    std::thread::sleep(PAUSE);
    Ok(())
}

/// How many locks the paths of this process share, which costs a wait now and then and no memory.
const LOCK_COUNT: usize = 64;

/// The lock of this process for a path.
fn process_lock(path: &Path) -> &'static Mutex<()> {
    // Process-wide on purpose: two sessions of one process may edit the same file.
    static LOCKS: [Mutex<()>; LOCK_COUNT] = [const { Mutex::new(()) }; LOCK_COUNT];
    let [first, ..] = &LOCKS;
    LOCKS.get(lock_index(path)).unwrap_or(first)
}

fn lock_index(path: &Path) -> usize {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(path);
    usize::try_from(hash % LOCK_COUNT as u64).unwrap_or_default()
}

/// A handle to lock; none for what is no regular file or can't be opened, which the caller finds
/// out on its own.
fn open(path: &Path) -> Option<File> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    open::open(path).or_else(|_| open::open_to_write(path)).ok()
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(file), Ok(found)) => same_file(&file, &found),
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

#[cfg(unix)]
pub(crate) fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(crate) fn same_file(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}

/// Whether a file is still the one it was, with the content it had.
pub(crate) fn is_unchanged(old: &Metadata, now: &Metadata) -> bool {
    same_file(old, now) && old.len() == now.len() && old.modified().ok() == now.modified().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_lock_held_by_another_handle_is_waited_for_and_given_up_on() {
        let dir = tempfile::tempdir().unwrap();
        let (path, new) = (dir.path().join("f"), dir.path().join("new"));
        fs::write(&path, "old").unwrap();
        let cx = ToolContext::new(dir.path());
        // As another process would.
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        let err = hold_within(&cx, &path, Duration::from_millis(30)).unwrap_err();
        assert_eq!(err.extra()["error_kind"], "conflict");

        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| hold(&cx, &path).map(|held| held._old.unwrap()));
            std::thread::sleep(Duration::from_millis(50));
            fs::write(&new, "new").unwrap();
            fs::rename(&new, &path).unwrap();
            drop(other);
            waiting.join().unwrap().unwrap()
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
        let token = hermes_registry::CancellationToken::new();
        token.cancel();
        let cx = ToolContext::new(dir.path()).with_cancel(token);
        assert_eq!(hold(&cx, &path).unwrap_err().extra()["error_kind"], "cancelled");
    }
}

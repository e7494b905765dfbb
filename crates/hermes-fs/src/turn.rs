//! Taking turns at files within this process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use crate::backend::GoesOn;
use crate::error::FsError;

/// How long a call waits for its turn.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(10);
/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(5);
/// How many locks all paths share, which costs a wait now and then and no memory.
const LOCK_COUNT: usize = 64;

/// The turn at some files. It is over when this is dropped.
#[derive(Debug)]
pub(crate) struct Turns {
    _locks: Vec<MutexGuard<'static, ()>>,
}

impl Turns {
    /// Waits for the turn of all files of the file system `identity`, in an order that is the same
    /// in every call, so that two calls never wait for each other.
    pub(crate) fn wait(
        identity: &str,
        paths: &BTreeSet<PathBuf>,
        go: GoesOn<'_>,
        until: Instant,
    ) -> Result<Self, FsError> {
        let wanted: BTreeMap<usize, &Path> =
            paths.iter().map(|path| (index(identity, path), path.as_path())).collect();
        let locks = wanted.into_iter().map(|(index, path)| wait(lock(index), path, go, until));
        Ok(Self { _locks: locks.collect::<Result<_, _>>()? })
    }
}

fn wait(
    lock: &'static Mutex<()>,
    path: &Path,
    go: GoesOn<'_>,
    until: Instant,
) -> Result<MutexGuard<'static, ()>, FsError> {
    loop {
        match lock.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(err)) => return Ok(err.into_inner()),
            Err(TryLockError::WouldBlock) => pause(path, go, until)?,
        }
    }
}

/// Waits a moment for somebody else to be done with a file.
pub(crate) fn pause(path: &Path, go: GoesOn<'_>, until: Instant) -> Result<(), FsError> {
    if !go() {
        return Err(FsError::Interrupted);
    }
    if Instant::now() >= until {
        return Err(FsError::Busy(path.to_owned()));
    }
    std::thread::sleep(PAUSE);
    Ok(())
}

fn lock(index: usize) -> &'static Mutex<()> {
    // Process-wide on purpose: two sessions of one process may edit the same file.
    static LOCKS: [Mutex<()>; LOCK_COUNT] = [const { Mutex::new(()) }; LOCK_COUNT];
    let [first, ..] = &LOCKS;
    LOCKS.get(index).unwrap_or(first)
}

fn index(identity: &str, path: &Path) -> usize {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((identity, path));
    usize::try_from(hash % LOCK_COUNT as u64).unwrap_or_default()
}

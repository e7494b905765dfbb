//! One process at a time brings files back into a home.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time between two looks at a lock that another process holds.
const PAUSE: Duration = Duration::from_millis(50);

/// The lock `{HERMES_HOME}/.sync.lock`, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct SyncLock {
    _file: File,
}

impl SyncLock {
    /// Takes the lock of a home, for which another process may make us wait: `patience` at most.
    /// Blocks the thread.
    ///
    /// # Errors
    ///
    /// The file can't be made or locked, or another process holds it all the time
    /// ([`io::ErrorKind::TimedOut`]).
    pub fn acquire(home: &Path, patience: Duration) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(home.join(".sync.lock"))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if start.elapsed() >= patience => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let lock = SyncLock::acquire(dir.path(), Duration::ZERO).unwrap();
        let error = SyncLock::acquire(dir.path(), Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(lock);
        SyncLock::acquire(dir.path(), Duration::ZERO).unwrap();
    }
}

//! Appending records.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::file::{create_folder, ends_torn, is_at, open_lock, open_log};
use crate::rotate::rotate;

/// Longest record, in bytes of its line with the newline. Longer ones are refused: cut their
/// texts.
pub const LONGEST_RECORD: usize = 64 * 1024;

/// How long an append waits for other processes. One that was stopped while it held the lock must
/// not stop the others.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// Between two looks at the lock.
const PAUSE: Duration = Duration::from_micros(200);

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes from which on a file is put aside and a new one begun.
    pub max_bytes: u64,
    /// How many files that were put aside are kept.
    pub keep: u32,
}

impl Default for Limits {
    /// 10 MiB a file, and five files put aside.
    fn default() -> Self {
        Self { max_bytes: 10 * 1024 * 1024, keep: 5 }
    }
}

/// A file of JSON Lines that several threads and processes append to.
///
/// Each record is one line, written whole at the end with a single write. A file that is full is
/// renamed to `NAME.1`, the one before to `NAME.2` and so on; a writer whose file was renamed by
/// another goes on with the new one. The lock that keeps writers apart is on `NAME.lock`.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    log: Option<File>,
    lock: Option<File>,
    is_failing: bool,
}

impl AuditLog {
    /// A log at `path`. Nothing is opened before the first record.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, limits: Limits) -> Self {
        Self { path: path.into(), limits, state: Mutex::default() }
    }

    /// A log at `path`, which is made with its folder if there is none: readable by its owner only.
    ///
    /// # Errors
    /// The file can't be written to.
    pub fn open(path: impl Into<PathBuf>, limits: Limits) -> io::Result<Self> {
        let log = Self::new(path, limits);
        {
            let mut state = log.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.open(&log.path)?;
        }
        Ok(log)
    }

    /// The file that records are appended to.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record. After an error the next call tries everything anew, so appending goes on
    /// when there is space again.
    ///
    /// # Errors
    /// The record isn't in the file: it is longer than [`LONGEST_RECORD`], or the file can't be
    /// written to.
    pub fn append(&self, record: &Value) -> io::Result<()> {
        let mut line = record.to_string();
        line.push('\n');
        if line.len() > LONGEST_RECORD {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a record of {} bytes is longer than {LONGEST_RECORD}", line.len()),
            ));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let appended = self.append_line(&mut state, line);
        if appended.is_err() {
            // What is wrong with the file may be mended by opening it again.
            *state = State { is_failing: state.is_failing, ..State::default() };
        }
        appended
    }

    /// Appends a record, for a host that reports failures to people: of several failures in a row
    /// only the first is given.
    pub fn record(&self, record: &Value) -> Option<io::Error> {
        let appended = self.append(record);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let was_failing = std::mem::replace(&mut state.is_failing, appended.is_err());
        appended.err().filter(|_| !was_failing)
    }

    fn append_line(&self, state: &mut State, mut line: String) -> io::Result<()> {
        state.open(&self.path)?;
        let lock = state.lock.as_ref().map(Held::wait).transpose()?;
        let is_locked = lock.as_ref().is_some_and(|held| held.is_locked);
        let mut log = match state.log.take() {
            Some(log) if is_at(&log, &self.path) => log,
            // Renamed by another writer, or removed by a person.
            _ => open_log(&self.path)?,
        };
        let mut size = log.metadata()?.len();
        if is_locked && size > 0 && size.saturating_add(line.len() as u64) > self.limits.max_bytes {
            // If that can't be done, a file that is too large is better than a record lost.
            if rotate(&self.path, self.limits.keep).is_ok() {
                log = open_log(&self.path)?;
                size = log.metadata()?.len();
            }
        }
        if ends_torn(&log, size)? {
            line.insert(0, '\n');
        }
        let written = write_once(&log, line.as_bytes());
        if is_locked && !matches!(written, Ok(written) if written == line.len()) {
            // Nobody else has written meanwhile. If it can't be cut off, the next one begins a
            // new line.
            let _ = log.set_len(size);
        }
        let written = written?;
        if written < line.len() {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the disk took only part of a record",
            ));
        }
        drop(lock);
        state.log = Some(log);
        Ok(())
    }
}

impl State {
    /// Opens what isn't open.
    fn open(&mut self, path: &Path) -> io::Result<()> {
        if self.lock.is_none() {
            create_folder(path)?;
            self.lock = Some(open_lock(path)?);
        }
        if self.log.is_none() {
            self.log = Some(open_log(path)?);
        }
        Ok(())
    }
}

/// The lock, until it is dropped.
struct Held<'a> {
    file: &'a File,
    is_locked: bool,
}

impl<'a> Held<'a> {
    /// Waits for the lock. It isn't there after a while, or where files can't be locked: lines are
    /// written whole without it too, but no file is put aside.
    fn wait(file: &'a File) -> io::Result<Self> {
        let until = Instant::now() + LONGEST_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, is_locked: true }),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::sleep(PAUSE);
                }
                Err(std::fs::TryLockError::WouldBlock) => break,
                Err(std::fs::TryLockError::Error(err))
                    if err.kind() == io::ErrorKind::Unsupported =>
                {
                    break;
                }
                Err(std::fs::TryLockError::Error(err)) => return Err(err),
            }
        }
        Ok(Self { file, is_locked: false })
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.is_locked {
            // A lock that can't be given back goes with the file.
            let _ = self.file.unlock();
        }
    }
}

/// Writes in one call, so that nothing of others can come between; how much was written.
fn write_once(mut file: &File, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match file.write(bytes) {
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            written => return written,
        }
    }
}

#[cfg(test)]
mod tests;

//! The output of a process in a file, longer than it is kept in memory and for longer than the
//! program runs.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most bytes in a file. What comes after is in memory only.
const MOST: u64 = 64 * 1024 * 1024;

/// A file that output is added to.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    file: Option<File>,
    written: u64,
}

impl Spool {
    /// A new file for a process, readable by nobody else.
    pub(crate) fn create(folder: &Path, process: &str) -> io::Result<Self> {
        make_private(folder)?;
        let path = path(folder, process);
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { file: Some(options.open(&path)?), path, written: 0 })
    }

    /// Adds output, as long as there is room. A full disk ends the file, not the process.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(MOST - self.written).unwrap_or(usize::MAX);
        let part = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.written += part.len() as u64;
        if file.write_all(part).is_err() || self.written >= MOST {
            self.file = None;
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Where the output of a process is.
pub(crate) fn path(folder: &Path, process: &str) -> PathBuf {
    folder.join(format!("{process}.log"))
}

/// Removes files that nobody has written to for a day: those of programs that were killed.
pub(crate) fn remove_old(folder: &Path) {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|it| it.modified()).ok();
        let is_old = age.and_then(|it| it.elapsed().ok()).is_some_and(|age| age > DAY);
        if is_old && entry.path().extension().is_some_and(|it| it == "log") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a folder that nobody else may look into.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_its_own_with_an_end() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("processes");
        let mut spool = Spool::create(&folder, "proc_1").unwrap();
        spool.push(b"one ");
        spool.push(b"two");
        assert_eq!(std::fs::read(spool.path()).unwrap(), b"one two");
        spool.written = MOST - 2;
        spool.push(b"three");
        spool.push(b"four");
        assert_eq!(std::fs::read(spool.path()).unwrap(), b"one twoth");
        assert!(Spool::create(&folder, "proc_1").is_err());
    }
}

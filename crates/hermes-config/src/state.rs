//! Small files of state that several processes read and change.

use std::path::{Path, PathBuf};

use crate::ConfigError;
use crate::replace::{lock, read_text};

/// A small text file below the home that only this program writes, and perhaps several processes
/// of it at once. Only its owner can read it.
#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// Names the file; nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole text; none when there is no file.
    ///
    /// # Errors
    ///
    /// A file that can't be read.
    pub fn read(&self) -> Result<Option<String>, ConfigError> {
        read_text(&self.path)
    }

    /// Replaces the file as a whole by what `change` makes of its text; nothing is written if it
    /// makes none. Other writers wait meanwhile, by an exclusive lock on a `.lock` file beside it.
    /// `change` must not itself update the same file: it would wait for ever.
    ///
    /// # Errors
    ///
    /// What `change` answers, or a file that can't be read or written. The file is then as it was.
    pub fn update<E: From<ConfigError>>(
        &self,
        change: impl FnOnce(Option<&str>) -> Result<Option<String>, E>,
    ) -> Result<(), E> {
        let file = lock(&self.path)?;
        let old = file.read()?;
        if let Some(new) = change(old.as_deref())? {
            file.replace(&new, true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_take_turns_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let file = StateFile::new(dir.path().join("home/state"));
        assert_eq!(file.read().unwrap(), None);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    file.update(|old| {
                        Ok::<_, ConfigError>(Some(format!("{}x", old.unwrap_or(""))))
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(file.read().unwrap().as_deref(), Some("xxxxxxxx"));
        file.update(|_| Ok::<_, ConfigError>(None)).unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("xxxxxxxx"));
    }
}

//! Which overlays are kept for which tasks.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tempfile::NamedTempFile;

/// The file that says which overlay belongs to which task.
#[derive(Clone, Debug)]
pub struct Overlays {
    file: PathBuf,
}

impl Overlays {
    /// The list in a file, which need not be there.
    #[must_use]
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    /// The overlay of a task.
    #[must_use]
    pub fn of(&self, task_id: &str) -> Option<PathBuf> {
        self.read().get(task_id).and_then(Value::as_str).map(PathBuf::from)
    }

    /// Notes the overlay of a task.
    ///
    /// # Errors
    /// The file can't be written; what it said before is still there.
    pub fn note(&self, task_id: &str, overlay: &Path) -> io::Result<()> {
        let overlay = overlay.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let mut all = self.read();
        if all.get(task_id).and_then(Value::as_str) == Some(overlay) {
            return Ok(());
        }
        all.insert(task_id.to_owned(), Value::String(overlay.to_owned()));
        let folder = self.file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(serde_json::to_string_pretty(&all)?.as_bytes())?;
        file.persist(&self.file)?;
        Ok(())
    }

    fn read(&self) -> Map<String, Value> {
        let text = fs::read(&self.file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn overlays_are_noted() {
        let folder = tempfile::tempdir().unwrap();
        let overlays = Overlays::at(folder.path().join("new/snapshots.json"));
        assert_eq!(overlays.of("a"), None);
        overlays.note("a", Path::new("/x")).unwrap();
        overlays.note("b", Path::new("/y")).unwrap();
        overlays.note("a", Path::new("/z")).unwrap();
        assert_eq!(overlays.of("a"), Some("/z".into()));
        assert_eq!(overlays.of("b"), Some("/y".into()));
        fs::write(folder.path().join("new/snapshots.json"), "torn {").unwrap();
        assert_eq!(overlays.of("a"), None);
    }
}

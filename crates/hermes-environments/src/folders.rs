//! In which folder the commands of a session are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hermes_exec_policy::config::cwd::{Wanted, anchored, can_enter, nearest_usable};

/// Most sessions whose folder is remembered. One that is forgotten starts in the configured folder
/// again; sessions that end are taken out before.
const MOST: usize = 10_000;

/// Where the last command of each session ended.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    by_session: Mutex<HashMap<String, String>>,
}

impl Folders {
    pub(crate) fn get(&self, session: &str) -> Option<String> {
        self.lock().get(session).cloned()
    }

    pub(crate) fn set(&self, session: &str, cwd: impl Into<String>) {
        let mut folders = self.lock();
        if folders.len() >= MOST && !folders.contains_key(session) {
            folders.clear();
        }
        folders.insert(session.to_owned(), cwd.into());
    }

    pub(crate) fn forget(&self, session: &str) {
        self.lock().remove(session);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.by_session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of this machine that a command is started in, and a note when it isn't the one that
/// was wanted. One that the call named itself is never replaced.
pub(crate) fn local(
    wanted: &Wanted,
    process_dir: &Path,
    home: Option<&Path>,
    temporary: &Path,
) -> (String, Option<String>) {
    let expanded = match (wanted.dir.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(&wanted.dir),
    };
    let dir = anchored(&expanded.to_string_lossy(), process_dir, Path::is_dir);
    if wanted.is_explicit {
        return (dir.to_string_lossy().into_owned(), None);
    }
    let usable = nearest_usable(&dir, temporary, can_enter);
    let note = (usable != dir).then(|| {
        let (dir, usable) = (dir.display(), usable.display());
        format!("The folder {dir} is gone or can't be entered; the command ran in {usable}.")
    });
    (usable.to_string_lossy().into_owned(), note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_gone_have_a_nearest_one() {
        let dir = tempfile::tempdir().unwrap();
        let at = |dir: &Path, is_explicit| {
            let wanted = Wanted { dir: dir.display().to_string(), is_explicit };
            local(&wanted, Path::new("/"), None, Path::new("/tmp"))
        };
        let gone = dir.path().join("a/b");
        assert_eq!(at(dir.path(), false), (dir.path().display().to_string(), None));
        let (usable, note) = at(&gone, false);
        assert_eq!(usable, dir.path().display().to_string());
        assert!(note.unwrap().contains("a/b"));
        assert_eq!(at(&gone, true), (gone.display().to_string(), None));
        let wanted = Wanted { dir: "~/x".to_owned(), is_explicit: true };
        let home = Some(Path::new("/home/u"));
        assert_eq!(local(&wanted, Path::new("/"), home, Path::new("/tmp")).0, "/home/u/x");
    }
}

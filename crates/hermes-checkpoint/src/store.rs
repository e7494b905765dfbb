//! The repository of all projects: made, locked, mended.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_exec::program::find;
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use crate::config::CheckpointConfig;
use crate::error::{CheckpointError, Result};
use crate::git::Git;
use crate::layout::Layout;
use crate::project::Project;

/// How often a store that is in use is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// No attribute of a project may change bytes: those here come before `.gitattributes`.
const ATTRIBUTES: &str = "* -text -eol -crlf -ident -filter -working-tree-encoding !diff\n";

/// The repository and how it is reached.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) layout: Layout,
    pub(crate) git: Git,
}

/// While this lives, no other process changes the store. The system lets go of it when the process
/// ends, in whatever way.
pub(crate) struct Held {
    _file: File,
}

/// What is noted about a project.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Note {
    pub(crate) workdir: PathBuf,
    /// Seconds since 1970.
    pub(crate) created_at: f64,
    /// Seconds since 1970.
    pub(crate) last_touch: f64,
}

impl Store {
    pub(crate) fn new(config: &CheckpointConfig) -> Self {
        let layout = Layout { base: config.base.clone() };
        let git = Git { store: layout.store(), path: config.path.clone(), timeout: config.timeout };
        Self { layout, git }
    }

    /// Whether there is one; nothing is made.
    pub(crate) fn exists(&self) -> bool {
        self.layout.store().join("HEAD").is_file()
    }

    /// Waits until no other process uses the store.
    pub(crate) async fn hold(&self) -> Result<Held> {
        create_private(&self.layout.base)?;
        let path = self.layout.lock();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(CheckpointError::io(&path))?;
        let until = Instant::now() + self.git.timeout;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Held { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(RETRY).await,
                Err(TryLockError::WouldBlock) => return Err(CheckpointError::Busy),
                Err(TryLockError::Error(source)) => {
                    return Err(CheckpointError::Io { path, source });
                }
            }
        }
    }

    /// Makes what is missing of the store and takes away what a killed process left locked.
    pub(crate) async fn ready(&self, _held: &Held) -> Result<()> {
        let store = self.layout.store();
        if !store.exists() {
            self.move_legacy()?;
        }
        let is_whole = ["HEAD", "config", "objects", "refs"]
            .iter()
            .all(|part| store.join(part).symlink_metadata().is_ok());
        self.remove_locks();
        if !is_whole {
            self.init().await?;
        }
        for folder in [self.layout.indexes(), self.layout.projects(), self.layout.refs()] {
            create_private(&folder)?;
        }
        let attributes = store.join("info").join("attributes");
        if fs::read_to_string(&attributes).ok().as_deref() != Some(ATTRIBUTES) {
            create_private(&store.join("info"))?;
            write(&attributes, ATTRIBUTES.as_bytes())?;
        }
        Ok(())
    }

    /// Makes the repository beside its place, so that it is there as a whole or not at all; one
    /// that has lost parts gets them back where it is.
    async fn init(&self) -> Result<()> {
        let (store, new) = (self.layout.store(), self.layout.new_store());
        let place = if store.exists() { &store } else { &new };
        if new.exists() {
            fs::remove_dir_all(&new).map_err(CheckpointError::io(&new))?;
        }
        create_private(place)?;
        let init = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1"];
        let git = Git { store: place.clone(), ..self.git.clone() };
        git.run(init).env("GIT_DEFAULT_REF_FORMAT", "files").bytes().await?;
        if place == &new {
            fs::rename(&new, &store).map_err(CheckpointError::io(&store))?;
        }
        Ok(())
    }

    /// A git that was killed leaves its lock files. Whoever holds the store knows that no other
    /// git is at work.
    fn remove_locks(&self) {
        let store = self.layout.store();
        let info = self.layout.objects().join("info");
        for folder in [store.clone(), self.layout.indexes(), self.layout.refs(), info] {
            for file in fs::read_dir(folder).into_iter().flatten().flatten() {
                if Path::new(&file.file_name()).extension().is_some_and(|end| end == "lock") {
                    log(fs::remove_file(file.path()), &file.path());
                }
            }
        }
        log(fs::remove_file(store.join("gc.pid")), &store);
    }

    /// Moves everything that an older version left out of the way.
    fn move_legacy(&self) -> Result<()> {
        let base = &self.layout.base;
        let files = fs::read_dir(base).map_err(CheckpointError::io(base))?.flatten();
        let old: Vec<_> = files
            .map(|file| file.file_name())
            .filter(|name| !name.to_str().is_some_and(Layout::is_ours))
            .collect();
        if old.is_empty() {
            return Ok(());
        }
        let aside = base.join(format!("legacy-{}", stamp(SystemTime::now())));
        create_private(&aside)?;
        for name in old {
            let (from, to) = (base.join(&name), aside.join(&name));
            fs::rename(&from, to).map_err(CheckpointError::io(&from))?;
        }
        Ok(())
    }

    /// Whether there is a git to run.
    pub(crate) fn has_git(&self) -> bool {
        let path = self.git.search_path();
        find("git".as_ref(), Path::new("/"), Some(path.as_ref())).is_ok()
    }

    /// Notes that something was done with a project.
    pub(crate) fn touch(&self, project: &Project) -> Result<()> {
        let path = self.layout.project(&project.id);
        let now = seconds(SystemTime::now());
        let created_at = read_note(&path).map_or(now, |note| note.created_at);
        let note = serde_json::json!({
            // A name that is no text is only for people: nothing looks it up.
            "workdir": project.folder.to_string_lossy(),
            "created_at": created_at,
            "last_touch": now,
        });
        write(&path, note.to_string().as_bytes())
    }

    /// All projects that are noted, by name, with what can't be read.
    pub(crate) fn notes(&self) -> Vec<(String, Option<Note>)> {
        let files = fs::read_dir(self.layout.projects()).into_iter().flatten().flatten();
        let mut notes: Vec<_> = files
            .filter_map(|file| {
                let path = file.path();
                let is_note = path.extension().is_some_and(|end| end == "json");
                let id = path.file_stem()?.to_str()?.to_owned();
                is_note.then(|| (id, read_note(&path)))
            })
            .collect();
        notes.sort_by(|a, b| a.0.cmp(&b.0));
        notes
    }
}

fn read_note(path: &Path) -> Option<Note> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Makes a folder that only its owner may look into. One that is there stays as it is.
pub(crate) fn create_private(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(CheckpointError::io(folder))
}

/// Writes a file as a whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    });
    written.map_err(CheckpointError::io(path))
}

/// Takes note of a failure that doesn't matter.
pub(crate) fn log(done: io::Result<()>, path: &Path) {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(path = %path.display(), %error, "left behind in the checkpoint store");
        }
        _ => {}
    }
}

/// Seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// A time as `yyyymmdd-hhmmss`, in UTC.
fn stamp(time: SystemTime) -> String {
    let total = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (total / 86_400, total % 86_400);
    // The calendar repeats every 400 years; years begin in March here, so that the leap day is
    // the last of its year.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + carry;
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_know_the_calendar() {
        for (seconds, expected) in [
            (0, "19700101-000000"),
            (951_782_399, "20000228-235959"),
            (951_782_400, "20000229-000000"),
            (1_709_251_199, "20240229-235959"),
            (1_767_225_600, "20260101-000000"),
        ] {
            assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}

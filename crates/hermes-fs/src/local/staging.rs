//! A folder of the host's own for what is between one name and the other, so that a killed process
//! leaves nothing in the folders of the user, and the next one finds what is to be done.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::draft::{Draft, remove_stale};
use super::folder::{Folder, Folders};
use super::journal::Record;
use super::lock;
use super::open::open;
use super::store::sync;

/// The folder. Files in it: `ID.new` of a single write, and of a plan `ID-N` with its journal,
/// which is named after how far it is. All are locked by their owner while it lives.
#[derive(Clone, Debug)]
pub(super) struct Staging {
    path: PathBuf,
}

/// What became of a plan whose process was killed.
const COMPLETED: &str = "a patch of several files whose process had been killed was completed \
    just now";
const TAKEN_BACK: &str = "a patch of several files whose process had been killed was taken back \
    just now, but for files that were changed since by something else: look at its files before \
    going on";

/// How far a plan is, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing is changed but that there may be new folders.
    Intent,
    /// The steps are going to be done.
    Plan,
    /// The steps are going to be taken back.
    Undo,
}

impl Stage {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Intent, "intent"), (Self::Plan, "plan"), (Self::Undo, "undo")];

    fn file(self, staging: &Staging, id: &str) -> PathBuf {
        let name = Self::ALL.iter().find(|(stage, _)| *stage == self).map_or("", |(_, name)| name);
        staging.path.join(format!("{id}.{name}"))
    }
}

/// The journal of a plan that is being carried out. It stays when this is dropped.
#[derive(Debug)]
pub(super) struct Journal<'a> {
    staging: &'a Staging,
    id: &'a str,
    stage: Stage,
    /// Holds its lock.
    lock: File,
}

/// A name that no other plan or write has.
pub(super) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{now:x}-{next:x}", std::process::id())
}

impl Staging {
    /// The folder, created where it isn't there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        Ok(Self { path: path.canonicalize()? })
    }

    /// Where a file of this name is.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn write(&self, stage: Stage, id: &str, record: &Record) -> io::Result<File> {
        let path = stage.file(self, id);
        let folder = Folder::of(&path)?;
        let mut draft = Draft::new(folder.path(), &format!("{id}.new"))?;
        let mut file = draft.file();
        file.write_all(&serde_json::to_vec(record)?)?;
        if stage != Stage::Intent {
            file.sync_all()?;
        }
        draft.name(&folder.file(&path))?;
        if stage != Stage::Intent {
            sync(folder.path());
        }
        draft.keep()
    }

    /// Notes what a plan may leave behind before it is complete.
    pub(super) fn begin<'a>(&'a self, id: &'a str, record: &Record) -> io::Result<Journal<'a>> {
        let file = self.write(Stage::Intent, id, record)?;
        Ok(Journal { staging: self, id, stage: Stage::Intent, lock: file })
    }

    /// The folder where it is there.
    pub(super) fn existing(path: &Path) -> Option<Self> {
        path.canonicalize().ok().map(|path| Self { path })
    }

    /// Brings to an end what killed processes left: tells what there is to know of it.
    pub(super) fn recover(&self) -> Option<&'static str> {
        let entries = std::fs::read_dir(&self.path).ok()?;
        let mut told = None;
        let mut ids = BTreeSet::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            match name.to_str().and_then(|name| name.rsplit_once('.')) {
                Some((_, "new")) => remove_stale(&entry.path()),
                Some((id, "intent" | "plan" | "undo")) => {
                    ids.insert(id.to_owned());
                }
                _ => {}
            }
        }
        for id in ids {
            match self.recover_plan(&id) {
                Ok(what) => told = told.or(what),
                Err(err) => tracing::warn!("the patch {id} can't be completed: {err}"),
            }
        }
        told
    }

    fn recover_plan(&self, id: &str) -> io::Result<Option<&'static str>> {
        let mut found = Vec::new();
        for (stage, _) in Stage::ALL {
            let path = stage.file(self, id);
            let file = match open(&path) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                file => file?,
            };
            match file.try_lock() {
                Ok(()) if lock::is_at(&file, &path) => found.push((stage, path, file)),
                // Its owner lives, or another process does this.
                Ok(()) | Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(err)) => return Err(err),
            }
        }
        let Some((stage, path, _)) = found.last() else { return Ok(None) };
        let record = Record::read(path)?;
        let mut folders = Folders::default();
        let folders = &mut folders;
        let complete = *stage == Stage::Plan && record.is_undisturbed(folders);
        let left = match stage {
            Stage::Intent => Vec::new(),
            Stage::Plan if complete => {
                record.roll_forward(folders);
                Vec::new()
            }
            // The files are somebody else's by now. To go on would mix the two.
            Stage::Plan => {
                record.roll_back(folders, record.steps.len());
                Vec::new()
            }
            Stage::Undo => record.roll_back(folders, record.steps.len()),
        };
        for (step, reason) in &left {
            tracing::warn!("{} can't be put back: {reason}", step.target().display());
        }
        let needed: Vec<&Path> =
            left.iter().flat_map(|(step, _)| [step.source(), step.target()]).collect();
        // Without the plan's own files, the next one couldn't tell how far it is.
        let intent = Stage::Intent.file(self, id);
        std::fs::rename(path, &intent)?;
        record.clean(folders, id, &needed);
        if !complete {
            record.remove_folders(folders);
        }
        for stage in [Stage::Plan, Stage::Undo] {
            let _ = std::fs::remove_file(stage.file(self, id));
        }
        std::fs::remove_file(intent)?;
        Ok(match stage {
            Stage::Intent => None,
            Stage::Plan if complete => Some(COMPLETED),
            Stage::Plan | Stage::Undo => Some(TAKEN_BACK),
        })
    }
}

impl Journal<'_> {
    /// From now on the plan is carried out, whoever does it.
    pub(super) fn commit(&mut self, record: &Record) -> io::Result<()> {
        let intent = self.stage.file(self.staging, self.id);
        self.lock = self.staging.write(Stage::Plan, self.id, record)?;
        self.stage = Stage::Plan;
        std::fs::remove_file(intent)
    }

    /// From now on the plan is taken back, whoever does it.
    pub(super) fn undo(&mut self) -> io::Result<()> {
        if self.stage == Stage::Plan {
            let to = Stage::Undo.file(self.staging, self.id);
            std::fs::rename(self.stage.file(self.staging, self.id), to)?;
            self.stage = Stage::Undo;
        }
        Ok(())
    }

    /// There is nothing left to do but to tidy up. Without the plan's own files, nobody could tell
    /// how far it is.
    pub(super) fn done(&mut self) {
        let intent = Stage::Intent.file(self.staging, self.id);
        if std::fs::rename(self.stage.file(self.staging, self.id), intent).is_ok() {
            self.stage = Stage::Intent;
        }
    }

    /// There is nothing left at all.
    pub(super) fn end(self) {
        let _ = std::fs::remove_file(self.stage.file(self.staging, self.id));
        drop(self.lock);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::journal::{Mark, Step};
    use pretty_assertions::assert_eq;
    use std::fs;

    /// What is in some files after a process with a plan died, with another change in between.
    fn after(die: impl Fn(&mut Journal<'_>, &Record)) -> Vec<Option<String>> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let staging = Staging::open(&root.join("staging")).unwrap();
        let id = unique();
        let mut record = Record::default();
        for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
            let (from, to) = (staging.join(&format!("{id}-{index}")), root.join(name));
            fs::write(&from, "new").unwrap();
            fs::write(&to, "old").unwrap();
            let [file, old] = [&from, &to].map(|path| Mark::at(path).unwrap().unwrap());
            record.temps.push(from.clone().into());
            record.steps.push(Step::Swap { from: from.into(), to: to.into(), file, old });
        }
        let mut journal = staging.begin(&id, &record).unwrap();
        die(&mut journal, &record);
        // Not before its owner is dead.
        staging.recover();
        assert!(staging.join(&format!("{id}-0")).exists());
        fs::write(root.join("b"), "somebody's").unwrap();
        drop(journal);
        staging.recover();
        assert_eq!(fs::read_dir(root.join("staging")).unwrap().count(), 0);
        ["a", "b", "c"].map(|name| fs::read_to_string(root.join(name)).ok()).into()
    }

    #[test]
    fn a_plan_of_a_dead_process_is_taken_back_where_something_else_changed() {
        let all = |[a, b, c]: [&str; 3]| vec![Some(a.into()), Some(b.into()), Some(c.into())];
        assert_eq!(after(|_, _| ()), all(["old", "somebody's", "old"]));
        let planned = after(|journal, record| journal.commit(record).unwrap());
        assert_eq!(planned, all(["old", "somebody's", "old"]));
        let taken_back = after(|journal, record| {
            journal.commit(record).unwrap();
            record.steps[0].forward(&mut Folders::default()).unwrap();
            journal.undo().unwrap();
        });
        assert_eq!(taken_back, all(["old", "somebody's", "old"]));
    }
}

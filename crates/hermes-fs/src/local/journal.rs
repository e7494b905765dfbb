//! The steps of a plan, as they are written down before the first one is done, so that they can be
//! gone through to their end or taken back by another process.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::draft::{exchange, rename_to_free};
use super::folder::Folders;
use super::open::open;
use super::store::{read, write_over};
use crate::stat::Stat;

/// All that is known of a plan.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Record {
    /// Folders that there weren't, those above first.
    pub(super) folders: Vec<OsString>,
    /// Where files of the plan's own may be.
    pub(super) temps: Vec<OsString>,
    pub(super) steps: Vec<Step>,
}

/// Which file it is, and in which state.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Mark {
    file: (u64, u64),
    len: u64,
    /// Since 1970, or before.
    modified: Option<(bool, Duration)>,
}

/// One change that is done in one moment, as far as the system can.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) enum Step {
    /// A file gets another name, which nothing has.
    Move { from: OsString, to: OsString, file: Mark },
    /// Two files change their names.
    Swap { from: OsString, to: OsString, file: Mark, old: Mark },
    /// A file gets another content. Both contents lie at places of their own.
    Overwrite {
        new: OsString,
        old: OsString,
        to: OsString,
        file: (u64, u64),
        /// Both contents, where they are at hand.
        #[serde(skip)]
        known: Option<Arc<[Vec<u8>; 2]>>,
    },
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It isn't done, or not to its end.
    Before,
    After,
    /// It isn't done, and something else was done where it leads.
    Blocked,
    /// Something else was done there.
    Other,
}

impl Mark {
    pub(super) fn of(stat: &Stat) -> Self {
        let modified = stat.modified.map(|it| match it.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => (true, since),
            Err(err) => (false, err.duration()),
        });
        Self { file: (stat.device, stat.inode), len: stat.len, modified }
    }

    /// What is at a path, if anything.
    pub(super) fn at(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(found) => Ok(Some(found.into())),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    pub(super) const fn file(&self) -> (u64, u64) {
        self.file
    }
}

impl From<Metadata> for Mark {
    fn from(metadata: Metadata) -> Self {
        Self::of(&Stat::of(&metadata))
    }
}

impl Step {
    /// The user's file that it changes.
    pub(super) fn target(&self) -> &Path {
        let (Self::Move { to, .. } | Self::Swap { to, .. } | Self::Overwrite { to, .. }) = self;
        Path::new(to)
    }

    /// Where the file goes that has to make room, or comes from.
    pub(super) fn source(&self) -> &Path {
        let (Self::Move { from, .. } | Self::Swap { from, .. } | Self::Overwrite { new: from, .. }) =
            self;
        Path::new(from)
    }

    pub(super) fn state(&self, folders: &mut Folders) -> io::Result<State> {
        let mut mark = |path: &OsString| match folders.place(Path::new(path)) {
            Ok(place) => Mark::at(&place.at()),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        };
        Ok(match self {
            Self::Move { from, to, file } => match (mark(from)?, mark(to)?) {
                (Some(from), None) if from == *file => State::Before,
                (None, Some(to)) if to == *file => State::After,
                (Some(from), Some(_)) if from == *file => State::Blocked,
                // It was set aside, and is gone for good.
                (None, None) => State::After,
                _ => State::Other,
            },
            Self::Swap { from, to, file, old } => match (mark(from)?, mark(to)?) {
                (Some(from), Some(to)) if from == *file && to == *old => State::Before,
                (Some(from), _) if from == *file => State::Blocked,
                (_, Some(to)) if to == *file => State::After,
                _ => State::Other,
            },
            Self::Overwrite { to, file, .. } => match mark(to)? {
                Some(mark) if mark.file == *file => {
                    let contents = self.contents()?;
                    let [new, old] = &*contents;
                    overwritten(&read(Path::new(to))?, new, old)
                }
                _ => State::Other,
            },
        })
    }

    pub(super) fn forward(&self, folders: &mut Folders) -> io::Result<()> {
        match self {
            Self::Move { from, to, .. } => {
                let [from, to] = places(folders, from, to)?;
                rename_to_free(&from, &to)
            }
            Self::Swap { from, to, .. } => swap(folders, from, to),
            Self::Overwrite { to, .. } => {
                let contents = self.contents()?;
                let [new, old] = &*contents;
                let written = write_over(Path::new(to), new);
                if written.is_err() {
                    // A full disk, most likely: the old content fitted.
                    let _ = write_over(Path::new(to), old);
                }
                written
            }
        }
    }

    pub(super) fn back(&self, folders: &mut Folders) -> io::Result<()> {
        match self {
            Self::Move { from, to, .. } => {
                let [from, to] = places(folders, from, to)?;
                rename_to_free(&to, &from)
            }
            Self::Swap { from, to, .. } => swap(folders, from, to),
            Self::Overwrite { to, .. } => {
                let contents = self.contents()?;
                let [_, old] = &*contents;
                write_over(Path::new(to), old)
            }
        }
    }

    /// The new and the old content of a file that is written over.
    fn contents(&self) -> io::Result<Arc<[Vec<u8>; 2]>> {
        match self {
            Self::Overwrite { known: Some(known), .. } => Ok(Arc::clone(known)),
            Self::Overwrite { new, old, .. } => {
                Ok(Arc::new([read(Path::new(new))?, read(Path::new(old))?]))
            }
            _ => Ok(Arc::default()),
        }
    }
}

/// How far a file is that is written over from its start: a part of the new content may be followed
/// by the rest of the old one.
pub(super) fn overwritten(now: &[u8], new: &[u8], old: &[u8]) -> State {
    if now == new {
        return State::After;
    }
    let same = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    if now.get(same..) == Some(old.get(same..).unwrap_or_default()) {
        State::Before
    } else {
        State::Other
    }
}

fn places(folders: &mut Folders, a: &OsString, b: &OsString) -> io::Result<[PathBuf; 2]> {
    Ok([folders.place(Path::new(a))?.at(), folders.place(Path::new(b))?.at()])
}

fn swap(folders: &mut Folders, a: &OsString, b: &OsString) -> io::Result<()> {
    let [a, b] = places(folders, a, b)?;
    exchange(&a, &b, &by(&a))
}

/// The name by the way of a swap.
pub(super) fn by(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

impl Record {
    /// Whether nothing but the plan itself changed its files.
    pub(super) fn is_undisturbed(&self, folders: &mut Folders) -> bool {
        self.steps
            .iter()
            .all(|step| matches!(step.state(folders), Ok(State::Before | State::After)))
    }

    /// Does what isn't done yet. A place where something else was done is left alone.
    pub(super) fn roll_forward(&self, folders: &mut Folders) {
        for step in &self.steps {
            let result = match step.state(folders) {
                Ok(State::Before) => step.forward(folders),
                Ok(State::After) => Ok(()),
                Ok(State::Blocked | State::Other) => {
                    Err(io::Error::other("something else changed it"))
                }
                Err(err) => Err(err),
            };
            if let Err(err) = result {
                let path = step.target().display();
                tracing::warn!("{path} stays as it is, though a patch wasn't complete: {err}");
            }
        }
    }

    /// Takes back what was done, of the first `done` steps, the last first. Gives back what
    /// couldn't be.
    pub(super) fn roll_back(&self, folders: &mut Folders, done: usize) -> Vec<(&Step, String)> {
        let mut left = Vec::new();
        for step in self.steps.iter().take(done).rev() {
            let result = match step.state(folders) {
                Ok(State::After) => step.back(folders),
                Ok(State::Before) if matches!(step, Step::Overwrite { .. }) => step.back(folders),
                Ok(State::Before | State::Blocked) => Ok(()),
                Ok(State::Other) => Err(io::Error::other("something else changed it meanwhile")),
                Err(err) => Err(err),
            };
            if let Err(err) = result {
                left.push((step, err.to_string()));
            }
        }
        left
    }

    /// Removes the plan's own files, but not those that a step still needs.
    pub(super) fn clean(&self, folders: &mut Folders, id: &str, needed: &[&Path]) {
        for temp in self.temps.iter().map(Path::new) {
            // Whatever a journal says, only such files are the plan's own.
            let own = temp.file_name().is_some_and(|name| name.to_string_lossy().contains(id));
            if !own || needed.contains(&temp) {
                continue;
            }
            if let Ok(place) = folders.place(temp) {
                let _ = std::fs::remove_file(place.at());
                let _ = std::fs::remove_file(by(&place.at()));
            }
        }
    }

    /// Removes the folders that there weren't, as far as they are empty.
    pub(super) fn remove_folders(&self, folders: &mut Folders) {
        for folder in self.folders.iter().rev() {
            if let Ok(place) = folders.place(Path::new(folder)) {
                // Someone else may have put a file there by now: then it stays.
                let _ = std::fs::remove_dir(place.at());
            }
        }
    }

    pub(super) fn read(file: &Path) -> io::Result<Self> {
        serde_json::from_reader(io::BufReader::new(open(file)?)).map_err(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn how_far_a_file_is_written_over() {
        for (now, new, old, state) in [
            ("old text", "new", "old text", State::Before),
            ("nld text", "new", "old text", State::Before),
            ("new text", "new", "old text", State::Before),
            ("new", "new", "old text", State::After),
            ("longer ", "longer one", "old", State::Before),
            ("longer one", "longer one", "old", State::After),
            ("other", "new", "old text", State::Other),
            ("newer text", "new", "old text", State::Other),
            ("", "", "", State::After),
        ] {
            assert_eq!(overwritten(now.as_bytes(), new.as_bytes(), old.as_bytes()), state, "{now}");
        }
    }
}

//! Several changes of files as one: all of them, or none.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::draft::rename_to_free;
use super::folder::Folders;
use super::journal::Mark;
use super::lock::Locks;
use super::staging::{Staging, unique};
use super::steps::Commit;
use super::store::{self, InPlace};
use crate::error::{CommitError, FsError};
use crate::plan::{Committed, Held, Move, Plan, Removal, Write};

/// Files that are held, and where their new contents wait.
#[derive(Debug)]
pub(super) struct Holding {
    pub(super) locks: Locks,
    pub(super) staging: Option<Staging>,
}

/// What was found out about the file systems by trying.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Files can't be renamed from everywhere to everywhere.
    pub(super) apart: bool,
    /// Files that can't be replaced.
    pub(super) in_place: BTreeMap<PathBuf, InPlace>,
}

impl Ways {
    /// Why a file is to be written over, if it is.
    pub(super) fn in_place(&self, write: &Write) -> Option<InPlace> {
        if write.old.as_ref().is_some_and(|old| old.stat.links > 1) {
            return Some(InPlace::Links);
        }
        self.in_place.get(&write.path).copied()
    }

    /// Takes note of a reason to try again. False when it is known.
    fn learn(&mut self, stop: &Stop) -> bool {
        match stop {
            Stop::Error(_) => false,
            Stop::Apart(_) => !std::mem::replace(&mut self.apart, true),
            Stop::InPlace(path, why, _) => self.in_place.insert(path.clone(), *why).is_none(),
        }
    }
}

/// Why a plan wasn't carried out.
#[derive(Debug)]
pub(super) enum Stop {
    Error(FsError),
    /// Something is on another file system.
    Apart(FsError),
    /// This file can't be replaced, but perhaps written over.
    InPlace(PathBuf, InPlace, FsError),
}

impl From<FsError> for Stop {
    fn from(err: FsError) -> Self {
        Self::Error(err)
    }
}

impl Stop {
    pub(super) fn io(verb: &'static str, path: &Path, err: io::Error) -> Self {
        let apart = err.kind() == io::ErrorKind::CrossesDevices;
        let err = FsError::io(verb, path, err);
        if apart { Self::Apart(err) } else { Self::Error(err) }
    }

    /// For a file that can't be written.
    pub(super) fn write(write: &Write, failure: store::Failure) -> Self {
        let path = &write.path;
        match failure.leaves() {
            Some(why) if write.old.is_some() => {
                Self::InPlace(path.clone(), why, failure.error(path))
            }
            _ => Self::Error(failure.error(path)),
        }
    }

    fn cause(self) -> FsError {
        match self {
            Self::Error(err) | Self::Apart(err) | Self::InPlace(_, _, err) => err,
        }
    }
}

impl Held for Holding {
    /// New contents are on disk before anything is changed, so that a full disk changes nothing.
    fn commit(&mut self, plan: &Plan) -> Result<Committed, CommitError> {
        let mut ways = Ways::default();
        loop {
            let (stop, left) = match self.at_once(plan, &ways) {
                Some(Ok(())) => return Ok(Committed::default()),
                Some(Err(stop)) => (stop, Vec::new()),
                None => {
                    let id = unique();
                    let mut commit =
                        Commit::new(&mut self.locks, self.staging.as_ref(), &ways, &id);
                    match commit.run(plan) {
                        Ok(committed) => return Ok(committed),
                        Err(stop) => (stop, commit.roll_back()),
                    }
                }
            };
            if !left.is_empty() || !ways.learn(&stop) {
                return Err(CommitError { cause: stop.cause(), left });
            }
        }
    }
}

impl Holding {
    /// Carries out a plan that is a single step for the file system; none if it isn't one.
    fn at_once(&mut self, plan: &Plan, ways: &Ways) -> Option<Result<(), Stop>> {
        let has_folder = |path: &Path| path.parent().is_some_and(Path::is_dir);
        let Plan { removals, moves, writes } = plan;
        match (removals.as_slice(), moves.as_slice(), writes.as_slice()) {
            ([], [], [write]) if has_folder(&write.path) && ways.in_place(write).is_none() => {
                let lock = self.locks.get(&write.path)?;
                let staging = self.staging.as_ref();
                let replaced = store::replace(lock, write, &mut Folders::default(), staging);
                Some(replaced.map_err(|failure| Stop::write(write, failure)))
            }
            ([removal], [], []) => Some(remove(removal).map_err(Stop::Error)),
            ([], [it], []) if has_folder(&it.to) && !ways.apart => Some(move_one(it)),
            _ => None,
        }
    }
}

fn remove(Removal { path, old }: &Removal) -> Result<(), FsError> {
    let place = Folders::default().place(path);
    let place = place.map_err(|err| FsError::io("remove", path, err))?;
    if let Some(old) = old {
        store::check_unchanged(path, old)?;
    }
    std::fs::remove_file(place.at()).map_err(|err| FsError::io("remove", path, err))
}

fn move_one(Move { from, to, old }: &Move) -> Result<(), Stop> {
    let mut folders = Folders::default();
    let mut place = |path| folders.place(path).map_err(|err| Stop::io("move", path, err));
    let [source, target] = [place(from)?, place(to)?];
    if let Some(old) = old {
        store::check_unchanged(from, old)?;
    }
    match rename_to_free(&source.at(), &target.at()) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
            Err(FsError::Exists(to.clone()).into())
        }
        result => result.map_err(|err| Stop::io("move", from, err)),
    }
}

/// Moves in an order in which each place is free. Those that wait for each other go by way of a
/// place of their own, which `way` gives for a file.
pub(super) fn in_order(
    mut waiting: Vec<(PathBuf, PathBuf, Mark)>,
    mut way: impl FnMut(&Path) -> PathBuf,
) -> Vec<(PathBuf, PathBuf, Mark)> {
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let sources: BTreeSet<PathBuf> = waiting.iter().map(|(from, ..)| from.clone()).collect();
        let (ready, blocked): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, to, _)| !sources.contains(to));
        waiting = blocked;
        if ready.is_empty()
            && let Some((from, _, mark)) = waiting.first_mut()
        {
            let by = way(from);
            ordered.push((from.clone(), by.clone(), *mark));
            *from = by;
        }
        ordered.extend(ready);
    }
    ordered
}

#[cfg(test)]
mod tests;

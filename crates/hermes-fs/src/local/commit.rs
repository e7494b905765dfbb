//! Several changes of files as one: all of them, or none.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::folder::{Folders, Place};
use super::lock::Locks;
use super::open::open;
use super::store::{self, Prepared};
use crate::error::{CommitError, FsError};
use crate::plan::{Committed, Held, Move, Old, Plan, Removal, Write};
use crate::stat::Stat;

/// How to take back what was done. Everything is named by way of its folder, which is held.
#[derive(Debug)]
enum Undo<'p> {
    /// A folder was created.
    RemoveFolder(Place),
    /// A file was created.
    Remove(Place),
    /// A file was moved from the first place to the second.
    MoveBack(Place, Place),
    /// A file was set aside. Its name there goes before the folder it is in.
    PutBack(TempPath, Place),
    /// A file got a new content in place of this.
    Restore(PathBuf, Option<&'p [u8]>),
}

/// The changes of a plan as far as they are made.
struct Commit<'a> {
    locks: &'a mut Locks,
    folders: Folders,
    done: Vec<Undo<'a>>,
}

impl Held for Locks {
    /// New contents are on disk before anything is changed, so that a full disk changes nothing.
    fn commit(&mut self, plan: &Plan) -> Result<Committed, CommitError> {
        let mut commit = Commit { locks: self, folders: Folders::default(), done: Vec::new() };
        match commit.run(plan) {
            Ok(committed) => Ok(committed),
            Err(cause) => Err(CommitError { cause, left: commit.roll_back() }),
        }
    }
}

impl<'a> Commit<'a> {
    fn run(&mut self, plan: &'a Plan) -> Result<Committed, FsError> {
        let targets = plan.moves.iter().map(|it| &it.to);
        for path in targets.chain(plan.writes.iter().map(|write| &write.path)) {
            self.create_folders(path)?;
        }
        let created_folders = !self.done.is_empty();
        let prepared = plan.writes.iter().map(|write| store::prepare(write, &mut self.folders));
        let prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        let removals = plan.removals.iter().map(|Removal { path, old }| (path, old));
        let moves = plan.moves.iter().map(|Move { from, old, .. }| (from, old));
        for (path, old) in removals.chain(moves) {
            if let Some(old) = old {
                store::check_unchanged(path, old)?;
            }
        }
        for Removal { path, .. } in &plan.removals {
            self.set_aside(path)?;
        }
        self.move_all(plan.moves.iter().map(|it| (it.from.clone(), it.to.clone())).collect())?;
        let mut warnings = BTreeSet::new();
        for (write, prepared) in plan.writes.iter().zip(prepared) {
            warnings.extend(self.write(write, prepared)?);
        }
        Ok(Committed { created_folders, warnings: warnings.into_iter().collect() })
    }

    fn place(&mut self, verb: &'static str, path: &Path) -> Result<Place, FsError> {
        self.folders.place(path).map_err(|err| FsError::io(verb, path, err))
    }

    fn write(
        &mut self,
        write: &'a Write,
        prepared: Prepared,
    ) -> Result<Option<&'static str>, FsError> {
        let Write { path, old, bytes, .. } = write;
        let place = self.place("write", path)?;
        let Some(lock) = self.locks.get(path) else {
            return Err(FsError::Busy(path.clone()));
        };
        let stat = old.as_ref().map(|old| &old.stat);
        let written = store::finish(lock, path, stat, bytes, prepared)?;
        self.done.push(match old {
            Some(Old { bytes, .. }) => Undo::Restore(path.clone(), bytes.as_deref()),
            None => Undo::Remove(place),
        });
        match holds(path, bytes) {
            Ok(true) => Ok(written.warning()),
            Ok(false) => {
                // What is there now is somebody else's, and not to be undone.
                self.done.pop();
                Err(FsError::Overtaken(path.clone()))
            }
            // It could be written and not read: such permissions there are.
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied && old.is_some() => {
                Ok(written.warning())
            }
            Err(err) => Err(FsError::io("read back", path, err)),
        }
    }

    /// Creates the folders above a file, one by one.
    fn create_folders(&mut self, path: &Path) -> Result<(), FsError> {
        let missing: Vec<&Path> = path.ancestors().skip(1).take_while(|it| !it.is_dir()).collect();
        for folder in missing.into_iter().rev() {
            let place = self.place("create", folder)?;
            match std::fs::create_dir(place.at()) {
                Ok(()) => self.done.push(Undo::RemoveFolder(place)),
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists && place.at().is_dir() => {}
                Err(err) => return Err(FsError::io("create", folder, err)),
            }
        }
        Ok(())
    }

    /// Takes a file away under a name of its own beside it. It is gone when that is dropped.
    fn set_aside(&mut self, path: &Path) -> Result<(), FsError> {
        let place = self.place("remove", path)?;
        let aside = || {
            let aside = store::new_file(place.folder())?.into_temp_path();
            std::fs::rename(place.at(), &aside)?;
            Ok(aside)
        };
        let aside = aside().map_err(|err| FsError::io("remove", path, err))?;
        store::sync(place.folder());
        self.done.push(Undo::PutBack(aside, place));
        Ok(())
    }

    /// Moves files, each when its place is free. Those that wait for each other go by way of a name
    /// of their own.
    fn move_all(&mut self, mut waiting: Vec<(PathBuf, PathBuf)>) -> Result<(), FsError> {
        while !waiting.is_empty() {
            let sources: BTreeSet<PathBuf> = waiting.iter().map(|(from, _)| from.clone()).collect();
            let (ready, blocked): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(_, to)| !sources.contains(to));
            waiting = blocked;
            if ready.is_empty() {
                if let Some((from, _)) = waiting.first_mut() {
                    let way = self.free_name(from)?;
                    self.move_one(from, &way)?;
                    *from = way;
                }
                continue;
            }
            for (from, to) in &ready {
                self.move_one(from, to)?;
            }
        }
        Ok(())
    }

    /// A name beside the file that nothing has.
    fn free_name(&mut self, path: &Path) -> Result<PathBuf, FsError> {
        let place = self.place("move", path)?;
        let free = || {
            let temp = store::new_file(place.folder())?.into_temp_path();
            let name = temp.file_name().map(|name| path.with_file_name(name));
            temp.close()?;
            name.ok_or_else(|| io::ErrorKind::InvalidFilename.into())
        };
        free().map_err(|err: io::Error| FsError::io("move", path, err))
    }

    fn move_one(&mut self, from: &Path, to: &Path) -> Result<(), FsError> {
        let [source, target] = [self.place("move", from)?, self.place("move", to)?];
        match rename_to_free(&source.at(), &target.at()) {
            Ok(()) => self.done.push(Undo::MoveBack(source.clone(), target.clone())),
            Err(err) if err.kind() == io::ErrorKind::CrossesDevices => {
                copy(&source, &target).map_err(|err| FsError::io("move", from, err))?;
                self.done.push(Undo::Remove(target.clone()));
                self.set_aside(from)?;
            }
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                return Err(FsError::Exists(to.to_owned()));
            }
            Err(err) => return Err(FsError::io("move", from, err)),
        }
        store::sync(source.folder());
        store::sync(target.folder());
        Ok(())
    }

    /// Takes back what was done, the last first. Gives back what couldn't be.
    fn roll_back(mut self) -> Vec<(PathBuf, String)> {
        let mut left = Vec::new();
        while let Some(undo) = self.done.pop() {
            let (path, result) = match undo {
                Undo::RemoveFolder(place) => {
                    // Someone else may have put a file there by now: then it stays.
                    let _ = std::fs::remove_dir(place.at());
                    continue;
                }
                Undo::Remove(place) => {
                    let result = std::fs::remove_file(place.at());
                    (place.path, result)
                }
                Undo::MoveBack(from, to) => {
                    let result = rename_to_free(&to.at(), &from.at());
                    (from.path, result)
                }
                Undo::PutBack(aside, place) => {
                    let result = rename_to_free(&aside, &place.at());
                    // What can't be put back is kept where it is.
                    let kept = aside.keep().ok().and_then(|kept| kept.file_name().map(Into::into));
                    let path = match (&result, kept) {
                        (Err(_), Some(name)) => place.path.with_file_name::<PathBuf>(name),
                        _ => place.path,
                    };
                    (path, result)
                }
                Undo::Restore(path, before) => {
                    let result = self.restore(&path, before);
                    (path, result)
                }
            };
            if let Err(err) = result {
                left.push((path, err.to_string()));
            }
        }
        left
    }

    fn restore(&mut self, path: &Path, before: Option<&[u8]>) -> io::Result<()> {
        let Some(bytes) = before.map(<[u8]>::to_vec) else {
            return Err(io::Error::other("its old content isn't known"));
        };
        let stat = Stat::of(&std::fs::metadata(path)?);
        let like = Some((path.to_owned(), stat.clone()));
        let old = Some(Old { stat: stat.clone(), bytes: None });
        let write = Write { path: path.to_owned(), old, like, bytes };
        let Some(lock) = self.locks.get(path) else { return Ok(()) };
        store::prepare(&write, &mut self.folders)
            .and_then(|ready| store::finish(lock, path, Some(&stat), &write.bytes, ready))
            .map(drop)
            .map_err(io::Error::other)
    }
}

/// Whether a file holds just these bytes.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut file = open(path)?;
    let (mut piece, mut rest) = (vec![0; 64 * 1024], bytes);
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(read) => read,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(err),
        };
        match rest.strip_prefix(piece.get(..read).unwrap_or_default()) {
            Some(after) => rest = after,
            None => return Ok(false),
        }
    }
}

/// Renames a file; never over another one.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Some file systems and kernels can't refuse by themselves.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

/// Copies a file to another file system, with its permissions.
fn copy(from: &Place, to: &Place) -> io::Result<()> {
    let mut temp = store::new_file(to.folder())?;
    let mut source = open(&from.path)?;
    io::copy(&mut source, &mut temp)?;
    temp.as_file().set_permissions(source.metadata()?.permissions())?;
    temp.as_file().sync_all()?;
    temp.persist_noclobber(to.at()).map(|_| ()).map_err(|err| err.error)
}

#[cfg(test)]
mod tests;

//! Several changes of files as one: all of them, or none.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use hermes_registry::ToolError;
use tempfile::TempPath;

use crate::fault::{Fault, io_error};
use crate::lock::HeldAll;
use crate::store::{self, Prepared};

/// A content for a file.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) path: PathBuf,
    /// What is there now, with its bytes; none when nothing will be there by then.
    pub(crate) old: Option<(Metadata, Vec<u8>)>,
    /// The file whose properties the new one gets.
    pub(crate) like: Option<(PathBuf, Metadata)>,
    pub(crate) bytes: Vec<u8>,
}

/// What is to be done. Removals come first, then moves, then writes.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) removals: Vec<PathBuf>,
    pub(crate) moves: Vec<(PathBuf, PathBuf)>,
    pub(crate) writes: Vec<Write>,
}

/// How to take back what was done.
#[derive(Debug)]
enum Undo {
    /// A folder was created.
    RemoveFolder(PathBuf),
    /// A file was created.
    Remove(PathBuf),
    /// A file was moved from the first path to the second.
    MoveBack(PathBuf, PathBuf),
    /// A file was set aside.
    PutBack(PathBuf, TempPath),
    /// A file got a new content in place of this.
    Restore(PathBuf, Vec<u8>),
}

/// Does all of it and gives back what the user should know, or takes back what was done so far.
///
/// New contents are on disk before anything is changed, so that a full disk changes nothing.
pub(crate) fn commit(plan: &Plan, held: &mut HeldAll) -> Result<Vec<&'static str>, ToolError> {
    let mut done = Vec::new();
    match run(plan, held, &mut done) {
        Ok(warnings) => Ok(warnings),
        Err(err) => Err(roll_back(&err, done, held)),
    }
}

fn run(
    plan: &Plan,
    held: &mut HeldAll,
    done: &mut Vec<Undo>,
) -> Result<Vec<&'static str>, ToolError> {
    let targets = plan.moves.iter().map(|(_, to)| to);
    for path in targets.chain(plan.writes.iter().map(|write| &write.path)) {
        create_folders(path, done)?;
    }
    let mut prepared = Vec::with_capacity(plan.writes.len());
    for Write { path, old, like, bytes } in &plan.writes {
        let like = like.as_ref().map(|(path, metadata)| (path.as_path(), metadata));
        prepared.push(store::prepare(path, old.as_ref().map(|(old, _)| old), like, bytes)?);
    }
    for path in &plan.removals {
        set_aside(path, done)?;
    }
    move_all(&plan.moves, done)?;
    let mut warnings = BTreeSet::new();
    for (write, prepared) in plan.writes.iter().zip(prepared) {
        warnings.extend(write_one(write, prepared, held, done)?);
    }
    Ok(warnings.into_iter().collect())
}

fn write_one(
    write: &Write,
    prepared: Prepared,
    held: &mut HeldAll,
    done: &mut Vec<Undo>,
) -> Result<Option<&'static str>, ToolError> {
    let Write { path, old, bytes, .. } = write;
    let Some(held) = held.get(path) else {
        return Err(Fault::Io.error(format!("{} isn't held", path.display())));
    };
    let metadata = old.as_ref().map(|(metadata, _)| metadata);
    let written = store::finish(held, path, metadata, bytes, prepared)?;
    done.push(match old {
        Some((_, before)) => Undo::Restore(path.clone(), before.clone()),
        None => Undo::Remove(path.clone()),
    });
    match std::fs::read(path) {
        Ok(found) if found == *bytes => Ok(written.warning()),
        Ok(_) => Err(Fault::Io.error(format!(
            "{} doesn't hold what was just written to it: something else changes it at the same \
             time",
            path.display()
        ))),
        Err(err) => Err(io_error("read back", path, &err)),
    }
}

/// Creates the folders above a file, one by one.
fn create_folders(path: &Path, done: &mut Vec<Undo>) -> Result<(), ToolError> {
    let missing: Vec<&Path> = path.ancestors().skip(1).take_while(|it| !it.is_dir()).collect();
    for folder in missing.into_iter().rev() {
        match std::fs::create_dir(folder) {
            Ok(()) => done.push(Undo::RemoveFolder(folder.to_owned())),
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(err) => return Err(io_error("create", folder, &err)),
        }
    }
    Ok(())
}

/// Takes a file away under a name of its own beside it. It is gone when that is dropped.
fn set_aside(path: &Path, done: &mut Vec<Undo>) -> Result<(), ToolError> {
    let aside = || {
        let aside = store::new_file(path.parent().unwrap_or(Path::new("/")))?.into_temp_path();
        std::fs::rename(path, &aside)?;
        Ok(aside)
    };
    let aside = aside().map_err(|err| io_error("remove", path, &err))?;
    done.push(Undo::PutBack(path.to_owned(), aside));
    store::sync_folder(path);
    Ok(())
}

/// Moves files, each when its place is free. Those that wait for each other go by way of a name of
/// their own.
fn move_all(moves: &[(PathBuf, PathBuf)], done: &mut Vec<Undo>) -> Result<(), ToolError> {
    let mut waiting: Vec<(PathBuf, PathBuf)> = moves.to_vec();
    while !waiting.is_empty() {
        let sources: BTreeSet<PathBuf> = waiting.iter().map(|(from, _)| from.clone()).collect();
        let (ready, blocked): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, to)| !sources.contains(to));
        waiting = blocked;
        if ready.is_empty() {
            if let Some((from, _)) = waiting.first_mut() {
                let way = free_name(from).map_err(|err| io_error("move", from, &err))?;
                move_one(from, &way, done)?;
                *from = way;
            }
            continue;
        }
        for (from, to) in &ready {
            move_one(from, to, done)?;
        }
    }
    Ok(())
}

/// A name beside the file that nothing has.
fn free_name(path: &Path) -> io::Result<PathBuf> {
    let name = store::new_file(path.parent().unwrap_or(Path::new("/")))?.into_temp_path();
    let free = name.to_path_buf();
    name.close()?;
    Ok(free)
}

fn move_one(from: &Path, to: &Path, done: &mut Vec<Undo>) -> Result<(), ToolError> {
    match rename_to_free(from, to) {
        Ok(()) => done.push(Undo::MoveBack(from.to_owned(), to.to_owned())),
        Err(err) if err.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to).map_err(|err| io_error("move", from, &err))?;
            done.push(Undo::Remove(to.to_owned()));
            set_aside(from, done)?;
        }
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Fault::AlreadyExists.error(format!("{} exists already", to.display())));
        }
        Err(err) => return Err(io_error("move", from, &err)),
    }
    store::sync_folder(from);
    store::sync_folder(to);
    Ok(())
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
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let temp = store::new_file(to.parent().unwrap_or(Path::new("/")))?;
    std::fs::copy(from, temp.path())?;
    temp.as_file().sync_all()?;
    temp.persist_noclobber(to).map(|_| ()).map_err(|err| err.error)
}

/// Takes back what was done, the last first.
fn roll_back(cause: &ToolError, done: Vec<Undo>, held: &mut HeldAll) -> ToolError {
    let mut left: Vec<String> = Vec::new();
    for undo in done.into_iter().rev() {
        let (path, result) = match undo {
            Undo::RemoveFolder(path) => {
                // Someone else may have put a file there by now: then it stays.
                let _ = std::fs::remove_dir(&path);
                continue;
            }
            Undo::Remove(path) => (path.clone(), std::fs::remove_file(&path)),
            Undo::MoveBack(from, to) => (from.clone(), rename_to_free(&to, &from)),
            Undo::PutBack(path, aside) => {
                let result = rename_to_free(&aside, &path);
                // What can't be put back is kept where it is.
                let kept = aside.keep();
                let place = match (&result, &kept) {
                    (Err(_), Ok(kept)) => kept.clone(),
                    _ => path,
                };
                (place, result)
            }
            Undo::Restore(path, before) => {
                let result = restore(&path, &before, held);
                (path, result)
            }
        };
        if let Err(err) = result {
            left.push(format!("{} ({err})", path.display()));
        }
    }
    let kind = cause.extra().get("error_kind").cloned().unwrap_or_default();
    let (fault, state) = if left.is_empty() {
        (Fault::RolledBack, "nothing was changed: what was done was taken back".to_owned())
    } else {
        (Fault::Io, format!("not all could be taken back, look at {}", left.join(", ")))
    };
    fault
        .error(format!("the patch failed: {}; {state}", cause.message()))
        .with_extra("cause_kind", kind)
}

fn restore(path: &Path, before: &[u8], held: &mut HeldAll) -> io::Result<()> {
    let now = std::fs::metadata(path)?;
    let Some(held) = held.get(path) else { return Ok(()) };
    store::write(held, path, Some(&now), before)
        .map(|_| ())
        .map_err(|err| io::Error::other(err.message().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock;
    use pretty_assertions::assert_eq;
    use std::collections::BTreeMap;
    use std::fs;

    /// All files below a folder with their contents.
    fn contents(dir: &Path) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), String::new());
                found.extend(contents(&path));
            } else {
                found.insert(path.clone(), fs::read_to_string(path).unwrap());
            }
        }
        found
    }

    #[test]
    fn what_was_done_is_taken_back_when_a_later_step_fails() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["gone", "from", "x", "y", "text", "taken", "linked"] {
            fs::write(root.join(name), name).unwrap();
        }
        fs::hard_link(root.join("linked"), root.join("other")).unwrap();
        let before = contents(&root);
        let write = |name: &str, bytes: &str, is_there: bool| {
            let path = root.join(name);
            let old = is_there.then(|| (path.metadata().unwrap(), fs::read(&path).unwrap()));
            let like = old.as_ref().map(|(metadata, _)| (path.clone(), metadata.clone()));
            Write { path, old, like, bytes: bytes.as_bytes().to_vec() }
        };
        let pair = |from: &str, to: &str| (root.join(from), root.join(to));
        let mut plan = Plan {
            removals: vec![root.join("gone")],
            moves: vec![pair("from", "d/e/to"), pair("x", "y"), pair("y", "x")],
            writes: vec![
                write("text", "new", true),
                write("linked", "new", true),
                write("d/new", "new", false),
                write("taken", "new", false),
            ],
        };
        let names = ["gone", "from", "x", "y", "text", "taken", "linked", "d/e/to", "d/new"];
        let paths = || names.iter().map(|name| root.join(name)).collect();
        let cx = hermes_registry::ToolContext::new(&root);
        let mut held = lock::hold_all(&cx, paths()).unwrap();
        let err = commit(&plan, &mut held).unwrap_err();
        assert_eq!(err.extra()["error_kind"], "rolled_back", "{}", err.message());
        assert_eq!(err.extra()["cause_kind"], "conflict");
        assert_eq!(contents(&root), before);

        drop(held);
        plan.writes = vec![write("text", "new", true), write("d/new", "new", false)];
        let mut held = lock::hold_all(&cx, paths()).unwrap();
        commit(&plan, &mut held).unwrap();
        let after = contents(&root);
        let get = |name: &str| after.get(&root.join(name)).map(String::as_str);
        assert_eq!((get("x"), get("y"), get("text")), (Some("y"), Some("x"), Some("new")));
        assert_eq!((get("gone"), get("from"), get("d/e/to")), (None, None, Some("from")));
        assert_eq!(after.len(), before.len() + 2);
    }
}

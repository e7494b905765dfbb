//! Writing a file so that it is whole at any moment: the old content or the new.

use std::fs::File;
use std::io::{self, Read, Seek, Write as _};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::draft::{Draft, remove_stale};
use super::folder::{Folders, Place};
use super::journal::Mark;
use super::lock::Lock;
use super::open::{open, open_to_write};
use super::properties;
use super::staging::{Staging, unique};
use crate::error::FsError;
use crate::plan::{IN_PLACE_FOLDER, IN_PLACE_OWNER, Write};
use crate::stat::Stat;

/// Why a file was overwritten, and not replaced by a new one in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InPlace {
    /// It has several names.
    Links,
    /// Its folder can't be written to.
    Folder,
    /// A new one couldn't belong to its owner.
    Owner,
}

impl InPlace {
    pub(super) const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Folder => Some(IN_PLACE_FOLDER),
            Self::Owner => Some(IN_PLACE_OWNER),
            Self::Links => None,
        }
    }
}

/// Why nothing was written.
#[derive(Debug)]
pub(super) enum Failure {
    /// The file isn't what it was when it was read.
    Changed,
    /// It doesn't hold what was written to it.
    Overtaken,
    /// The new file couldn't be given to the owner of the old one.
    Owner,
    Io(io::Error),
}

impl Failure {
    pub(super) fn error(self, path: &Path) -> FsError {
        match self {
            Self::Changed => FsError::Changed(path.to_owned()),
            Self::Overtaken => FsError::Overtaken(path.to_owned()),
            Self::Owner => FsError::Owner(path.to_owned()),
            Self::Io(err) => FsError::io("write", path, err),
        }
    }

    /// Whether the old file could still be written over.
    pub(super) fn leaves(&self) -> Option<InPlace> {
        match self {
            Self::Owner => Some(InPlace::Owner),
            Self::Io(err) if is_folder_closed(err) => Some(InPlace::Folder),
            _ => None,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Self {
        Self::Io(err)
    }
}

pub(super) fn is_folder_closed(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Refuses a file that isn't what it was.
pub(super) fn check_unchanged(path: &Path, old: &Stat) -> Result<(), FsError> {
    refuse_changed(path, old).map_err(|failure| failure.error(path))
}

fn refuse_changed(path: &Path, old: &Stat) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(now) if Stat::of(&now).stamp() == old.stamp() => Ok(()),
        Ok(_) => Err(Failure::Changed),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Err(Failure::Changed),
        Err(err) => Err(err.into()),
    }
}

/// Writes a new file for a place, safely on the disk. It gets the properties of the file `like`,
/// as far as that is permitted. It has the name only where files can't be without one.
pub(super) fn stage(write: &Write, place: &Place, name: &str) -> Result<Draft, Failure> {
    let draft = Draft::new(place.folder(), name)?;
    let mut file = draft.file();
    file.write_all(&write.bytes)?;
    if let Some((path, old)) = &write.like {
        if !properties::give_away(old, file)? {
            return Err(Failure::Owner);
        }
        properties::keep(path, old, file)?;
    }
    file.sync_all()?;
    Ok(draft)
}

/// Writes one file as a new one, which takes its place in one step.
///
/// The name isn't forced to the disk: after a loss of power the whole old file may be there.
pub(super) fn replace(
    lock: &mut Lock,
    write: &Write,
    folders: &mut Folders,
    staging: Option<&Staging>,
) -> Result<(), Failure> {
    let place = folders.place(&write.path)?;
    let name = name_beside(&write.path);
    let mut draft = stage(write, &place, &name)?;
    let new = if let Some(old) = &write.old {
        if !draft.has_name() {
            name_near(&mut draft, &place, &name, staging)?;
        }
        refuse_changed(&place.path, &old.stat)?;
        draft.replace(&place.at())?
    } else {
        draft.name(&place.at()).map_err(|err| match err.kind() {
            io::ErrorKind::AlreadyExists => Failure::Changed,
            _ => Failure::Io(err),
        })?;
        draft.keep()?
    };
    let mark = Mark::from(new.metadata()?);
    lock.keep(new);
    if Mark::at(&place.at())? == Some(mark) { Ok(()) } else { Err(Failure::Overtaken) }
}

/// Gives a file the name from which it takes its place.
fn name_near(
    draft: &mut Draft,
    place: &Place,
    name: &str,
    staging: Option<&Staging>,
) -> io::Result<()> {
    if let Some(staging) = staging
        && draft.name(&staging.join(&format!("{}.new", unique()))).is_ok()
    {
        return Ok(());
    }
    // The staging folder is on another file system.
    let beside = place.folder().join(name);
    match draft.name(&beside) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
            remove_stale(&beside);
            draft.name(&place.folder().join(format!(".hermes-{}.tmp", unique())))
        }
        result => result,
    }
}

/// The name beside a file for its next content: always the same, so that what a killed process
/// left is found.
fn name_beside(path: &Path) -> String {
    let hash = Sha256::digest(path.file_name().unwrap_or_default().as_encoded_bytes());
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!(".hermes-{hash}.tmp")
}

/// Makes renames in a folder last. Some file systems can't, and the content is safe either way.
pub(super) fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// All that is in a file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes over what is in a file, from its start.
pub(super) fn write_over(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_to_write(path)?;
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::lock::Locks;
    use crate::plan::Old;
    use pretty_assertions::assert_eq;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn stat(path: &Path) -> Stat {
        Stat::of(&fs::metadata(path).unwrap())
    }

    fn write(path: &Path, old: Option<&Stat>, bytes: &[u8]) -> Result<(), FsError> {
        let mut locks = Locks::take("local", [path.to_owned()].into(), &|| true)?;
        let like = old.map(|old| (path.to_owned(), old.clone()));
        let write = Write {
            path: path.to_owned(),
            old: old.map(|old| Old { stat: old.clone(), bytes: None }),
            like,
            bytes: bytes.to_vec(),
        };
        replace(locks.get(path).unwrap(), &write, &mut Folders::default(), None)
            .map_err(|failure| failure.error(path))
    }

    #[test]
    fn what_changed_since_it_was_read_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("f"), dir.path().join("l"));
        fs::write(&path, "read").unwrap();
        let read = stat(&path);
        fs::write(&path, "changed").unwrap();
        let check = |old: Option<&Stat>| {
            let err = write(&path, old, b"mine").unwrap_err();
            assert!(matches!(err, FsError::Changed(_)), "{err}");
            assert_eq!(fs::read(&path).unwrap(), b"changed");
        };
        check(Some(&read));
        check(None);
        fs::hard_link(&path, &link).unwrap();
        let read = stat(&path);
        fs::write(dir.path().join("other"), "changed").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        check(Some(&read));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_is_left_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        write(&path, None, b"one").unwrap();
        fs::write(dir.path().join("plain"), "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(mode(&path), mode(&dir.path().join("plain")));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        let old = stat(&path);
        write(&path, Some(&old), b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o751));
        assert_ne!(fs::metadata(&path).unwrap().ino(), old.inode);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_process_left_beside_is_removed_by_the_next_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "old").unwrap();
        let stale = dir.path().join(name_beside(&path));
        fs::write(&stale, "half").unwrap();
        let used = File::open(&stale).unwrap();
        used.lock().unwrap();
        write(&path, Some(&stat(&path)), b"new").unwrap();
        assert!(stale.exists());
        drop(used);
        write(&path, Some(&stat(&path)), b"newer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("taken")).unwrap();
        assert!(write(&dir.path().join("taken"), None, b"x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write(&dir.path().join("no/such"), None, b"x").is_err());
    }
}

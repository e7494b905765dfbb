//! Writing a file so that it is whole at any moment: the old content or the new.

use std::fs::File;
use std::io::{self, Read, Seek, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::folder::{Folders, Place};
use super::lock::{Lock, lock_new};
use super::open::{open, open_to_write};
use super::properties;
use crate::error::FsError;
use crate::plan::{IN_PLACE_FOLDER, IN_PLACE_OWNER, Write};
use crate::stat::Stat;

/// How a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A new file took the place of the old one in one step.
    Replaced,
    /// The file was overwritten, since it has several names.
    InPlace,
    /// The file was overwritten, since its folder can't be written to.
    InPlaceUnsafe,
    /// The file was overwritten, since a new one couldn't belong to its owner.
    InPlaceOwner,
}

impl Written {
    pub(super) const fn warning(self) -> Option<&'static str> {
        match self {
            Self::InPlaceUnsafe => Some(IN_PLACE_FOLDER),
            Self::InPlaceOwner => Some(IN_PLACE_OWNER),
            Self::Replaced | Self::InPlace => None,
        }
    }
}

/// Why nothing was written.
#[derive(Debug)]
enum Failure {
    /// The file isn't what it was when it was read.
    Changed,
    /// The new file couldn't be given to the owner of the old one.
    Owner,
    Io(io::Error),
}

impl Failure {
    fn error(self, path: &Path) -> FsError {
        match self {
            Self::Changed => FsError::Changed(path.to_owned()),
            Self::Owner => FsError::Owner(path.to_owned()),
            Self::Io(err) => FsError::io("write", path, err),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Self {
        Self::Io(err)
    }
}

/// A content that is ready to take its place.
#[derive(Debug)]
pub(super) enum Prepared {
    /// It lies beside the place, in a folder that is held until it is there.
    Beside(NamedTempFile, Place),
    /// The file is going to be overwritten.
    InPlace(Written),
}

/// Makes ready to write. Nothing is seen of it until [`finish`].
///
/// The new file gets the properties of the file `like`, as far as that is permitted.
pub(super) fn prepare(write: &Write, folders: &mut Folders) -> Result<Prepared, FsError> {
    try_prepare(write, folders).map_err(|failure| failure.error(&write.path))
}

/// Puts what was prepared in its place. When something else than `old` is there, nothing is
/// written.
pub(super) fn finish(
    lock: &mut Lock,
    path: &Path,
    old: Option<&Stat>,
    bytes: &[u8],
    prepared: Prepared,
) -> Result<Written, FsError> {
    try_finish(lock, path, old, bytes, prepared).map_err(|failure| failure.error(path))
}

fn try_prepare(write: &Write, folders: &mut Folders) -> Result<Prepared, Failure> {
    let old = write.old.as_ref();
    if old.is_some_and(|old| old.stat.links > 1) {
        return Ok(Prepared::InPlace(Written::InPlace));
    }
    match stage(write, folders) {
        Ok((temp, place)) => Ok(Prepared::Beside(temp, place)),
        Err(Failure::Io(err)) if old.is_some() && is_folder_closed(&err) => {
            Ok(Prepared::InPlace(Written::InPlaceUnsafe))
        }
        Err(Failure::Owner) if old.is_some() => Ok(Prepared::InPlace(Written::InPlaceOwner)),
        Err(failure) => Err(failure),
    }
}

fn try_finish(
    lock: &mut Lock,
    path: &Path,
    old: Option<&Stat>,
    bytes: &[u8],
    prepared: Prepared,
) -> Result<Written, Failure> {
    let in_place = match prepared {
        Prepared::InPlace(written) => written,
        Prepared::Beside(temp, place) => match put(&place, old, temp) {
            Ok(new) => {
                lock.keep(new);
                return Ok(Written::Replaced);
            }
            Err(Failure::Io(err)) if old.is_some() && is_folder_closed(&err) => {
                Written::InPlaceUnsafe
            }
            Err(failure) => return Err(failure),
        },
    };
    let Some(old) = old else { return Err(Failure::Changed) };
    overwrite(path, old, bytes)?;
    Ok(in_place)
}

fn is_folder_closed(err: &io::Error) -> bool {
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

/// Writes a new file beside its place.
fn stage(write: &Write, folders: &mut Folders) -> Result<(NamedTempFile, Place), Failure> {
    let place = folders.place(&write.path)?;
    let mut temp = new_file(place.folder())?;
    temp.write_all(&write.bytes)?;
    if let Some((path, old)) = &write.like {
        if !properties::give_away(old, temp.as_file())? {
            return Err(Failure::Owner);
        }
        properties::keep(path, old, temp.as_file())?;
    }
    temp.as_file().sync_all()?;
    lock_new(temp.as_file());
    Ok((temp, place))
}

/// Puts a new file in the place of the old one, and gives it back locked.
fn put(place: &Place, old: Option<&Stat>, temp: NamedTempFile) -> Result<File, Failure> {
    let new = if let Some(old) = old {
        refuse_changed(&place.path, old)?;
        temp.persist(place.at()).map_err(|err| err.error)?
    } else {
        temp.persist_noclobber(place.at()).map_err(|err| match err.error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Changed,
            _ => Failure::Io(err.error),
        })?
    };
    sync(place.folder());
    Ok(new)
}

/// Makes renames in a folder last. Some file systems can't, and the content is safe either way.
pub(super) fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

pub(super) fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hermes-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The path in the message would be one that nobody gave.
    builder.tempfile_in(folder).map_err(|err| err.kind().into())
}

fn overwrite(path: &Path, old: &Stat, bytes: &[u8]) -> Result<(), Failure> {
    let mut before = Vec::new();
    open(path)?.read_to_end(&mut before)?;
    let mut file = open_to_write(path)?;
    refuse_changed(path, old)?;
    let written = write_from_start(&mut file, bytes);
    if written.is_err() {
        // A full disk, most likely: the old content fitted.
        let _ = write_from_start(&mut file, &before);
    }
    Ok(written?)
}

fn write_from_start(file: &mut File, bytes: &[u8]) -> io::Result<()> {
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

    fn write(path: &Path, old: Option<&Stat>, bytes: &[u8]) -> Result<Written, FsError> {
        let mut locks = Locks::take("local", [path.to_owned()].into(), &|| true)?;
        let like = old.map(|old| (path.to_owned(), old.clone()));
        let write = Write {
            path: path.to_owned(),
            old: old.map(|old| Old { stat: old.clone(), bytes: None }),
            like,
            bytes: bytes.to_vec(),
        };
        let prepared = prepare(&write, &mut Folders::default())?;
        finish(locks.get(path).unwrap(), path, old, bytes, prepared)
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
        assert_eq!(write(&path, None, b"one").unwrap(), Written::Replaced);
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
    fn a_file_with_two_names_keeps_both() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "a long old text").unwrap();
        fs::hard_link(&a, &b).unwrap();
        assert_eq!(write(&a, Some(&stat(&a)), b"new").unwrap(), Written::InPlace);
        assert_eq!(fs::read(&b).unwrap(), b"new");
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

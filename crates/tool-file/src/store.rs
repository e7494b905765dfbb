//! Writing a file so that it is whole at any moment: the old content or the new.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use hermes_registry::ToolError;
use tempfile::NamedTempFile;

use crate::fault::{Fault, io_error};
use crate::folder::Folder;
use crate::lock::{self, Held};
use crate::open::{open, open_to_write};

/// How a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
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
    pub(crate) const fn warning(self) -> Option<&'static str> {
        match self {
            Self::InPlaceUnsafe => Some(
                "the folder can't be written to, so the file was overwritten in place: an \
                 interruption could have left it incomplete",
            ),
            Self::InPlaceOwner => Some(
                "the file belongs to another user and shall stay theirs, so it was overwritten in \
                 place: an interruption could have left it incomplete",
            ),
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
    fn error(self, path: &Path) -> ToolError {
        match self {
            Self::Changed => Fault::Conflict.error(format!(
                "nothing was written: {} was changed by something else since it was read; read it \
                 again before going on",
                path.display()
            )),
            Self::Owner => Fault::Denied.error(format!(
                "nothing was written: a new {} couldn't be given to the file's owner",
                path.display()
            )),
            Self::Io(err) => io_error("write", path, &err),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Self {
        Self::Io(err)
    }
}

/// Writes `bytes` to `path`, which has no symbolic link in it and is `held`. `old` is what was
/// there when it was read; when something else is there now, nothing is written.
///
/// The new file keeps mode, owner, group and extended attributes of the old one as far as that is
/// permitted; a file that wasn't there gets what the umask leaves of 0666.
pub(crate) fn write(
    held: &mut Held,
    path: &Path,
    old: Option<&Metadata>,
    bytes: &[u8],
) -> Result<Written, ToolError> {
    try_write(held, path, old, bytes).map_err(|failure| failure.error(path))
}

fn try_write(
    held: &mut Held,
    path: &Path,
    old: Option<&Metadata>,
    bytes: &[u8],
) -> Result<Written, Failure> {
    let prepared = try_prepare(path, old, old.map(|old| (path, old)), bytes)?;
    try_finish(held, path, old, bytes, prepared)
}

/// A content that is ready to take its place.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// It lies beside the place, in a folder that is held until it is there.
    Beside(NamedTempFile, Folder),
    /// The file is going to be overwritten.
    InPlace(Written),
}

/// Makes ready to write `bytes` to `path`, where `old` is now. The new file has the properties of
/// the file `like`. Nothing is seen of it until [`finish`].
pub(crate) fn prepare(
    path: &Path,
    old: Option<&Metadata>,
    like: Option<(&Path, &Metadata)>,
    bytes: &[u8],
) -> Result<Prepared, ToolError> {
    try_prepare(path, old, like, bytes).map_err(|failure| failure.error(path))
}

/// Puts what was prepared in its place.
pub(crate) fn finish(
    held: &mut Held,
    path: &Path,
    old: Option<&Metadata>,
    bytes: &[u8],
    prepared: Prepared,
) -> Result<Written, ToolError> {
    try_finish(held, path, old, bytes, prepared).map_err(|failure| failure.error(path))
}

fn try_prepare(
    path: &Path,
    old: Option<&Metadata>,
    like: Option<(&Path, &Metadata)>,
    bytes: &[u8],
) -> Result<Prepared, Failure> {
    if old.is_some_and(has_other_names) {
        return Ok(Prepared::InPlace(Written::InPlace));
    }
    match stage(path, like, bytes) {
        Ok((temp, folder)) => Ok(Prepared::Beside(temp, folder)),
        Err(Failure::Io(err)) if old.is_some() && is_folder_closed(&err) => {
            Ok(Prepared::InPlace(Written::InPlaceUnsafe))
        }
        Err(Failure::Owner) if old.is_some() => Ok(Prepared::InPlace(Written::InPlaceOwner)),
        Err(failure) => Err(failure),
    }
}

fn try_finish(
    held: &mut Held,
    path: &Path,
    old: Option<&Metadata>,
    bytes: &[u8],
    prepared: Prepared,
) -> Result<Written, Failure> {
    let in_place = match prepared {
        Prepared::InPlace(written) => written,
        Prepared::Beside(temp, folder) => match put(path, old, temp, &folder) {
            Ok(new) => {
                held.keep(new);
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

fn refuse_changed(path: &Path, old: &Metadata) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(now) if lock::is_unchanged(old, &now) => Ok(()),
        Ok(_) => Err(Failure::Changed),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Err(Failure::Changed),
        Err(err) => Err(err.into()),
    }
}

/// Writes a new file beside its place.
fn stage(
    path: &Path,
    like: Option<(&Path, &Metadata)>,
    bytes: &[u8],
) -> Result<(NamedTempFile, Folder), Failure> {
    let folder = Folder::of(path)?;
    let mut temp = new_file(folder.path())?;
    temp.write_all(bytes)?;
    if let Some((path, old)) = like {
        keep_properties(path, old, temp.as_file())?;
    }
    temp.as_file().sync_all()?;
    lock::lock_new(temp.as_file());
    Ok((temp, folder))
}

/// Puts a new file in the place of the old one, and gives it back locked.
fn put(
    path: &Path,
    old: Option<&Metadata>,
    temp: NamedTempFile,
    folder: &Folder,
) -> Result<File, Failure> {
    let place = folder.file(path);
    let new = if let Some(old) = old {
        refuse_changed(path, old)?;
        temp.persist(&place).map_err(|err| err.error)?
    } else {
        temp.persist_noclobber(&place).map_err(|err| match err.error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Changed,
            _ => Failure::Io(err.error),
        })?
    };
    sync(folder.path());
    Ok(new)
}

/// Makes renames in the folder of a file last.
pub(crate) fn sync_folder(path: &Path) {
    sync(path.parent().unwrap_or(Path::new("/")));
}

/// Makes renames in a folder last. Some file systems can't, and the content is safe either way.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

pub(crate) fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hermes-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The path in the message would be one that nobody gave.
    builder.tempfile_in(folder).map_err(|err| err.kind().into())
}

fn overwrite(path: &Path, old: &Metadata, bytes: &[u8]) -> Result<(), Failure> {
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
fn has_other_names(old: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(old) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn keep_properties(path: &Path, old: &Metadata, new: &File) -> Result<(), Failure> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = new.metadata()?;
    // Only root may give a file away; the group alone may be allowed.
    if now.uid() != old.uid() {
        fchown(new, Some(old.uid()), Some(old.gid())).map_err(|_| Failure::Owner)?;
    } else if now.gid() != old.gid() {
        let _ = fchown(new, None, Some(old.gid()));
    }
    keep_attributes(path, new);
    // Last, since a change of owner clears bits of the mode.
    Ok(new.set_permissions(old.permissions())?)
}

#[cfg(not(unix))]
fn keep_properties(_: &Path, old: &Metadata, new: &File) -> Result<(), Failure> {
    Ok(new.set_permissions(old.permissions())?)
}

/// Copies extended attributes as far as the file system and the permissions allow.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn keep_attributes(path: &Path, new: &File) {
    use rustix::fs::{XattrFlags, fsetxattr, getxattr, listxattr};
    const MAX: usize = 64 * 1024;
    let mut names = vec![0_u8; MAX];
    let Ok(len) = listxattr(path, names.as_mut_slice()) else { return };
    names.truncate(len);
    let mut value = vec![0_u8; MAX];
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(len) = getxattr(path, name, value.as_mut_slice()) {
            let value = value.get(..len).unwrap_or_default();
            let _ = fsetxattr(new, name, value, XattrFlags::empty());
        }
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn keep_attributes(_: &Path, _: &File) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn write(path: &Path, old: Option<&Metadata>, bytes: &[u8]) -> Result<Written, ToolError> {
        let mut held = lock::hold(&hermes_registry::ToolContext::new("/"), path)?;
        super::write(&mut held, path, old, bytes)
    }

    #[test]
    fn what_changed_since_it_was_read_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("f"), dir.path().join("l"));
        fs::write(&path, "read").unwrap();
        let read = fs::metadata(&path).unwrap();
        fs::write(&path, "changed").unwrap();
        let check = |old: Option<&Metadata>| {
            let err = write(&path, old, b"mine").unwrap_err();
            assert_eq!(err.extra()["error_kind"], "conflict");
            assert_eq!(fs::read(&path).unwrap(), b"changed");
        };
        check(Some(&read));
        check(None);
        fs::hard_link(&path, &link).unwrap();
        let read = fs::metadata(&path).unwrap();
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
        let old = fs::metadata(&path).unwrap();
        write(&path, Some(&old), b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o751));
        assert_ne!(fs::metadata(&path).unwrap().ino(), old.ino());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_with_two_names_keeps_both() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "a long old text").unwrap();
        fs::hard_link(&a, &b).unwrap();
        let old = fs::metadata(&a).unwrap();
        assert_eq!(write(&a, Some(&old), b"new").unwrap(), Written::InPlace);
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

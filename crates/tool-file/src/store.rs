//! Writing a file so that it is whole at any moment: the old content or the new.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// How a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A new file took the place of the old one in one step.
    Replaced,
    /// The file was overwritten, since it has several names.
    InPlace,
    /// The file was overwritten, since its folder can't be written to.
    InPlaceUnsafe,
}

impl Written {
    pub(crate) const fn warning(self) -> Option<&'static str> {
        match self {
            Self::InPlaceUnsafe => Some(
                "the folder can't be written to, so the file was overwritten in place: an \
                 interruption could have left it incomplete",
            ),
            Self::Replaced | Self::InPlace => None,
        }
    }
}

/// Holds off other calls of this process on the same path while a file is read, changed and
/// written, or else one of two edits at a time would be lost.
pub(crate) fn lock(path: &Path) -> MutexGuard<'static, ()> {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    // Process-wide on purpose: two sessions of one process may edit the same file. Paths share
    // locks, which costs a wait now and then and no memory.
    static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(path);
    let [first, ..] = &LOCKS;
    let index = usize::try_from(hash % 64).unwrap_or_default();
    LOCKS.get(index).unwrap_or(first).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes `bytes` to `path`, which has no symbolic link in it. `old` is what is there now.
///
/// The new file keeps mode, owner, group and extended attributes of the old one as far as that is
/// permitted; a file that wasn't there gets what the umask leaves of 0666.
pub(crate) fn write(path: &Path, old: Option<&Metadata>, bytes: &[u8]) -> io::Result<Written> {
    if old.is_some_and(has_other_names) {
        overwrite(path, bytes)?;
        return Ok(Written::InPlace);
    }
    match replace(path, old, bytes) {
        Ok(()) => Ok(Written::Replaced),
        Err(err) if old.is_some() && is_folder_closed(&err) => {
            overwrite(path, bytes)?;
            Ok(Written::InPlaceUnsafe)
        }
        Err(err) => Err(err),
    }
}

fn is_folder_closed(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn replace(path: &Path, old: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut temp = new_file(folder)?;
    temp.write_all(bytes)?;
    if let Some(old) = old {
        keep_properties(path, old, temp.as_file())?;
    }
    temp.as_file().sync_all()?;
    temp.persist(path).map_err(|err| err.error)?;
    // Makes the rename last. Some file systems can't, and the content is safe either way.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hermes-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let before = std::fs::read(path)?;
    let mut file = OpenOptions::new().write(true).open(path)?;
    let written = write_from_start(&mut file, bytes);
    if written.is_err() {
        // A full disk, most likely: the old content fitted.
        let _ = write_from_start(&mut file, &before);
    }
    written
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
fn keep_properties(path: &Path, old: &Metadata, new: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        // Only root may give a file away; the group alone may be allowed.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()))
            .or_else(|_| fchown(new, None, Some(old.gid())));
    }
    keep_attributes(path, new);
    // Last, since a change of owner clears bits of the mode.
    new.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_properties(_: &Path, old: &Metadata, new: &File) -> io::Result<()> {
    new.set_permissions(old.permissions())
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

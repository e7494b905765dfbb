//! Opening files by paths that were looked up before: never through a link that took the place of
//! what was checked, and without ever waiting.

use std::fs::File;
use std::io;
use std::path::Path;

use hermes_guard::paths::links::follow;

use crate::stat::Stat;

#[cfg(unix)]
use rustix::fs::{CWD, Mode, OFlags};

/// Opens a file to read. Where a read would wait for data, as for a kernel log, it fails with
/// [`io::ErrorKind::WouldBlock`] instead.
///
/// The path has no symbolic links, and none is followed: where one is by now, the error is
/// [`io::ErrorKind::PermissionDenied`].
#[cfg(unix)]
pub(super) fn open(path: &Path) -> io::Result<File> {
    open_without_links(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Opens a file to write over what is in it, as [`open`] does.
#[cfg(unix)]
pub(super) fn open_to_write(path: &Path) -> io::Result<File> {
    open_without_links(path, OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Opens a folder to name files in it, as [`open`] does.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn open_folder(path: &Path) -> io::Result<File> {
    open_without_links(path, OFlags::PATH | OFlags::DIRECTORY)
}

#[cfg(not(unix))]
pub(super) fn open(path: &Path) -> io::Result<File> {
    check_opened(File::open(path)?, path)
}

#[cfg(not(unix))]
pub(super) fn open_to_write(path: &Path) -> io::Result<File> {
    check_opened(File::options().write(true).open(path)?, path)
}

#[cfg(unix)]
fn open_without_links(path: &Path, flags: OFlags) -> io::Result<File> {
    use rustix::io::Errno;
    let flags = flags | OFlags::CLOEXEC;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{ResolveFlags, openat2};
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(file) => return Ok(File::from(file)),
            // An old kernel, or a sandbox that doesn't know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(Errno::LOOP) => return Err(link_in_the_way()),
            Err(err) => return Err(err.into()),
        }
    }
    match rustix::fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(file) => check_opened(File::from(file), path),
        // Some systems have an error of their own for it.
        Err(Errno::LOOP | Errno::MLINK) => Err(link_in_the_way()),
        Err(err) => Err(err.into()),
    }
}

/// Where links can't be refused by the system, what was opened must be what is there.
fn check_opened(file: File, path: &Path) -> io::Result<File> {
    let [opened, there] = [file.metadata()?, std::fs::symlink_metadata(path)?];
    let is_at = super::lock::is_same_file(&Stat::of(&opened), &Stat::of(&there));
    if is_at && has_no_links(path) { Ok(file) } else { Err(link_in_the_way()) }
}

/// Whether no part of a path is a symbolic link.
pub(super) fn has_no_links(path: &Path) -> bool {
    let followed = follow(path, |link| Ok(std::fs::read_link(link).ok()));
    followed.is_ok_and(|followed| followed.real == path)
}

pub(super) fn link_in_the_way() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "a symbolic link was put in the way since the path was looked up",
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_pipe_without_data_is_an_error_at_once() {
        use rustix::fs::{FileType, mknodat};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let _writer = File::options().read(true).write(true).open(&path).unwrap();
        let err = open(&path).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::WouldBlock);
        assert!(open(&dir.path().join("none")).is_err());
    }

    #[test]
    fn no_link_is_followed_wherever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("d")).unwrap();
        std::fs::write(root.join("d/f"), "x").unwrap();
        symlink("d", root.join("folder")).unwrap();
        symlink("d/f", root.join("file")).unwrap();
        assert!(open(&root.join("d/f")).is_ok() && open_to_write(&root.join("d/f")).is_ok());
        for path in ["folder/f", "file"] {
            for result in [open(&root.join(path)), open_to_write(&root.join(path))] {
                assert_eq!(result.unwrap_err().kind(), io::ErrorKind::PermissionDenied, "{path}");
            }
            let followed = File::open(root.join(path)).unwrap();
            assert!(check_opened(followed, &root.join(path)).is_err(), "{path}");
        }
        let opened = File::open(root.join("d/f")).unwrap();
        assert!(check_opened(opened, &root.join("d/f")).is_ok());
    }
}

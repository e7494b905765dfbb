//! A new file that has no name until its content is complete, where the system can do that.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::{self, lock_new};
use super::open::open;

/// A new file that vanishes with this, unless it took its place. It is locked from the start, so
/// that what a killed process left can be told from what is in use.
#[derive(Debug)]
pub(super) struct Draft {
    file: File,
    /// Its name, once it has one.
    at: Option<PathBuf>,
}

impl Draft {
    /// A file for a place in the folder, which is held. Where a file can't be without a name, it
    /// has this one.
    pub(super) fn new(folder: &Path, name: &str) -> io::Result<Self> {
        if let Some(file) = anonymous(folder)? {
            lock_new(&file);
            return Ok(Self { file, at: None });
        }
        let at = folder.join(name);
        remove_stale(&at);
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(&at)?;
        lock_new(&file);
        Ok(Self { file, at: Some(at) })
    }

    pub(super) const fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file a name that nothing has.
    pub(super) fn name(&mut self, to: &Path) -> io::Result<()> {
        match &self.at {
            Some(at) => rename_to_free(at, to)?,
            None => link(&self.file, to)?,
        }
        self.at = Some(to.to_owned());
        Ok(())
    }

    pub(super) const fn has_name(&self) -> bool {
        self.at.is_some()
    }

    /// Puts a file that has a name in the place of another one.
    pub(super) fn replace(mut self, to: &Path) -> io::Result<File> {
        std::fs::rename(self.at.as_deref().ok_or(io::ErrorKind::NotFound)?, to)?;
        self.at = None;
        self.file.try_clone()
    }

    /// Leaves the file where it is. The lock lasts as long as what is given back.
    pub(super) fn keep(mut self) -> io::Result<File> {
        self.at = None;
        self.file.try_clone()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(at) = &self.at {
            let _ = std::fs::remove_file(at);
        }
    }
}

/// Removes a file that a killed process left: nobody holds its lock.
pub(super) fn remove_stale(path: &Path) {
    let Ok(file) = open(path).or_else(|_| File::open(path)) else { return };
    if file.try_lock().is_ok() && lock::is_at(&file, path) {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn anonymous(folder: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;
    // Without the kernel's view of the process no name could be given to it.
    if !folder.starts_with("/proc/self/fd") {
        return Ok(None);
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match openat(CWD, folder, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => Ok(Some(File::from(file))),
        // This file system or kernel has none, each in its own words.
        Err(Errno::NOTSUP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => Ok(None),
        Err(err) => Err(err.into()),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn link(file: &File, to: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, from, CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn anonymous(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file; never over another one.
pub(super) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
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

/// Lets two files change their names. `by` is a name for the way, where that takes several steps.
pub(super) fn exchange(a: &Path, b: &Path, by: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    // With a second name for it, there is a file at `b` all the time.
    std::fs::hard_link(b, by).or_else(|_| std::fs::rename(b, by))?;
    std::fs::rename(a, b)?;
    std::fs::rename(by, a)
}

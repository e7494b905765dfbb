//! Reading a small text file, and replacing it as a whole under a lock.
//!
//! A reader sees the old text or the new one, never a part. Writers take turns through a lock file
//! beside the file, which stays there: removing it would let two writers hold different locks.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{ConfigError, ensure_dir};

/// Files above this many bytes are no settings somebody wrote.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// How long a writer waits for its turn. The others need milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// Links followed before a chain counts as a loop, as in the kernel.
const MAX_LINKS: usize = 40;

/// The text of a file; none when there is no such file.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |source| ConfigError::Io { path: path.to_owned(), action: "read", source };
    let unreadable = |reason: String| ConfigError::Unreadable { path: path.to_owned(), reason };
    // Asked before opening: opening a pipe would wait for its writer.
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if metadata.is_dir() {
        return Err(unreadable("is a folder where a file is expected: move it away".to_owned()));
    }
    if !metadata.is_file() {
        return Err(unreadable("is a device or pipe where a file is expected".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(format!("is larger than {} MiB: shorten it", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = 1 + good.filter(|&&byte| byte == b'\n').count();
        unreadable(format!("is not UTF-8 text (line {line}): save it as UTF-8"))
    })
}

/// A file that no other writer of ours changes while this lives.
#[derive(Debug)]
pub(crate) struct Locked {
    path: PathBuf,
    folder: PathBuf,
    _lock: File,
}

/// Waits for the lock of a file, which need not exist. A symbolic link is followed, so that the
/// link stays and everyone who writes through it takes the same lock.
pub(crate) fn lock(path: &Path) -> Result<Locked, ConfigError> {
    let path = follow_links(path)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    ensure_dir(&folder)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let lock_path = folder.join(name);
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let lock = options.open(&lock_path).map_err(|error| refused(error, &folder, "write in"))?;
    wait_for(&lock).map_err(|source| ConfigError::Io {
        path: lock_path,
        action: "lock",
        source,
    })?;
    Ok(Locked { path, folder, _lock: lock })
}

/// Takes the lock, for which another process may make us wait: a while, not for ever.
fn wait_for(lock: &File) -> io::Result<()> {
    let give_up = Instant::now() + LOCK_PATIENCE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= give_up => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds it; if none is at work, something hangs",
                ));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

impl Locked {
    /// The text as it is now; none when there is no such file.
    pub(crate) fn read(&self) -> Result<Option<String>, ConfigError> {
        read_text(&self.path)
    }

    /// Puts `text` in place of the file and makes it last. The mode stays as it is unless
    /// `private`, which makes the file the owner's only; a new file always is.
    pub(crate) fn replace(&self, text: &str, private: bool) -> Result<(), ConfigError> {
        let old = match fs::metadata(&self.path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(refused(error, &self.path, "read")),
        };
        let folder = fs::metadata(&self.folder)
            .map_err(|error| refused(error, &self.folder, "look at"))?
            .permissions();
        // A rename needs neither permission of the file nor, for root, of the folder.
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return Err(ConfigError::ReadOnly { path: self.path.clone() });
        }
        if folder.readonly() {
            return Err(ConfigError::ReadOnly { path: self.folder.clone() });
        }
        let write = || -> io::Result<()> {
            let mut new = tempfile::NamedTempFile::new_in(&self.folder)?;
            new.write_all(text.as_bytes())?;
            if let Some(old) = &old {
                adopt(new.as_file(), old, private)?;
            }
            new.as_file().sync_all()?;
            new.persist(&self.path)?;
            #[cfg(unix)]
            File::open(&self.folder)?.sync_all()?;
            Ok(())
        };
        write().map_err(|error| refused(error, &self.path, "write"))
    }
}

/// Gives a new file the mode and, where we may, the owner of the one it replaces.
#[cfg(unix)]
fn adopt(new: &File, old: &fs::Metadata, private: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away; for others the new file simply stays theirs.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    if private {
        return Ok(());
    }
    new.set_permissions(fs::Permissions::from_mode(old.permissions().mode() & 0o777))
}

#[cfg(not(unix))]
fn adopt(_new: &File, _old: &fs::Metadata, _private: bool) -> io::Result<()> {
    Ok(())
}

fn follow_links(path: &Path) -> Result<PathBuf, ConfigError> {
    let failed = |source| ConfigError::Io { path: path.to_owned(), action: "follow", source };
    let mut current = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&current) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::read_link(&current).map_err(failed)?;
                current = current.parent().unwrap_or(Path::new("")).join(target);
            }
            Ok(_) => return Ok(current),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(current),
            Err(error) => return Err(failed(error)),
        }
    }
    Err(failed(io::Error::other("the links form a loop")))
}

fn refused(error: io::Error, path: &Path, action: &'static str) -> ConfigError {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ConfigError::ReadOnly { path: path.to_owned() }
        }
        _ => ConfigError::Io { path: path.to_owned(), action, source: error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_an_odd_kind_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert_eq!(read_text(&path).unwrap(), None);
        fs::write(&path, b"a: 1\nb: \xff\n").unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("(line 2)"));
        File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("larger"));
        assert!(read_text(dir.path()).unwrap_err().to_string().contains("folder"));
        assert!(matches!(read_text(&path.join("x")), Err(ConfigError::Io { .. })));
        #[cfg(target_os = "linux")]
        assert!(read_text(Path::new("/dev/zero")).unwrap_err().to_string().contains("device"));
    }

    #[test]
    #[cfg(unix)]
    fn links_modes_and_permissions_are_minded() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (link, target) = (dir.path().join("link"), dir.path().join("real/file"));
        symlink("real/file", &link).unwrap();
        // A link to a file that does not exist yet.
        lock(&link).unwrap().replace("1", false).unwrap();
        let mode = || fs::metadata(&target).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        lock(&link).unwrap().replace("2", false).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read_to_string(&target).unwrap().as_str(), mode()), ("2", 0o640));
        lock(&link).unwrap().replace("3", true).unwrap();
        assert_eq!(mode(), 0o600);

        fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).unwrap();
        let error = lock(&link).unwrap().replace("4", false).unwrap_err();
        assert!(matches!(&error, ConfigError::ReadOnly { path } if *path == target), "{error}");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(target.parent().unwrap(), fs::Permissions::from_mode(0o555)).unwrap();
        let error = lock(&link).unwrap().replace("4", false).unwrap_err();
        assert!(matches!(error, ConfigError::ReadOnly { .. }), "{error}");
        fs::set_permissions(target.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "3");

        symlink("loop", dir.path().join("loop")).unwrap();
        assert!(lock(&dir.path().join("loop")).is_err());
    }
}

//! The folder of a file that is written: held, so that a link put in its place meanwhile doesn't
//! lead the file elsewhere.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open;

/// A folder that stays the same one while this is held.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    _handle: Option<std::fs::File>,
}

impl Folder {
    /// The folder of a file whose path has no symbolic links. Where there is one by now, that is
    /// an error of kind [`io::ErrorKind::PermissionDenied`].
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd;
        let plain = above(file);
        let handle = open::open_folder(plain)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        // In a sandbox there may be no such folder. What was just checked has to do then.
        if path.is_dir() {
            Ok(Self { path, _handle: Some(handle) })
        } else {
            Ok(Self { path: plain.to_owned(), _handle: None })
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        let plain = above(file);
        if !open::has_no_links(plain) {
            return Err(open::link_in_the_way());
        }
        Ok(Self { path: plain.to_owned() })
    }

    /// A path that leads to the folder as long as it is held.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file is in the folder.
    pub(super) fn file(&self, file: &Path) -> PathBuf {
        self.path.join(file.file_name().unwrap_or_default())
    }
}

/// The folders of several files, each held once.
#[derive(Debug, Default)]
pub(super) struct Folders {
    held: BTreeMap<PathBuf, Arc<Folder>>,
}

impl Folders {
    /// Where a file is, or is to be; its path has no symbolic links.
    pub(super) fn place(&mut self, path: &Path) -> io::Result<Place> {
        let above = above(path);
        let folder = match self.held.get(above) {
            Some(folder) => Arc::clone(folder),
            None => {
                let folder = Arc::new(Folder::of(path)?);
                self.held.insert(above.to_owned(), Arc::clone(&folder));
                folder
            }
        };
        Ok(Place { path: path.to_owned(), folder })
    }
}

/// A place in a folder that is held.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// By the name that people know.
    pub(super) path: PathBuf,
    folder: Arc<Folder>,
}

impl Place {
    /// A path that leads there, whatever has become of the folders above.
    pub(super) fn at(&self) -> PathBuf {
        self.folder.file(&self.path)
    }

    /// A path that leads to its folder.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn above(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_link_put_in_the_place_of_the_folder_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["own", "foreign"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let file = root.join("own/f");
        let folder = Folder::of(&file).unwrap();
        fs::rename(root.join("own"), root.join("moved")).unwrap();
        std::os::unix::fs::symlink("foreign", root.join("own")).unwrap();
        fs::write(folder.file(&file), "x").unwrap();
        assert!(root.join("moved/f").exists() && !root.join("foreign/f").exists());
        let err = Folder::of(&file).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::PermissionDenied);
    }
}

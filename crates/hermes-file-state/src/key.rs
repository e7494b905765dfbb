//! What files and their pages are told apart by.

use std::path::Path;
use std::sync::Arc;

/// A file: the file system it is in, and where it is there. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey {
    backend: Arc<str>,
    path: Arc<Path>,
}

impl FileKey {
    /// The file at `path`, which is absolute and without symbolic links, in the file system that
    /// `backend` names; that of this machine has the empty name.
    pub fn new(backend: &str, path: &Path) -> Self {
        Self { backend: backend.into(), path: path.into() }
    }

    /// The name of the file system.
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// The path in it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A page of a file, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The file.
    pub file: FileKey,
    /// The first line, from 1 on.
    pub offset: usize,
    /// The most lines.
    pub limit: usize,
}

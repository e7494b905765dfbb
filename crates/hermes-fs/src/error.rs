//! What can go wrong.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why something wasn't done. `Display` says it in full.
#[derive(Debug)]
#[non_exhaustive]
pub enum FsError {
    /// The file system refused.
    Io {
        /// What was tried, such as `write`.
        verb: &'static str,
        /// With which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The file isn't what it was when it was read.
    Changed(PathBuf),
    /// A new file couldn't be given to the owner of the old one.
    Owner(PathBuf),
    /// Others are changing the file, and didn't come to an end in time.
    Busy(PathBuf),
    /// Something is there that isn't to be written over.
    Exists(PathBuf),
    /// The file doesn't hold what was just written to it.
    Overtaken(PathBuf),
    /// The work wasn't to go on.
    Interrupted,
    /// This file system can't do that.
    Unsupported(String),
}

impl FsError {
    pub(crate) fn io(verb: &'static str, path: &Path, source: io::Error) -> Self {
        if is_interrupt(&source) {
            return Self::Interrupted;
        }
        Self::Io { verb, path: path.to_owned(), source }
    }
}

impl fmt::Display for FsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { verb, path, source } => {
                write!(f, "can't {verb} {}: {source}", path.display())
            }
            Self::Changed(path) => write!(
                f,
                "nothing was written: {} was changed by something else since it was read; read it \
                 again before going on",
                path.display()
            ),
            Self::Owner(path) => write!(
                f,
                "nothing was written: a new {} couldn't be given to the file's owner",
                path.display()
            ),
            Self::Busy(path) => write!(
                f,
                "nothing was written: {} is being changed by someone else, and its lock didn't \
                 become free in time; try again",
                path.display()
            ),
            Self::Exists(path) => write!(f, "{} exists already", path.display()),
            Self::Overtaken(path) => write!(
                f,
                "{} doesn't hold what was just written to it: something else changes it at the \
                 same time; read it again before going on",
                path.display()
            ),
            Self::Interrupted => f.write_str("it was interrupted"),
            Self::Unsupported(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for FsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Why a plan wasn't carried out, and what was taken back.
#[derive(Debug)]
pub struct CommitError {
    /// The first thing that went wrong.
    pub cause: FsError,
    /// Files that couldn't be put back to what they were, with the reason. When there are none,
    /// everything is as it was.
    pub left: Vec<(PathBuf, String)>,
}

impl From<FsError> for CommitError {
    fn from(cause: FsError) -> Self {
        Self { cause, left: Vec::new() }
    }
}

/// Marks an [`io::Error`] that says that the work wasn't to go on.
/// ([`io::ErrorKind::Interrupted`] would make readers try again.)
#[derive(Debug)]
struct Interrupt;

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was interrupted")
    }
}

impl std::error::Error for Interrupt {}

pub(crate) fn interrupt() -> io::Error {
    io::Error::other(Interrupt)
}

pub(crate) fn is_interrupt(err: &io::Error) -> bool {
    err.get_ref().and_then(|inner| inner.downcast_ref::<Interrupt>()).is_some()
}

//! What can go wrong.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a snapshot, or something done with one, failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// `git` could not be started.
    NoGit(String),
    /// `git` failed.
    Git {
        /// The subcommand.
        command: String,
        /// What it said, or how it ended.
        detail: String,
    },
    /// Another process holds the store, and did so for the whole time limit.
    Busy,
    /// A file of the store or of the project can't be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// What was named is neither the number nor the hash of a snapshot.
    BadName(String),
    /// This project has no such snapshot.
    NotFound(String),
    /// Several snapshots of this project begin with this hash.
    Ambiguous(String),
    /// The file to restore is not a relative path inside of the project.
    BadPath(String),
    /// The snapshot has no such file.
    NoSuchFile(String),
    /// Some files could not be put back; all others were.
    Incomplete(Vec<String>),
}

impl CheckpointError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Whether what was asked for is at fault, and not the work.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::BadName(_)
                | Self::NotFound(_)
                | Self::Ambiguous(_)
                | Self::BadPath(_)
                | Self::NoSuchFile(_)
        )
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGit(why) => write!(f, "checkpoints need the git program: {why}"),
            Self::Git { command, detail } => write!(f, "git {command} failed: {detail}"),
            Self::Busy => f.write_str("another process is using the checkpoint store"),
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::BadName(name) => write!(
                f,
                "{name:?} is no checkpoint: give its number, or 4 to 64 hex digits of its hash"
            ),
            Self::NotFound(name) => write!(f, "this project has no checkpoint {name}"),
            Self::Ambiguous(name) => {
                write!(f, "several checkpoints begin with {name}: give more digits")
            }
            Self::BadPath(path) => {
                write!(f, "{path:?} is not a relative path inside of the project")
            }
            Self::NoSuchFile(path) => write!(f, "the checkpoint has no file {path:?}"),
            Self::Incomplete(files) => {
                write!(f, "not everything could be put back: {}", files.join("; "))
            }
        }
    }
}

impl std::error::Error for CheckpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

pub(crate) type Result<T, E = CheckpointError> = std::result::Result<T, E>;

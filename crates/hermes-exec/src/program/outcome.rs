//! What becomes of a program.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// What a program left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote to stdout.
    pub stdout: Output,
    /// What it wrote to stderr.
    pub stderr: Output,
}

/// What a program wrote to one stream. The bytes are its own: they need not be UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The beginning.
    pub bytes: Vec<u8>,
    /// How many bytes came after it and were not kept.
    pub dropped: u64,
}

impl Output {
    /// The kept bytes as text, with U+FFFD where they are none.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// By itself, with an exit code.
    Exited(i32),
    /// Killed by a signal that was not ours.
    Signaled(i32),
    /// It took too long and was killed with its group.
    TimedOut,
    /// It was stopped, and killed with its group.
    Cancelled,
    /// It has ended and the system doesn't say how.
    Lost,
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signaled(signal);
        }
        status.code().map_or(Self::Lost, Self::Exited)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut => f.write_str("took too long and was killed"),
            Self::Cancelled => f.write_str("stopped"),
            Self::Lost => f.write_str("ended somehow"),
        }
    }
}

/// Why a program could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// No program was named.
    Nothing,
    /// There is no such program.
    NotFound {
        /// As it was named.
        name: OsString,
    },
    /// The file is there, but can't be run.
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: &'static str,
    },
    /// The folder to start in isn't there.
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The system refused.
    Refused {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl StartError {
    pub(super) fn refused(path: PathBuf, source: io::Error) -> Self {
        /// `ENOEXEC`: a format the kernel doesn't know.
        const NO_EXEC: i32 = 8;
        let reason = match source.kind() {
            io::ErrorKind::PermissionDenied => "it may not be executed",
            // The file itself was there a moment ago.
            io::ErrorKind::NotFound => "the interpreter that its first line names is not there",
            _ if source.raw_os_error() == Some(NO_EXEC) => {
                "it is no program; a script needs a first line such as #!/bin/sh"
            }
            _ => return Self::Refused { path, source },
        };
        Self::NotExecutable { path, reason }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no program is named"),
            Self::NotFound { name } => {
                write!(f, "{} is not found", OsStr::new(name).to_string_lossy())
            }
            Self::NotExecutable { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::NoFolder { path } => write!(f, "the folder {} is not there", path.display()),
            Self::Refused { path, source } => {
                write!(f, "cannot start {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}

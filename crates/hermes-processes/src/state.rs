//! Whether a process runs, and how it ended.

use std::time::Instant;

/// Why a process is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It ended by itself.
    Exited,
    /// Somebody ended it.
    Killed,
    /// Its machine or the way there is gone.
    Lost,
    /// It never ran.
    FailedStart,
}

impl Reason {
    /// The name in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Killed => "killed",
            Self::Lost => "lost",
            Self::FailedStart => "failed_start",
        }
    }
}

/// Who ended a process that didn't by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Nobody.
    #[default]
    Itself,
    /// The model, or a person.
    ProcessKill,
    /// The end of a session or of the program.
    KillAll,
    /// The loss of its machine.
    BackendLost,
    /// It could not be started.
    FailedStart,
}

impl Source {
    /// The name in results; empty for a process that ended by itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Itself => "",
            Self::ProcessKill => "process.kill",
            Self::KillAll => "kill_all",
            Self::BackendLost => "backend_lost",
            Self::FailedStart => "failed_start",
        }
    }
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code: 128 + n when signal n killed it, -15 when it was killed by request, none when
    /// nobody knows.
    pub code: Option<i32>,
    /// Why.
    pub reason: Reason,
    /// Who ended it.
    pub source: Source,
    /// When.
    pub at: Instant,
    /// What is known besides, as a sentence.
    pub note: Option<String>,
}

impl Ended {
    pub(crate) fn new(code: Option<i32>, reason: Reason, source: Source) -> Self {
        Self { code, reason, source, at: Instant::now(), note: None }
    }
}

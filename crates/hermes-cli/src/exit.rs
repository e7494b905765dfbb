//! How the program ends.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use hermes_config::ConfigError;
use hermes_registry::ToolOutput;
use hermes_tools::CallOutcome;
use serde_json::Value;

/// The exit codes; scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Success = 0,
    /// The tool or the operation reported an error.
    Failed = 1,
    /// What was typed, piped in or configured can't be used.
    Usage = 2,
    /// The call was blocked.
    Blocked = 3,
    /// The terminal went away.
    HungUp = 129,
    /// Somebody pressed Ctrl-C.
    Interrupted = 130,
    /// Somebody asked the process to end.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// For a reason that is told on stderr.
    Told {
        /// The exit code.
        exit: Exit,
        /// What to tell, an error per line.
        lines: Vec<String>,
    },
    /// Whoever read stdout has gone, which is no error: `hermes definitions | head -c 100`.
    ClosedPipe,
}

impl Failure {
    /// Bad input, with one message.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::usage_lines([message])
    }

    /// Bad input, with a message per line.
    pub(crate) fn usage_lines<D: Display>(messages: impl IntoIterator<Item = D>) -> Self {
        let lines = messages.into_iter().map(|message| message.to_string()).collect();
        Self::Told { exit: Exit::Usage, lines }
    }

    /// Something that was asked to end, which its asker knows.
    pub(crate) fn stopped(exit: Exit) -> Self {
        Self::Told { exit, lines: Vec::new() }
    }

    /// An operation that failed.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Told { exit: Exit::Failed, lines: vec![message.to_string()] }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::failed(error),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        match error {
            // Nothing was wrong with what the person asked for.
            ConfigError::Io { .. } | ConfigError::ReadOnly { .. } | ConfigError::Edit { .. } => {
                Self::failed(error)
            }
            _ => Self::usage(error),
        }
    }
}

/// Whether the tool did nothing because nobody agreed, or nobody did yet.
pub(crate) fn is_held(outcome: &CallOutcome) -> bool {
    let status = match &outcome.result {
        Err(error) => error.extra().get("status"),
        Ok(ToolOutput::Json(Value::Object(result))) => result.get("status"),
        Ok(_) => None,
    };
    matches!(status.and_then(Value::as_str), Some("blocked" | "pending_approval"))
}

/// What every command returns.
pub(crate) type Ended = Result<Exit, Failure>;

//! The kinds of failure a model can tell apart, and the errors made of them.

use std::io;
use std::path::Path;

use hermes_fs::{CommitError, FsError};
use hermes_registry::{ErrorKind, ToolContext, ToolError};

/// What went wrong; the value of `error_kind` in every error result of these tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    MissingArgument,
    BadMode,
    NotFound,
    IsDirectory,
    Binary,
    Device,
    Blocked,
    Denied,
    SoftGuard,
    DisplayText,
    RedactionMarker,
    InvalidContent,
    EmptyOld,
    Identical,
    Ambiguous,
    EscapeDrift,
    RolledBack,
    Traversal,
    NoChanges,
    ParseError,
    AlreadyExists,
    Conflict,
    BadRegex,
    Io,
    Timeout,
    Cancelled,
}

impl Fault {
    /// The name in results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MissingArgument => "missing_argument",
            Self::BadMode => "bad_mode",
            Self::NotFound => "not_found",
            Self::IsDirectory => "is_directory",
            Self::Binary => "binary",
            Self::Device => "device",
            Self::Blocked => "blocked",
            Self::Denied => "denied",
            Self::SoftGuard => "soft_guard",
            Self::DisplayText => "display_text",
            Self::RedactionMarker => "redaction_marker",
            Self::InvalidContent => "invalid_content",
            Self::EmptyOld => "empty_old",
            Self::Identical => "identical",
            Self::Ambiguous => "ambiguous",
            Self::EscapeDrift => "escape_drift",
            Self::RolledBack => "rolled_back",
            Self::Traversal => "traversal",
            Self::NoChanges => "no_changes",
            Self::ParseError => "parse_error",
            Self::AlreadyExists => "already_exists",
            Self::Conflict => "conflict",
            Self::BadRegex => "bad_regex",
            Self::Io => "io",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }

    const fn kind(self) -> ErrorKind {
        match self {
            Self::NotFound => ErrorKind::NotFound,
            Self::Conflict | Self::AlreadyExists => ErrorKind::Conflict,
            Self::Device | Self::Blocked | Self::Denied | Self::SoftGuard => ErrorKind::Denied,
            Self::Io | Self::RolledBack => ErrorKind::Internal,
            Self::Timeout => ErrorKind::Timeout,
            Self::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::InvalidArguments,
        }
    }

    /// An error of this kind.
    pub(crate) fn error(self, message: impl Into<String>) -> ToolError {
        ToolError::new(self.kind(), message).with_extra("error_kind", self.name())
    }
}

/// The error for a failed system call: `verb` is what was tried, such as `read`.
pub(crate) fn io_error(verb: &str, path: &Path, err: &io::Error) -> ToolError {
    let fault = match err.kind() {
        io::ErrorKind::NotFound => Fault::NotFound,
        io::ErrorKind::PermissionDenied => Fault::Denied,
        io::ErrorKind::IsADirectory => Fault::IsDirectory,
        io::ErrorKind::TimedOut => Fault::Timeout,
        io::ErrorKind::WouldBlock => {
            return Fault::Device.error(format!(
                "can't {verb} {}: it gives no data now, and isn't waited for",
                path.display()
            ));
        }
        _ => Fault::Io,
    };
    fault.error(format!("can't {verb} {}: {err}", path.display()))
}

/// The error for what the file system refused.
pub(crate) fn of_file_system(err: &FsError) -> ToolError {
    let fault = match err {
        FsError::Io { verb, path, source } => return io_error(verb, path, source),
        FsError::Changed(_) | FsError::Busy(_) => Fault::Conflict,
        FsError::Owner(_) => Fault::Denied,
        FsError::Exists(_) => Fault::AlreadyExists,
        FsError::Interrupted => Fault::Cancelled,
        _ => Fault::Io,
    };
    fault.error(err.to_string())
}

/// The error for a change that failed and couldn't be taken back altogether.
pub(crate) fn left_behind(err: &CommitError) -> ToolError {
    let left = err.left.iter().map(|(path, reason)| format!("{} ({reason})", path.display()));
    let left: Vec<String> = left.collect();
    let cause = of_file_system(&err.cause);
    Fault::Io.error(format!(
        "{}; not all could be taken back, look at {}",
        cause.message(),
        left.join(", ")
    ))
}

/// Fails when the call was cancelled or is past its deadline.
pub(crate) fn check_interrupt(cx: &ToolContext) -> Result<(), ToolError> {
    cx.check_interrupt().map_err(|err| {
        let fault =
            if err.kind() == ErrorKind::Timeout { Fault::Timeout } else { Fault::Cancelled };
        err.with_extra("error_kind", fault.name())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_names_what_was_tried_and_its_kind() {
        let err = io_error("read", Path::new("/x"), &io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(err.kind(), ErrorKind::NotFound);
        assert_eq!(err.extra()["error_kind"], "not_found");
        assert!(err.message().starts_with("can't read /x"));
    }
}

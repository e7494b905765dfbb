//! Why a tool call failed, in two voices: one for the model, one for the host's log.

use std::fmt;

use serde_json::{Map, Value};

/// What sort of failure it was. Hosts and models decide on this what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The arguments don't fit the tool; the model can mend the call.
    InvalidArguments,
    /// The tool or what it needs isn't there right now (no credential, no backend, no service).
    Unavailable,
    /// A person or a rule refused the call.
    Denied,
    /// What the call names doesn't exist.
    NotFound,
    /// The world changed under the call (a stale file, a name already taken).
    Conflict,
    /// The call took longer than it may.
    Timeout,
    /// The call was interrupted.
    Cancelled,
    /// A service that the tool talks to failed.
    Upstream,
    /// The tool itself failed.
    Internal,
}

impl ErrorKind {
    /// The kind's name in logs and machine output, e.g. `invalid_arguments`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::Unavailable => "unavailable",
            Self::Denied => "denied",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Upstream => "upstream",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed tool call.
///
/// `Display` is one line, the message for the model. `Debug` adds what only the host should see.
///
/// ```
/// use hermes_registry::{ErrorKind, ToolError};
/// let err = ToolError::not_found("no file at src/lib.rz; did you mean src/lib.rs?")
///     .with_extra("similar", vec!["src/lib.rs"])
///     .with_detail("ENOENT");
/// assert_eq!(err.kind(), ErrorKind::NotFound);
/// assert_eq!(
///     err.to_value().to_string(),
///     r#"{"error":"no file at src/lib.rz; did you mean src/lib.rs?","similar":["src/lib.rs"]}"#
/// );
/// ```
// Boxed, so that `Result<_, ToolError>` stays as small as its success value.
#[derive(Clone)]
pub struct ToolError {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    retryable: bool,
    detail: Option<String>,
    extra: Map<String, Value>,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $kind:ident, $retryable:literal;)*) => {
        $($(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            Self::new(ErrorKind::$kind, message).retryable($retryable)
        })*
    };
}

impl ToolError {
    /// An error that a repetition of the same call wouldn't mend.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            inner: Box::new(Inner {
                kind,
                message,
                retryable: false,
                detail: None,
                extra: Map::new(),
            }),
        }
    }

    constructors! {
        /// The arguments don't fit. Say which one and what would.
        invalid_arguments => InvalidArguments, false;
        /// Something the tool needs is missing. Say what, and how to get it.
        unavailable => Unavailable, false;
        /// A person or a rule said no.
        denied => Denied, false;
        /// What the call names doesn't exist.
        not_found => NotFound, false;
        /// The world changed under the call.
        conflict => Conflict, false;
        /// The call took too long. Retryable.
        timeout => Timeout, true;
        /// The call was interrupted.
        cancelled => Cancelled, false;
        /// A remote service failed. Retryable.
        upstream => Upstream, true;
        /// The tool itself failed.
        internal => Internal, false;
    }

    /// Sets whether the same call may succeed when repeated.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.inner.retryable = retryable;
        self
    }

    /// Adds what only the host's log should hold.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.inner.detail = Some(detail.into());
        self
    }

    /// Adds a key beside `error` in the result that the model sees.
    #[must_use]
    pub fn with_extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.inner.extra.insert(key.into(), value.into());
        self
    }

    /// The sort of failure.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether the same call may succeed when repeated.
    pub fn is_retryable(&self) -> bool {
        self.inner.retryable
    }

    /// What the model is told.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// What the host's log holds beyond the message.
    pub fn detail(&self) -> Option<&str> {
        self.inner.detail.as_deref()
    }

    /// The extra keys of the result.
    pub fn extra(&self) -> &Map<String, Value> {
        &self.inner.extra
    }

    /// The same error with another message for the model.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.inner.message = message.into();
        self
    }

    /// The result that the model sees: `{"error": message, ...extra}`.
    pub fn to_value(&self) -> Value {
        let mut object = Map::with_capacity(1 + self.inner.extra.len());
        object.insert("error".to_owned(), Value::String(self.inner.message.clone()));
        for (key, value) in &self.inner.extra {
            object.insert(key.clone(), value.clone());
        }
        Value::Object(object)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("kind", &self.inner.kind)
            .field("message", &self.inner.message)
            .field("retryable", &self.inner.retryable)
            .field("detail", &self.inner.detail)
            .field("extra", &self.inner.extra)
            .finish()
    }
}

impl std::error::Error for ToolError {}

impl From<std::io::Error> for ToolError {
    fn from(err: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match err.kind() {
            Io::NotFound => ErrorKind::NotFound,
            Io::PermissionDenied => ErrorKind::Denied,
            Io::AlreadyExists => ErrorKind::Conflict,
            Io::TimedOut => ErrorKind::Timeout,
            _ => ErrorKind::Internal,
        };
        Self::new(kind, err.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_leads_with_error_and_hides_the_detail() {
        let err = ToolError::upstream("the service is down")
            .with_detail("Authorization: Bearer abc")
            .with_extra("status", 503);
        assert!(err.is_retryable());
        assert_eq!(err.to_value().to_string(), r#"{"error":"the service is down","status":503}"#);
        assert_eq!(err.to_string(), "the service is down");
        assert!(format!("{err:?}").contains("Bearer abc"));
    }
}

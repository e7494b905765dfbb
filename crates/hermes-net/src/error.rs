//! Why a request came to nothing.

use std::fmt;
use std::time::Duration;

use hermes_guard::redact::{Mode, redact};
use hermes_guard::urls::Refusal;
use hermes_guard::urls::website::Blocked;

/// What went wrong. Secrets are masked already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetError {
    kind: NetErrorKind,
    message: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetErrorKind {
    /// The request can't be sent as it is.
    Request,
    /// The URL, or where a redirect leads, may not be fetched.
    Refused(Refusal),
    /// The user blocked the website.
    Website(Blocked),
    /// No connection: nobody listens there, or the certificate isn't good.
    Connect,
    /// Something took longer than this.
    Timeout(Duration),
    /// The other side doesn't speak the protocol, or stopped in the middle.
    Protocol,
    /// More redirects than this.
    TooManyRedirects(usize),
    /// A redirect leads to where the request has been.
    RedirectLoop,
    /// The body has more bytes than this, or is a small one that swells without end.
    TooLarge(u64),
    /// Nobody waits for the answer any more.
    Cancelled,
}

impl NetError {
    pub(crate) fn new(kind: NetErrorKind, message: &str) -> Self {
        Self { kind, message: redact(message, Mode::Egress).into_owned() }
    }

    pub(crate) fn refused(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        Self::new(NetErrorKind::Refused(refusal), &message)
    }

    pub(crate) fn website(blocked: Blocked) -> Self {
        let message = blocked.message();
        Self::new(NetErrorKind::Website(blocked), &message)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(NetErrorKind::Cancelled, "cancelled")
    }

    pub(crate) fn timeout(what: &str, after: Duration) -> Self {
        let message = format!("{what} took longer than {} s", after.as_secs_f32());
        Self::new(NetErrorKind::Timeout(after), &message)
    }

    /// The same error about `url`.
    pub(crate) fn about(self, url: &str) -> Self {
        let message = format!("{url}: {}", self.message);
        Self::new(self.kind, &message)
    }

    /// The same error without these texts.
    pub(crate) fn without(mut self, secrets: &[String]) -> Self {
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            if self.message.contains(secret.as_str()) {
                self.message = self.message.replace(secret.as_str(), "***");
            }
        }
        self
    }

    /// What kind of fault it is.
    #[must_use]
    pub const fn kind(&self) -> &NetErrorKind {
        &self.kind
    }

    /// Whether the same request may fare better later. What was refused won't.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            NetErrorKind::Connect
                | NetErrorKind::Timeout(_)
                | NetErrorKind::Protocol
                | NetErrorKind::Refused(Refusal::Unresolved(_))
        )
    }
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NetError {}

//! Masking secrets in text that people or logs see.
//!
//! What is masked keeps its surroundings: the name of a setting, the scheme of a header, the host
//! of an address. Of a long secret the two ends stay, so that it can be told from others. Every
//! rule takes time linear in the length of the text, and a text without secrets isn't copied.

mod fields;
mod glued;
mod keys;
mod mask;
mod rules;
mod tokens;
mod urls;
mod value;

use std::borrow::Cow;

pub use keys::{is_secret_key, percent_decoded};
pub use rules::flushable;
pub use value::redact_value;

/// What the text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Logs and messages: every rule.
    Log,
    /// Output of programs, which may be code: no rules that look at the names of settings, which
    /// would mask constants.
    Code,
    /// The content of a file that a model may write back: as `Code`, and a token becomes a marker
    /// that can't be mistaken for one.
    FileRead,
    /// What leaves the machine: as `Log`, and credentials in web addresses.
    Egress,
}

impl Mode {
    /// Whether the names of settings and fields count.
    const fn names_count(self) -> bool {
        matches!(self, Self::Log | Self::Egress)
    }
}

/// Masks the secrets in `text`.
#[must_use]
pub fn redact(text: &str, mode: Mode) -> Cow<'_, str> {
    rules::apply(text, mode)
}

/// Whether there is a token in `text` that is known by its looks.
#[must_use]
pub fn holds_token(text: &str) -> bool {
    rules::holds_token(text)
}

#[cfg(test)]
mod tests;

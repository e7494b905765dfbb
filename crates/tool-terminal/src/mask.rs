//! Secrets in what commands write.

use std::borrow::Cow;

use hermes_guard::redact::{Mode, redact};
use hermes_terminal::is_env_dump;

/// Masks the secrets in what a command wrote. One that lists variables has names beside its values,
/// which then count too.
#[must_use]
pub fn mask<'t>(command: &str, text: &'t str) -> Cow<'t, str> {
    redact(text, mode(command))
}

/// By which rules.
pub(crate) fn mode(command: &str) -> Mode {
    if is_env_dump(command) { Mode::Log } else { Mode::Code }
}

//! What can be wrong with the variables.

use std::fmt;

/// A variable that can't be made sense of. Its text never holds the value, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtelError {
    variable: &'static str,
    why: &'static str,
}

impl OtelError {
    pub(crate) fn new(variable: &'static str, why: &'static str) -> Self {
        Self { variable, why }
    }

    /// The name of the variable.
    pub fn variable(&self) -> &'static str {
        self.variable
    }
}

impl fmt::Display for OtelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variable, self.why)
    }
}

impl std::error::Error for OtelError {}

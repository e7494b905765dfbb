//! What can't be understood.

use std::fmt;

/// A setting of the terminal that can't be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalConfigError {
    /// The variable, which is also named if the value stands in `config.yaml`.
    pub variable: String,
    /// The key in `config.yaml`, if the value stands there.
    pub key: Option<String>,
    /// What it should be.
    pub expected: &'static str,
}

impl fmt::Display for TerminalConfigError {
    // Without the value: it may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            None => write!(f, "the variable {} must be {}", self.variable, self.expected),
            Some(key) => {
                let Self { variable, expected, .. } = self;
                write!(f, "`{key}` in config.yaml (variable {variable}) must be {expected}")
            }
        }
    }
}

impl std::error::Error for TerminalConfigError {}

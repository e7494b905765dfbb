//! What a check found, and how a list of it is told.

use std::fmt;

use anyhow::{Result, bail};

/// Something that breaks a rule, at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path below the root, or the name of what was looked at.
    pub(crate) place: String,
    /// Line, from 1; 0 when no line is to blame.
    pub(crate) line: usize,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(place: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { place: place.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, line, message } = self;
        match line {
            0 => write!(f, "{place}: {message}"),
            _ => write!(f, "{place}:{line}: {message}"),
        }
    }
}

/// Fails with all of `findings`, in order of place, if there are any.
///
/// `mend` says how to go on.
pub(crate) fn none_of(mut findings: Vec<Finding>, mend: &str) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    findings.sort();
    findings.dedup();
    let list: String = findings.iter().map(|finding| format!("  {finding}\n")).collect();
    bail!("{} found:\n{list}{mend}", findings.len());
}

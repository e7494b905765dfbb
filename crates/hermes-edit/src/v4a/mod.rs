//! The patch format of `*** Begin Patch`: sections that add, update, delete and move files.
//!
//! [`parse`] reads the text, [`apply`] applies all sections to files in memory. Either every section
//! applies, and the result is what is to be written, or all that is wrong is listed and nothing is
//! to be written.

mod apply;
mod hunk;
mod parse;

pub use apply::{Cause, Change, Failure, Files, Loaded, Memory, apply};
pub use parse::{Action, Hunk, HunkLine, Patch, Section, parse};

/// What is wrong with a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The line of the patch, from 1 on.
    pub line: usize,
    /// What to tell whoever wrote the patch.
    pub message: String,
}

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text isn't a patch.
    ParseError,
    /// A path goes up with `..`.
    Traversal,
    /// There is no such file, or no such place in it.
    NotFound,
    /// Something is where a file is to be made.
    AlreadyExists,
    /// There are several such places in a file.
    Ambiguous,
    /// A file to change isn't text.
    Binary,
    /// Everything is as the patch would leave it.
    NoChanges,
}

impl ProblemKind {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parse_error",
            Self::Traversal => "traversal",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::Ambiguous => "ambiguous",
            Self::Binary => "binary",
            Self::NoChanges => "no_changes",
        }
    }
}

#[cfg(test)]
mod tests;

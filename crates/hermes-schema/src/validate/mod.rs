//! Checking a call's arguments against the registered schema.

mod compile;
mod equal;
mod finding;
mod holds;
mod message;
mod node;
mod nulls;
mod pattern;
mod plain;
mod run;
mod unevaluated;

use std::{error::Error, fmt};

use serde_json::Value;

pub use self::nulls::drop_optional_nulls;
use self::{finding::At, node::Program, run::Run};
use crate::{SchemaError, positions::check_depth, refs};

/// How many offending paths one error lists.
const MAX_ISSUES: usize = 20;

/// A tool's registered schema, compiled once, for checking arguments.
///
/// Keywords are those of JSON Schema 2020-12, and what older drafts called them. Nothing is fetched,
/// and references are relative to the whole schema. `nullable: true` admits null, formats are not
/// checked, and a regular expression that the `regex` crate cannot run is ignored rather than making
/// the tool uncallable. `$dynamicRef` is taken for `$ref`. Unknown keys are fine unless
/// `additionalProperties` says otherwise.
///
/// A check takes bounded time and stack whatever schema and arguments are; what goes beyond is
/// refused as too complex.
#[derive(Debug, Clone)]
pub struct Validator {
    program: Program,
}

impl Validator {
    /// Compiles a registered schema. A schema that is not an object (such as null, for missing
    /// parameters) admits any object.
    ///
    /// # Errors
    /// [`SchemaError::TooDeep`] beyond [`crate::MAX_LEVELS`]; [`SchemaError::UnresolvedRef`] for a
    /// dangling or remote reference; [`SchemaError::Invalid`] for a keyword with a value that means
    /// nothing. Only this tool is affected.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        check_depth(schema)?;
        let plain = plain::plain(schema);
        refs::check(&plain)?;
        Ok(Self { program: compile::compile(&plain)? })
    }

    /// Checks arguments that were coerced and freed of optional nulls.
    ///
    /// # Errors
    /// Every offending path with what was expected and what was found.
    pub fn check(&self, args: &Value) -> Result<(), ValidationErrors> {
        self.check_hiding(args, &[])
    }

    /// [`check`](Self::check) for a tool with secret parameters: values under a key named in
    /// `secrets`, at any depth, do not appear in the error.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_hiding(&self, args: &Value, secrets: &[&str]) -> Result<(), ValidationErrors> {
        if Run::new(&self.program).fits(Program::ROOT, args) {
            return Ok(());
        }
        let mut findings = Vec::new();
        let mut run = Run::new(&self.program);
        run.node(Program::ROOT, args, &At::ROOT, Some(&mut findings));
        let mut issues = message::issues(&findings, secrets);
        if run.gave_up || issues.is_empty() {
            let message = "nests too deeply or is too complex to be checked".to_owned();
            issues.push(Issue { path: String::new(), message });
        }
        Err(ValidationErrors::new(issues))
    }
}

/// One thing wrong with the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issue {
    /// Where, as `todos[0].status`; empty for the arguments as a whole.
    pub path: String,
    /// What was expected there and what was found.
    pub message: String,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "arguments" } else { &self.path };
        write!(f, "{path}: {}", self.message)
    }
}

/// Everything wrong with the arguments of one call, in one bounded, single-line message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationErrors {
    issues: Vec<Issue>,
    omitted: usize,
}

impl ValidationErrors {
    fn new(mut issues: Vec<Issue>) -> Self {
        let omitted = issues.len().saturating_sub(MAX_ISSUES);
        issues.truncate(MAX_ISSUES);
        Self { issues, omitted }
    }

    /// The offending paths, at most 20, each once per complaint.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// How many more there were.
    #[must_use]
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl fmt::Display for ValidationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, issue) in self.issues.iter().enumerate() {
            write!(f, "{}{issue}", if index == 0 { "" } else { "; " })?;
        }
        if self.omitted > 0 {
            write!(f, "; and {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl Error for ValidationErrors {}

#[cfg(test)]
mod tests;

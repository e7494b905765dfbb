//! Checking a call's arguments against the registered schema.

mod message;
mod nulls;
mod plain;

use std::{error::Error, fmt};

use serde_json::Value;

pub use self::nulls::drop_optional_nulls;
use crate::{SchemaError, positions::check_depth, refs};

/// How many offending paths one error lists.
const MAX_ISSUES: usize = 20;

/// A tool's registered schema, compiled once, for checking arguments.
///
/// Nothing is fetched. `nullable: true` admits null, formats are not checked, and a regular
/// expression nobody here can run is ignored rather than making the tool uncallable. Unknown keys
/// are fine unless `additionalProperties` says otherwise.
#[derive(Debug, Clone)]
pub struct Validator {
    compiled: jsonschema::Validator,
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
        let mut plain = plain::plain(schema);
        refs::check(&plain)?;
        let compiled = build(&plain).or_else(|error| {
            // An `$id` that is no URI, or that moves the base of local references.
            plain::remove_ids(&mut plain);
            build(&plain).map_err(|_| error)
        })?;
        Ok(Self { compiled })
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
        if self.compiled.is_valid(args) {
            return Ok(());
        }
        let found = message::issues(self.compiled.iter_errors(args), args, secrets);
        // Everything found may have been about a regular expression that gave up.
        if found.is_empty() { Ok(()) } else { Err(ValidationErrors::new(found)) }
    }
}

fn build(schema: &Value) -> Result<jsonschema::Validator, SchemaError> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(false)
        .with_pattern_options(jsonschema::PatternOptions::fancy_regex().backtrack_limit(100_000))
        .offline()
        .build(schema)
        .map_err(|error| SchemaError::Invalid {
            pointer: error.instance_path().as_str().to_owned(),
            message: error.masked_with("the value").to_string().chars().take(300).collect(),
        })
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

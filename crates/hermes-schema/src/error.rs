//! Why a tool's schema cannot be used.

use std::{error::Error, fmt};

/// Why one tool's schema cannot be used. The tool is left out with this as the reason; its
/// neighbours are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema nests deeper than this many levels, or holds data nested deeper than that.
    TooDeep {
        /// The limit that was passed.
        limit: usize,
    },
    /// The schema is larger than this many bytes of JSON.
    TooLarge {
        /// The limit that was passed.
        limit: usize,
    },
    /// A `$ref` points to nothing in this schema, or outside of it (never fetched).
    UnresolvedRef {
        /// The reference as written, shortened.
        reference: String,
    },
    /// A keyword has a value that means nothing to a validator.
    Invalid {
        /// JSON pointer to the offending keyword.
        pointer: String,
        /// What is wrong with it.
        message: String,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep { limit } => write!(f, "the schema nests deeper than {limit} levels"),
            Self::TooLarge { limit } => write!(f, "the schema is larger than {limit} bytes"),
            Self::UnresolvedRef { reference } => {
                write!(f, "the schema refers to {reference:?}, which it does not contain")
            }
            Self::Invalid { pointer, message } if pointer.is_empty() => {
                write!(f, "the schema is invalid: {message}")
            }
            Self::Invalid { pointer, message } => {
                write!(f, "the schema is invalid at {pointer}: {message}")
            }
        }
    }
}

impl Error for SchemaError {}

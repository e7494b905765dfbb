//! JSON, YAML and TOML.
//!
//! All three are read without recursion, or with a bound on it.

use granit_parser::Parser;
use serde::de::IgnoredAny;

use crate::problem::{Parsed, Problem};

/// Repeated keys are all right, as they are for most readers.
pub(crate) fn json(text: &str) -> Parsed {
    let Err(err) = serde_json::from_str::<IgnoredAny>(text) else { return Parsed::Sound };
    let message = err.to_string();
    // The place is told in the problem's own way.
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    broken(Problem::at_line(text, err.line(), err.column(), message))
}

/// Syntax only: several documents, tags and repeated keys are all right.
pub(crate) fn yaml(text: &str) -> Parsed {
    let mut events = Parser::new_from_str(text);
    let Some(err) = events.find_map(Result::err) else { return Parsed::Sound };
    let marker = err.marker();
    let offset = marker
        .byte_offset()
        .or_else(|| text.char_indices().nth(marker.index()).map(|(offset, _)| offset));
    broken(Problem::at(text, offset.unwrap_or(text.len()), &err.info()))
}

pub(crate) fn toml(text: &str) -> Parsed {
    let Err(err) = toml::from_str::<toml::Table>(text) else { return Parsed::Sound };
    let offset = err.span().map_or(text.len(), |span| span.start);
    broken(Problem::at(text, offset, err.message()))
}

fn broken(problem: Problem) -> Parsed {
    Parsed::Broken(vec![problem])
}

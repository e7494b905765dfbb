//! Python, by the parser of ruff. All that is of one version of the language only is all right.

use memchr::memchr_iter;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use crate::deep;
use crate::problem::{MAX_FOUND, Parsed, Problem};

/// What a token may take, in bytes. On the stack it is less than 128, for dropping the tree of a
/// long chain; the parser gets what it needs itself from the heap, and that is bounded by this too.
const STACK_PER_TOKEN: usize = 1024;
/// The most `{`. Replacement fields inside of each other take quadratic time; so many, a second.
const MAX_BRACES: usize = 20_000;

pub(crate) fn parse(text: &str) -> Parsed {
    if memchr_iter(b'{', text.as_bytes()).count() > MAX_BRACES {
        return Parsed::Unknown("the file is too large to be checked");
    }
    deep::run(text, deep::tokens(text).saturating_mul(STACK_PER_TOKEN), |text| {
        let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
        let errors = parsed.errors().iter().take(MAX_FOUND);
        errors
            .map(|err| Problem::at(text, err.location.start().into(), &err.error.to_string()))
            .collect::<Vec<_>>()
            .into()
    })
}

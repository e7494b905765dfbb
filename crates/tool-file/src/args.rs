//! Arguments that are read leniently, and the limits they are clamped to.

use hermes_registry::{Settings, ToolError};
use schemars::Schema;
use serde_json::Value;

use crate::fault::Fault;

/// Which paging rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// `read_file`: `offset` is a line from 1 on, `limit` at most `max_lines`.
    Read {
        /// The most lines of one answer.
        max_lines: usize,
    },
    /// `search_files`: `offset` counts results to skip.
    Search,
}

/// The most results of one search answer.
pub const MAX_SEARCH_LIMIT: usize = 2000;

/// `offset` and `limit` as they are used: numbers and numeric text are cut to whole numbers,
/// anything else becomes the default, and both are clamped.
pub fn normalize_pagination(paging: Paging, offset: &Value, limit: &Value) -> (usize, usize) {
    let (first, default_limit, max_limit) = match paging {
        Paging::Read { max_lines } => (1, 500, max_lines),
        Paging::Search => (0, 50, MAX_SEARCH_LIMIT),
    };
    let offset = integer(offset).map_or(first, |n| clamp(n, first, usize::MAX));
    let limit = integer(limit).map_or(default_limit, |n| clamp(n, 1, usize::MAX));
    (offset, limit.clamp(1, max_limit.max(1)))
}

/// A whole number out of a number or numeric text.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    let from_float = |n: f64| {
        // `as` saturates, which is what clamping wants.
        #[expect(clippy::cast_possible_truncation, reason = "truncation is the rule here")]
        n.is_finite().then_some(n as i64)
    };
    match value {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().and_then(from_float)),
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| text.parse().ok().and_then(from_float))
        }
        _ => None,
    }
}

fn clamp(n: i64, min: usize, max: usize) -> usize {
    // A number that doesn't fit is negative, or larger than any file on a 32-bit machine.
    usize::try_from(n).unwrap_or(if n < 0 { min } else { max }).clamp(min, max)
}

/// What the configuration sets for all file tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most characters of one `read_file` answer.
    pub(crate) max_chars: usize,
    /// The most lines of one `read_file` answer.
    pub(crate) max_lines: usize,
    /// The most characters of a shown line.
    pub(crate) max_line_length: usize,
}

impl Limits {
    /// The configured limits; a value that is no positive number is as good as none.
    pub(crate) fn of(settings: &Settings) -> Self {
        let positive = |key, default| {
            settings
                .get(key)
                .and_then(integer)
                .and_then(|n| usize::try_from(n).ok())
                .filter(|&n| n > 0)
                .unwrap_or(default)
        };
        Self {
            max_chars: positive("file_read_max_chars", 100_000),
            max_lines: positive("tool_output.max_lines", 2000),
            max_line_length: positive("tool_output.max_line_length", 2000),
        }
    }
}

/// The text in argument `name`.
///
/// Arguments are kept as JSON until here, so that a missing or ill-typed one gets an answer that
/// says what to send instead.
pub(crate) fn text<'a>(tool: &str, name: &str, value: &'a Value) -> Result<&'a str, ToolError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Err(Fault::MissingArgument
            .error(format!("{tool} needs `{name}`; send the call again with it"))),
        _ => Err(Fault::MissingArgument.error(format!(
            "`{name}` of {tool} must be a string; send the call again with the text itself"
        ))),
    }
}

/// The same, and not blank.
pub(crate) fn path<'a>(tool: &str, value: &'a Value) -> Result<&'a str, ToolError> {
    let path = text(tool, "path", value)?;
    if path.trim().is_empty() {
        return Err(Fault::MissingArgument
            .error(format!("`path` of {tool} is empty; send the call again with a path")));
    }
    Ok(path)
}

/// Marks properties as required that the parser reads leniently.
pub(crate) fn require(schema: &mut Schema, names: &[&str]) {
    let names: Vec<Value> = names.iter().map(|&name| name.into()).collect();
    schema.insert("required".to_owned(), names.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pagination() {
        let read = Paging::Read { max_lines: 2000 };
        for (paging, offset, limit, expected) in [
            (read, json!(1), json!(500), (1, 500)),
            (read, json!(0), json!(-3), (1, 1)),
            (read, json!(null), json!(null), (1, 500)),
            (read, json!(5), json!(1_000_000_000), (5, 2000)),
            (read, json!("7"), json!("12.9"), (7, 12)),
            (read, json!(" 3 "), json!("x"), (3, 500)),
            (read, json!(true), json!([2]), (1, 500)),
            (read, json!(2.9), json!(1e300), (2, 2000)),
            (Paging::Search, json!(-1), json!(0), (0, 1)),
            (Paging::Search, json!(null), json!(null), (0, 50)),
            (Paging::Search, json!("4"), json!(99999), (4, 2000)),
            (Paging::Read { max_lines: 10 }, json!(1), json!(null), (1, 10)),
        ] {
            assert_eq!(normalize_pagination(paging, &offset, &limit), expected, "{offset} {limit}");
        }
    }

    #[test]
    fn a_limit_that_is_no_positive_number_is_the_default() {
        let limits = Limits::of(&Settings::default().with_config(json!({
            "file_read_max_chars": 0,
            "tool_output": {"max_lines": "many", "max_line_length": 80},
        })));
        assert_eq!(
            (limits.max_chars, limits.max_lines, limits.max_line_length),
            (100_000, 2000, 80)
        );
    }
}

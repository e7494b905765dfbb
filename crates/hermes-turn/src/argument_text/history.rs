//! Arguments of calls that are over, as they are sent again with every request.

use super::repair::repair_json_args;
use crate::canonical::canonical_json;

/// The arguments of a stored call as compact JSON with sorted keys, and whether they were lost.
///
/// Text that was cut is closed where that is possible: the call has its answer, and nothing runs
/// any more. Where it isn't, the arguments become `{}` and the second value is true; the result
/// of that call should say so.
///
/// ```
/// use hermes_turn::argument_text::history_arguments;
///
/// assert_eq!(history_arguments(r#"{"b": [1, 2"#), (r#"{"b":[1,2]}"#.to_owned(), false));
/// assert_eq!(history_arguments(r#"{"b": "half"#), ("{}".to_owned(), true));
/// ```
#[must_use]
pub fn history_arguments(raw: &str) -> (String, bool) {
    match repair_json_args(raw) {
        Some((value, _)) => (canonical_json(&value), false),
        None => ("{}".to_owned(), true),
    }
}

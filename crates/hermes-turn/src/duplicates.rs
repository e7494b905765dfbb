//! Calls that say the same twice.
//!
//! Models repeat a call within one turn by mistake. The repetition isn't run: it is answered with
//! a hint to the first. What counts is what a call means, not its spelling: arguments are compared
//! after parsing, with their keys sorted.

use std::collections::HashMap;

use serde_json::Value;

use crate::argument_text::repair_json_args;
use crate::canonical::canonical_json;

/// A call to compare.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The name; blanks around it don't count.
    pub name: &'a str,
    /// The arguments.
    pub arguments: Arguments<'a>,
}

/// The arguments of a [`Call`].
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// As the model wrote them.
    Text(&'a str),
    /// Already decoded.
    Value(&'a Value),
}

/// Arguments in the form in which they are compared.
#[derive(PartialEq, Eq, Hash)]
enum Meaning<'a> {
    Json(String),
    /// Text that is no JSON, or only the beginning of it.
    Text(&'a str),
}

impl<'a> Arguments<'a> {
    fn meaning(self) -> Meaning<'a> {
        match self {
            Self::Value(Value::Null) => Meaning::Json("{}".to_owned()),
            Self::Value(Value::String(text)) => Self::Text(text).meaning(),
            Self::Value(value) => Meaning::Json(canonical_json(value)),
            Self::Text(text) => match repair_json_args(text) {
                Some((value, report)) if !report.is_cut() => Meaning::Json(canonical_json(&value)),
                _ => Meaning::Text(text.trim()),
            },
        }
    }
}

/// For every call the index of the first call that says the same, if there is one before it.
///
/// Calls of tools for which `is_repeatable` holds are never repetitions: pressing a key or
/// scrolling twice is something else than doing so once. It is asked with the trimmed name.
///
/// ```
/// use hermes_turn::duplicates::{Arguments, Call, find};
///
/// let call = |name, text| Call { name, arguments: Arguments::Text(text) };
/// let calls = [
///     call("read_file", r#"{"path": "a", "limit": 5}"#),
///     call("read_file", r#"{"path": "b"}"#),
///     call("read_file", r#"{"limit":5,"path":"a"}"#),
/// ];
/// assert_eq!(find(&calls, &|_| false), [None, None, Some(0)]);
/// ```
#[must_use]
pub fn find(calls: &[Call<'_>], is_repeatable: &dyn Fn(&str) -> bool) -> Vec<Option<usize>> {
    // A single call repeats nothing, so that its arguments needn't be parsed here.
    if calls.len() < 2 {
        return vec![None; calls.len()];
    }
    let mut first = HashMap::with_capacity(calls.len());
    let mut found = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        let name = call.name.trim();
        found.push(if is_repeatable(name) {
            None
        } else {
            let earlier = *first.entry((name, call.arguments.meaning())).or_insert(index);
            (earlier != index).then_some(earlier)
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn texts(calls: &[(&str, &str)]) -> Vec<Option<usize>> {
        let calls: Vec<_> = calls
            .iter()
            .map(|(name, text)| Call { name, arguments: Arguments::Text(text) })
            .collect();
        find(&calls, &|name| name == "browser_press")
    }

    #[test]
    fn the_meaning_counts() {
        let found = texts(&[
            ("a", r#"{"x":1,"y":{"p":1,"q":2}}"#),
            (" a ", r#"{ "y": {"q":2, "p":1}, "x": 1, }"#),
            ("b", r#"{"x":1,"y":{"p":1,"q":2}}"#),
            ("a", r#"{"x":[1,2]}"#),
            ("a", r#"{"x":[2,1]}"#),
            ("a", r#"{"x":"1"}"#),
            ("a", r#"{"x":1}"#),
        ]);
        assert_eq!(found, [None, Some(0), None, None, None, None, None]);
        assert_eq!(
            texts(&[("a", ""), ("a", "{}"), ("a", "null"), ("a", "None")])[1..],
            [Some(0); 3]
        );
        assert_eq!(texts(&[("a", "[1]"), ("a", " [1 ]")]), [None, Some(0)]);
        assert_eq!(texts(&[("a", "")]), [None]);
    }

    #[test]
    fn text_that_is_no_json_is_compared_as_it_stands() {
        let found = texts(&[
            ("a", "{oops"),
            ("a", "{oops "),
            ("a", "{ oops"),
            ("a", r#"{"x":[1"#),
            ("a", r#"{"x":[1]}"#),
            ("a", r#"{"x":[1"#),
        ]);
        assert_eq!(found, [None, Some(0), None, None, None, Some(3)]);
    }

    #[test]
    fn some_tools_may_be_called_twice() {
        let press = ("browser_press", r#"{"key":"Tab"}"#);
        assert_eq!(texts(&[press, press, (" browser_press", press.1)]), [None; 3]);
    }

    #[test]
    fn text_and_decoded_arguments_are_equal() {
        let (object, null) = (json!({"b": 1, "a": 2}), json!(null));
        let calls = [
            Call { name: "a", arguments: Arguments::Value(&object) },
            Call { name: "a", arguments: Arguments::Text(r#"{"a":2,"b":1}"#) },
            Call { name: "a", arguments: Arguments::Value(&null) },
            Call { name: "a", arguments: Arguments::Text(" ") },
        ];
        assert_eq!(find(&calls, &|_| false), [None, Some(0), None, Some(2)]);
    }
}

//! Finding lines in a row among many, in time that grows with the lines only.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::lines::Lines;
use crate::search::search;

/// Stands for a line that isn't among those looked for.
const OTHER: usize = usize::MAX;

/// The indexes of the lines of `text` where `wanted` begins, each line compared as its `key`.
/// Places may overlap.
pub(super) fn windows<'a>(
    text: &Lines<'a>,
    wanted: &[&'a str],
    key: impl Fn(&'a str) -> Cow<'a, str>,
) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let wanted: Vec<usize> = wanted
        .iter()
        .map(|line| {
            let next = numbers.len();
            *numbers.entry(key(line)).or_insert(next)
        })
        .collect();
    if wanted.is_empty() || wanted.len() > text.len() {
        return Vec::new();
    }
    let number = |line| numbers.get(key(line).as_ref()).copied().unwrap_or(OTHER);
    search(text.iter().map(number), &wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_are_found_by_their_keys() {
        let text = Lines::of("A\nb\na\nB\na");
        let key = |line: &'static str| Cow::Owned(line.to_lowercase());
        assert_eq!(windows(&text, &["a", "B"], key), [0, 2]);
        assert_eq!(windows(&text, &["a", "b"], Cow::Borrowed), []);
        assert_eq!(windows(&text, &["b", "a", "x"], key), []);
        assert_eq!(windows(&Lines::of(""), &["a"], key), []);
    }
}

//! Finding lines in a row among many, in time that grows with the lines only.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::lines::Lines;

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

/// After Knuth, Morris and Pratt.
fn search(text: impl Iterator<Item = usize>, wanted: &[usize]) -> Vec<usize> {
    let borders = borders(wanted);
    let border = |len: usize| len.checked_sub(1).and_then(|at| borders.get(at)).copied();
    let mut found = Vec::new();
    let mut matched = 0;
    for (index, number) in text.enumerate() {
        while wanted.get(matched) != Some(&number) {
            let Some(shorter) = border(matched) else { break };
            matched = shorter;
        }
        if wanted.get(matched) == Some(&number) {
            matched += 1;
        }
        if matched == wanted.len() {
            found.push(index + 1 - matched);
        }
    }
    found
}

/// For each start of the list, how long the longest shorter start is that it ends with.
fn borders(list: &[usize]) -> Vec<usize> {
    let mut borders: Vec<usize> = Vec::with_capacity(list.len());
    let mut len = 0;
    for (index, item) in list.iter().enumerate() {
        if index == 0 {
            borders.push(0);
            continue;
        }
        while list.get(len) != Some(item) {
            let Some(&shorter) = len.checked_sub(1).and_then(|at| borders.get(at)) else { break };
            len = shorter;
        }
        if list.get(len) == Some(item) {
            len += 1;
        }
        borders.push(len);
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn places_may_overlap() {
        for (text, wanted, expected) in [
            ("a b a b a", "a b a", vec![0, 2]),
            ("a a a a", "a a", vec![0, 1, 2]),
            ("a a b a a a b", "a a b", vec![0, 4]),
            ("a b", "b a", vec![]),
            ("a", "a a", vec![]),
            ("", "a", vec![]),
            ("x y z", "z", vec![2]),
            ("a b a b a c", "a b a c", vec![2]),
        ] {
            let text = text.replace(' ', "\n");
            let wanted: Vec<&str> = wanted.split(' ').collect();
            let found = windows(&Lines::of(&text), &wanted, Cow::Borrowed);
            assert_eq!(found, expected, "{text:?} {wanted:?}");
        }
    }
}

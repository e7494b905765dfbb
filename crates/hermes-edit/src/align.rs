//! Which lines of a new text are lines of the old one.

use std::hash::Hash;

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

/// For each of `new`, which of `old` it is, in the longest common subsequence.
///
/// Where the two differ much it settles for a shorter one: its time stays in bounds.
pub fn align<T: Eq + Hash>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
) -> Vec<Option<usize>> {
    let interner = Interner::new(0);
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner };
    input.update_before(old);
    input.update_after(new);
    let mut found = vec![None; input.after.len()];
    // The algorithm that gives up on the longest in time.
    let diff = Diff::compute(Algorithm::Myers, &input);
    let (mut old_at, mut new_at) = (0, 0);
    let mut equal = |from: usize, to: usize, old_from: usize| {
        let places = found.get_mut(from..to).unwrap_or_default();
        for (nth, place) in places.iter_mut().enumerate() {
            *place = Some(old_from + nth);
        }
    };
    for hunk in diff.hunks() {
        equal(new_at, hunk.after.start as usize, old_at);
        (old_at, new_at) = (hunk.before.end as usize, hunk.after.end as usize);
    }
    equal(new_at, input.after.len(), old_at);
    found
}

/// For each of the aligned, the place in the old text that it stands at: its own line's, else that
/// of the line it takes the place of, else that of the line before.
pub(crate) fn places(aligned: &[Option<usize>], old_len: usize) -> Vec<usize> {
    let mut places = Vec::with_capacity(aligned.len());
    // The first old line behind the last aligned one.
    let mut next = 0;
    let mut rest = aligned;
    while let Some(&first) = rest.first() {
        if let Some(old) = first {
            places.push(old);
            next = old + 1;
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let run = rest.iter().take_while(|place| place.is_none()).count();
        let end = rest.iter().find_map(|place| *place).unwrap_or(old_len);
        for nth in 0..run {
            places.push((next + nth).min(end.saturating_sub(1)));
        }
        rest = rest.get(run..).unwrap_or_default();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_are_aligned() {
        let check = |old: &str, new: &str, expected: &[Option<usize>], near: &[usize]| {
            let aligned = align(old.chars(), new.chars());
            assert_eq!(aligned, expected, "{old} {new}");
            assert_eq!(places(&aligned, old.len()), near, "{old} {new}");
        };
        check("abc", "abc", &[Some(0), Some(1), Some(2)], &[0, 1, 2]);
        check("abc", "axyc", &[Some(0), None, None, Some(2)], &[0, 1, 1, 2]);
        check("abc", "xabc", &[None, Some(0), Some(1), Some(2)], &[0, 0, 1, 2]);
        check("abc", "abcx", &[Some(0), Some(1), Some(2), None], &[0, 1, 2, 2]);
        check("", "x", &[None], &[0]);
        check("abcd", "xy", &[None, None], &[0, 1]);
    }
}

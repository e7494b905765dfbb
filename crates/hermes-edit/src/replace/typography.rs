//! A new text in the typography of the file where both are the same but for it.

use std::ops::Range;

use crate::align::align;
use crate::fold::Units;

/// `new` with the parts that are in `file` as well, typography aside, as they are in `file`.
pub(super) fn retouched(file: &str, new: &str) -> String {
    let (file_units, new_units) = (Units::of(file), Units::of(new));
    let aligned = align(file_units.chars.iter().copied(), new_units.chars.iter().copied());
    let mut out = String::with_capacity(new.len());
    let mut at = 0;
    // What is compared as nothing and stands alone is one unit without characters.
    if new_units.chars.is_empty() {
        return new.to_owned();
    }
    while let Some((chars, source)) = new_units.unit(at) {
        if let Some((end, copied)) = copy(&file_units, &new_units, &aligned, at) {
            out.push_str(file.get(copied).unwrap_or_default());
            at = end;
        } else {
            out.push_str(new.get(source).unwrap_or_default());
            at = chars.end;
        }
    }
    out
}

/// The shortest part of the file that stands for whole units of both texts from `at` on, and where
/// it ends in the new text.
fn copy(
    file: &Units,
    new: &Units,
    aligned: &[Option<usize>],
    at: usize,
) -> Option<(usize, Range<usize>)> {
    let first = (*aligned.get(at)?)?;
    let (mut from, mut to) = (at, first);
    let mut source: Option<Range<usize>> = None;
    loop {
        let (chars, part) = file.unit(to)?;
        if chars.start != to {
            return None;
        }
        for expected in chars.clone() {
            if *aligned.get(from)? != Some(expected) {
                return None;
            }
            from += 1;
        }
        to = chars.end;
        source = Some(source.map_or(part.start, |source| source.start)..part.end);
        // Both texts must be between two units here.
        if new.unit(from).is_none_or(|(chars, _)| chars.start == from) {
            return source.map(|source| (from, source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_is_unchanged_keeps_its_form() {
        for (file, new, expected) in [
            ("he said “hi” — ok", "he said \"hi\" -- fine", "he said “hi” — fine"),
            ("wait… what", "wait... who", "wait… who"),
            ("a\u{a0}b", "a c", "a\u{a0}c"),
            ("a -- b", "a — c", "a -- c"),
            ("a — b", "a - b", "a - b"),
            ("“x”", "“y”", "“y”"),
            ("a\u{200b}b", "abc", "a\u{200b}bc"),
            ("e\u{301}x", "éy", "e\u{301}y"),
            ("x", "\u{200b}", "\u{200b}"),
            ("", "a", "a"),
            ("a", "", ""),
        ] {
            assert_eq!(retouched(file, new), expected, "{file} {new}");
        }
    }
}

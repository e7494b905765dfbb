//! Which lines of a file a change is about.

use std::ops::{Range, RangeInclusive};

/// The lines that the bytes are in; a line break belongs to the line before it.
pub(crate) fn lines_of(text: &str, spans: &[Range<usize>]) -> Vec<RangeInclusive<usize>> {
    let bytes = text.as_bytes();
    let breaks = |range: Range<usize>| {
        memchr::memchr_iter(b'\n', bytes.get(range).unwrap_or_default()).count()
    };
    let (mut at, mut line) = (0, 1);
    let mut lines = Vec::with_capacity(spans.len());
    for span in spans {
        line += breaks(at..span.start);
        at = span.start;
        let last_byte = span.end.saturating_sub(1).max(span.start);
        lines.push(line..=line + breaks(span.start..last_byte));
    }
    lines
}

/// The bytes of the old text that a change is about: where lines are only added, those of the line
/// before them.
pub(crate) fn changed_span(old: &str, new: &str) -> Range<usize> {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let start = old.iter().zip(new).take_while(same).count();
    let [old_rest, new_rest] = [old, new].map(|text| text.get(start..).unwrap_or_default());
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let end = old.len() - after;
    if start < end { start..end } else { start.saturating_sub(1)..start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "lists of passages")]
    fn bytes_to_lines() {
        let text = "a\nbb\n\nd";
        for (spans, expected) in [
            (&[0..1][..], &[1..=1][..]),
            (&[0..2], &[1..=1]),
            (&[0..3], &[1..=2]),
            (&[2..4, 5..6, 6..7], &[2..=2, 3..=3, 4..=4]),
            (&[2..2], &[2..=2]),
            (&[0..7], &[1..=4]),
            (&[7..7], &[4..=4]),
            (&[], &[]),
        ] {
            assert_eq!(lines_of(text, spans), expected, "{spans:?}");
        }
    }

    #[test]
    fn what_a_change_is_about() {
        for (old, new, expected) in [
            ("a\nb\nc\n", "a\nx\nc\n", 2..=2),
            ("a\nb\nc\n", "x\nb\ny\n", 1..=3),
            ("a\nb\nc\n", "a\nb\nx\nc\n", 2..=2),
            ("a\nb\nc\n", "x\na\nb\nc\n", 1..=1),
            ("a\nb\nc\n", "a\nc\n", 2..=2),
            ("a\na\n", "a\n", 2..=2),
            ("a\nb", "a\nb\n", 2..=2),
            ("", "a\n", 1..=1),
            ("a\n", "", 1..=1),
            ("é", "è", 1..=1),
        ] {
            assert_eq!(lines_of(old, &[changed_span(old, new)]), [expected], "{old:?} {new:?}");
        }
    }
}

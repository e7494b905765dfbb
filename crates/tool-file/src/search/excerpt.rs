//! What of a line is shown: all of it, or the part around a match.

use std::borrow::Cow;
use std::ops::Range;

use hermes_fs::search::Excerpt;

use crate::text::decode_single_bytes;

/// The most characters of a line.
const MAX: usize = 500;
/// How many of them stand before the match, where the line has that many.
const BEFORE: usize = 200;
/// Stands where the line was cut.
const CUT: char = '…';

/// Shows a line without its end. `found` is where in it the match begins, in bytes.
pub(crate) fn excerpt(line: &[u8], found: usize) -> Excerpt {
    let line =
        line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
    if let Ok(text) = std::str::from_utf8(line) {
        let length = text.chars().count();
        // A match of bytes may begin within a character.
        let before = text.char_indices().take_while(|(at, _)| *at < found).count();
        return around(length, before, |part| {
            Cow::Owned(text.chars().skip(part.start).take(part.len()).collect())
        });
    }
    // Each byte is a character.
    around(line.len(), found.min(line.len()), |part| {
        decode_single_bytes(line.get(part).unwrap_or_default())
    })
}

fn around<'a>(
    length: usize,
    before: usize,
    part: impl FnOnce(Range<usize>) -> Cow<'a, str>,
) -> Excerpt {
    if length <= MAX {
        return Excerpt { text: part(0..length).into_owned(), column: None };
    }
    let start = before.saturating_sub(BEFORE);
    let end = length.min(start + MAX);
    let mut text = String::new();
    if start > 0 {
        text.push(CUT);
    }
    text.push_str(&part(start..end));
    if end < length {
        text.push(CUT);
    }
    Excerpt { text, column: Some(before + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[track_caller]
    fn check(line: &[u8], found: usize, expected: &str, column: Option<usize>) {
        assert_eq!(excerpt(line, found), Excerpt { text: expected.to_owned(), column });
    }

    #[test]
    fn short_lines_are_whole() {
        check(b"a b\r\n", 2, "a b", None);
        check(b"caf\xE9", 9, "café", None);
        check(b"", 0, "", None);
        check("ä".repeat(500).as_bytes(), 4, &"ä".repeat(500), None);
    }

    #[test]
    fn long_lines_are_shown_around_the_match() {
        let (a, b) = ("ä".repeat(1000), "ß".repeat(1000));
        let (few, rest) = ("ä".repeat(200), "ß".repeat(299));
        check(format!("{a}x{b}\n").as_bytes(), 2000, &format!("…{few}x{rest}…"), Some(1001));
        check(format!("x{b}").as_bytes(), 0, &format!("x{}…", "ß".repeat(499)), Some(1));
        check(format!("{a}x").as_bytes(), 2000, &format!("…{few}x"), Some(1001));
        let mut bytes = vec![b'a'; 1000];
        bytes.extend_from_slice(b"x\xE9");
        check(&bytes, 1000, &format!("…{}xé", "a".repeat(200)), Some(1001));
    }
}

//! One thing that is wrong with a text, and where.

use memchr::{memchr_iter, memrchr};

/// The most problems that are looked for in a text, so that those of an old and a new text can be
/// told apart.
#[cfg_attr(not(feature = "full"), allow(dead_code, reason = "formats have one problem"))]
pub(crate) const MAX_FOUND: usize = 50;
/// The most characters of a message.
const MAX_MESSAGE: usize = 200;
/// The most characters of a line that are compared.
const MAX_LINE: usize = 200;

/// What a parser makes of a text.
#[cfg_attr(not(feature = "full"), allow(dead_code, reason = "formats are always looked at"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// It parses.
    Sound,
    /// It doesn't. There is at least one problem.
    Broken(Vec<Problem>),
    /// Nobody can tell, for this reason.
    Unknown(&'static str),
}

impl From<Vec<Problem>> for Parsed {
    fn from(problems: Vec<Problem>) -> Self {
        if problems.is_empty() { Self::Sound } else { Self::Broken(problems) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    message: String,
    /// The line itself, to recognise the problem where lines were added above it.
    text: String,
}

impl Problem {
    /// A problem at a byte of the text; at its end when it isn't so long.
    pub(crate) fn at(text: &str, offset: usize, message: &str) -> Self {
        let offset = floor(text, offset);
        let before = text.get(..offset).unwrap_or_default();
        let start = memrchr(b'\n', before.as_bytes()).map_or(0, |end| end + 1);
        let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        Self {
            line: memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            message: one_line(message),
            text: line.trim().chars().take(MAX_LINE).collect(),
        }
    }

    /// A problem at a line and a byte in it, both from 1.
    pub(crate) fn at_line(text: &str, line: usize, byte: usize, message: &str) -> Self {
        let mut breaks = memchr_iter(b'\n', text.as_bytes());
        let start = match line.saturating_sub(2) {
            _ if line < 2 => 0,
            skipped => breaks.nth(skipped).map_or(text.len(), |end| end + 1),
        };
        Self::at(text, start.saturating_add(byte.saturating_sub(1)), message)
    }

    /// What makes it the same problem as one in an earlier text.
    pub(crate) fn identity(&self) -> (&str, &str) {
        (&self.message, &self.text)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The start of the character that the byte belongs to.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A message without line breaks and control characters, and not too long.
fn one_line(message: &str) -> String {
    let mut line = String::new();
    let words = message.split(|c: char| c.is_whitespace() || c.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(MAX_MESSAGE) {
            line.truncate(end);
            line.push_str("...");
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "aé\n\tb\r\nc";
        for (offset, place) in [
            (0, (1, 1)),
            (1, (1, 2)),
            (2, (1, 2)),
            (3, (1, 3)),
            (4, (2, 1)),
            (5, (2, 2)),
            (8, (3, 1)),
            (9, (3, 2)),
            (99, (3, 2)),
        ] {
            let problem = Problem::at(text, offset, "x");
            assert_eq!((problem.line, problem.column), place, "{offset}");
        }
        for (line, byte, place) in
            [(0, 0, (1, 1)), (1, 1, (1, 1)), (2, 2, (2, 2)), (3, 2, (3, 2)), (9, 9, (3, 2))]
        {
            let problem = Problem::at_line(text, line, byte, "x");
            assert_eq!((problem.line, problem.column), place, "{line} {byte}");
        }
        assert_eq!(Problem::at("", 0, "x").to_string(), "1:1: x");
    }

    #[test]
    fn messages_are_one_short_line() {
        assert_eq!(one_line(" a\n\u{1b}[31m  b "), "a [31m b");
        assert_eq!(one_line(&"é".repeat(1000)).chars().count(), MAX_MESSAGE + 3);
        assert_eq!(one_line(""), "");
    }
}

//! Lines, their indentation and their endings.

use std::borrow::Cow;

/// `text` with CR LF as LF. A CR alone is data and stays.
pub fn to_lf(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"\r\n").is_some() {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
}

impl Ending {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The ending of the first line of `text`.
    pub(crate) fn first(text: &str) -> Option<Self> {
        memchr::memchr(b'\n', text.as_bytes()).map(|at| Self::at(text, at))
    }

    /// The ending whose line feed is at `at`.
    fn at(text: &str, at: usize) -> Self {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        if before == Some(&b'\r') { Self::CrLf } else { Self::Lf }
    }

    /// The ending of most lines; LF when there is none.
    pub(crate) fn dominant(text: &str) -> Self {
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let crlf = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
        if crlf * 2 > all { Self::CrLf } else { Self::Lf }
    }
}

/// The lines of a text whose breaks are line feeds. What follows the last line feed is a line if
/// there is anything.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        starts.extend(breaks.map(|at| at + 1));
        if starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Self { text, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where the line begins; the end of the text for the line behind the last.
    pub(crate) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// Where the line ends, its line feed not included.
    pub(crate) fn end(&self, line: usize) -> usize {
        let end = self.start(line + 1);
        let broken = end > self.start(line)
            && end.checked_sub(1).and_then(|last| self.text.as_bytes().get(last)) == Some(&b'\n');
        end - usize::from(broken)
    }

    /// The line without its line feed.
    pub(crate) fn get(&self, line: usize) -> &'a str {
        self.text.get(self.start(line)..self.end(line)).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        (0..self.len()).map(|line| self.get(line))
    }

    /// The index of the line that the place is in.
    pub(crate) fn at(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start <= place).saturating_sub(1)
    }
}

/// Whether a character is one of those at the ends of lines that are no text.
pub(crate) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\u{b}' | '\u{c}')
}

/// The line without blanks at its ends.
pub(crate) fn trimmed(line: &str) -> &str {
    line.trim_matches(is_blank)
}

/// The line without blanks at its end.
pub(crate) fn trimmed_end(line: &str) -> &str {
    line.trim_end_matches(is_blank)
}

/// The blanks and tabs that a line begins with.
pub(crate) fn indent(line: &str) -> &str {
    let body = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - body.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_by_number() {
        let lines = Lines::of("a\n\nbc");
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["a", "", "bc"]);
        assert_eq!((lines.start(2), lines.end(2), lines.start(3)), (3, 5, 5));
        assert_eq!([0, 1, 2, 4, 5].map(|place| lines.at(place)), [0, 0, 1, 2, 2]);
        assert_eq!(Lines::of("a\n").len(), 1);
        assert_eq!(Lines::of("\n").iter().collect::<Vec<_>>(), [""]);
        assert_eq!(Lines::of("").len(), 0);
    }

    #[test]
    fn endings() {
        assert_eq!(Ending::first("a\r\nb\n"), Some(Ending::CrLf));
        assert_eq!(Ending::first("a\nb\r\n"), Some(Ending::Lf));
        assert_eq!(Ending::first("a\r"), None);
        assert_eq!(Ending::dominant("\r\n\r\n\n"), Ending::CrLf);
        assert_eq!(Ending::dominant("\r\n\n"), Ending::Lf);
    }

    #[test]
    fn blanks() {
        assert_eq!(trimmed(" \ta b\r"), "a b");
        assert_eq!(trimmed("\u{a0}a"), "\u{a0}a");
        assert_eq!(indent(" \t a"), " \t ");
        assert_eq!(indent("  "), "  ");
    }
}

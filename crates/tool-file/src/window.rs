//! Some lines out of a stream of any size, in memory that depends on the lines shown only.

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::WINDOWS_1252;

use crate::detect::Detector;
use crate::text::{Encoding, Utf16Reader, decode_legacy};

/// What stands behind a line that was cut.
const CUT: &str = "... [truncated]";

/// How much is read at a time.
const PIECE: usize = 64 * 1024;

/// What to show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// The first line, from 1 on.
    pub(crate) offset: usize,
    /// The most lines.
    pub(crate) limit: usize,
    /// The most characters, line numbers included.
    pub(crate) max_chars: usize,
    /// The most characters of a line.
    pub(crate) max_line_length: usize,
}

/// Lines as they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Rows of line number, `|` and text, joined by newlines.
    pub(crate) content: String,
    /// How many lines there are shown.
    pub(crate) shown: usize,
    /// How many lines the stream has.
    pub(crate) total_lines: usize,
    /// The character budget ended the window before its limit.
    pub(crate) over_budget: bool,
    /// The first line alone exceeds the budget and was cut.
    pub(crate) first_line_cut: bool,
    /// How the bytes were read.
    pub(crate) encoding: Encoding,
}

/// Reads the stream to its end, keeping the lines asked for.
///
/// `head` are the bytes that were read to look at, `rest` the others. `check` is asked after each
/// piece whether to go on.
pub(crate) fn read_window<E: From<io::Error>>(
    head: &[u8],
    rest: impl Read,
    request: Request,
    check: impl FnMut() -> Result<(), E>,
) -> Result<Window, E> {
    let marked = Encoding::of_bom(head);
    let (encoding, skip) = marked.unwrap_or_default();
    let stream = head.get(skip..).unwrap_or_default().chain(rest);
    let mut lines = Lines::new(request);
    if matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be) {
        lines.take_all(Utf16Reader::new(stream, encoding), check)?;
        return Ok(lines.finish(encoding));
    }
    lines.take_all(stream, check)?;
    let encoding = match std::mem::take(&mut lines.detector).finish() {
        // Bytes that belie their mark are taken one by one.
        Encoding::Legacy(_) if marked.is_some() => Encoding::Legacy(WINDOWS_1252),
        encoding => encoding,
    };
    Ok(lines.finish(encoding))
}

struct Lines {
    request: Request,
    detector: Detector,
    /// The lines kept, each no longer than what could be shown of it.
    kept: Vec<Vec<u8>>,
    kept_bytes: usize,
    line_bytes: usize,
    max_bytes: usize,
    /// The number of the line that is being read.
    number: usize,
    /// Whether anything of that line was read.
    started: bool,
}

impl Lines {
    fn new(request: Request) -> Self {
        // A character has at most four bytes; one more tells that a line is too long, and one
        // for the CR before its end.
        let line_chars = request.max_line_length.min(request.max_chars).saturating_add(2);
        let line_bytes = line_chars.saturating_mul(4);
        Self {
            request,
            detector: Detector::default(),
            kept: Vec::new(),
            kept_bytes: 0,
            line_bytes,
            max_bytes: request.max_chars.saturating_mul(4).saturating_add(line_bytes),
            number: 1,
            started: false,
        }
    }

    fn take_all<E: From<io::Error>>(
        &mut self,
        mut stream: impl Read,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut piece = vec![0; PIECE];
        loop {
            check()?;
            let read = match stream.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(err.into()),
            };
            self.take(piece.get(..read).unwrap_or_default());
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.detector.push(piece);
        let mut rest = piece;
        while !rest.is_empty() {
            if self.is_past_window() {
                // Nothing more is kept: count and be done.
                let breaks = memchr::memchr_iter(b'\n', rest).count();
                self.number += breaks;
                self.started = rest.last() != Some(&b'\n');
                return;
            }
            let end = memchr::memchr(b'\n', rest);
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.keep(line);
            self.started = true;
            rest = after;
            if let Some((_, after)) = after.split_first() {
                self.number += 1;
                self.started = false;
                rest = after;
            }
        }
    }

    fn is_past_window(&self) -> bool {
        self.number.saturating_sub(self.request.offset) >= self.request.limit
            || self.kept_bytes > self.max_bytes
    }

    fn keep(&mut self, part: &[u8]) {
        if self.number < self.request.offset {
            return;
        }
        if !self.started {
            self.kept.push(Vec::new());
            self.kept_bytes += 1;
        }
        if let Some(line) = self.kept.last_mut() {
            let room = self.line_bytes.saturating_sub(line.len());
            let part = part.get(..room).unwrap_or(part);
            line.extend_from_slice(part);
            self.kept_bytes += part.len();
        }
    }

    fn finish(self, encoding: Encoding) -> Window {
        let total_lines = if self.started { self.number } else { self.number - 1 };
        let mut window = Window {
            content: String::new(),
            shown: 0,
            total_lines,
            over_budget: false,
            first_line_cut: false,
            encoding,
        };
        let mut budget = self.request.max_chars;
        let asked = self.request.limit.min((total_lines + 1).saturating_sub(self.request.offset));
        for (index, line) in self.kept.iter().enumerate() {
            let number = self.request.offset + index;
            let ended = number < total_lines || !self.started;
            let text = show_line(line, ended, encoding, self.request.max_line_length);
            let row = format!("{number}|{text}");
            let separator = usize::from(index > 0);
            let Some(left) = budget.checked_sub(row.chars().count() + separator) else {
                if index == 0 {
                    window.content = row.chars().take(budget).collect();
                    window.shown = 1;
                    window.first_line_cut = true;
                }
                break;
            };
            budget = left;
            if index > 0 {
                window.content.push('\n');
            }
            window.content.push_str(&row);
            window.shown += 1;
        }
        window.over_budget = window.shown < asked || window.first_line_cut;
        window
    }
}

fn show_line(line: &[u8], ended: bool, encoding: Encoding, max_chars: usize) -> String {
    let line = if ended { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
    let text = match encoding {
        Encoding::Legacy(encoding) => decode_legacy(line, encoding),
        // Only the far end of a line that is cut anyway can be malformed.
        _ => String::from_utf8_lossy(line),
    };
    cut_line(&text, max_chars).into_owned()
}

fn cut_line(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => Cow::Owned(format!("{}{CUT}", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const ALL: Request = Request { offset: 1, limit: 500, max_chars: 1000, max_line_length: 100 };

    fn read(bytes: &[u8], request: Request) -> Window {
        // In two parts, as `head` and `rest`.
        let (head, rest) = bytes.split_at(bytes.len().min(3));
        read_window::<io::Error>(head, rest, request, || Ok(())).unwrap()
    }

    fn check(bytes: &[u8], expected: &str, total: usize) {
        let window = read(bytes, ALL);
        assert_eq!((window.content.as_str(), window.total_lines), (expected, total));
    }

    #[test]
    fn lines_are_counted_and_numbered() {
        check(b"a\nb\nc\n", "1|a\n2|b\n3|c", 3);
        check(b"a\nb", "1|a\n2|b", 2);
        check(b"", "", 0);
        check(b"\n", "1|", 1);
        check(b"\n\n", "1|\n2|", 2);
        check(b"a\r\nb\rc\r\n\r\n", "1|a\n2|b\rc\n3|", 3);
        check(b"a\r", "1|a\r", 1);
        check(b"\xEF\xBB\xBFa\tb\n  c|d", "1|a\tb\n2|  c|d", 2);
        check(b"\xEF\xBB\xBF", "", 0);
        check(b"caf\xE9\n", "1|café", 1);
        check(b"\xFF\xFEa\0\r\0\n\0\xE4\0", "1|a\n2|ä", 2);
        check(b"\xFE\xFF\0a\0\n", "1|a", 1);
        check(b"\xFF\xFEa\0b", "1|a\u{fffd}", 1);
    }

    #[test]
    fn windows() {
        let window = |offset, limit| {
            let window = read(b"a\nb\nc\n", Request { offset, limit, ..ALL });
            (window.content, window.shown, window.total_lines, window.over_budget)
        };
        assert_eq!(window(2, 1), ("2|b".into(), 1, 3, false));
        assert_eq!(window(3, 5), ("3|c".into(), 1, 3, false));
        assert_eq!(window(4, 5), (String::new(), 0, 3, false));
        assert_eq!(window(usize::MAX, usize::MAX), (String::new(), 0, 3, false));
    }

    #[test]
    fn the_budget_keeps_whole_lines_and_cuts_a_first_line_that_is_too_long() {
        let request = Request { max_chars: 7, ..ALL };
        let window = read("ä\nö\nü\n".as_bytes(), request);
        assert_eq!((window.content.as_str(), window.shown), ("1|ä\n2|ö", 2));
        assert!(window.over_budget && !window.first_line_cut);
        let window = read(b"0123456789\nb\n", request);
        assert_eq!((window.content.as_str(), window.total_lines), ("1|01234", 2));
        assert!(window.over_budget && window.first_line_cut);
    }

    #[test]
    fn long_lines_are_cut_by_characters() {
        let request = Request { max_line_length: 3, ..ALL };
        assert_eq!(
            read("äöüß\r\nabc\r\n".as_bytes(), request).content,
            "1|äöü... [truncated]\n2|abc"
        );
    }

    #[test]
    fn memory_is_bounded_by_what_is_shown() {
        let line = vec![b'x'; 10_000_000];
        let mut lines = Lines::new(ALL);
        lines.take(&line);
        assert_eq!(lines.kept_bytes, 409);
        for _ in 0..100_000 {
            lines.take(b"abc\n");
        }
        assert!(lines.kept_bytes < 5000);
        assert_eq!(lines.number, 100_001);
    }

    #[test]
    fn reading_stops_when_told() {
        let stopped = read_window(b"a", io::repeat(b'a'), ALL, || Err(io::Error::other("stop")));
        assert!(stopped.is_err());
    }
}

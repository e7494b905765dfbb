//! The last of a background process's output.

use std::collections::VecDeque;

use memchr::{memchr_iter, memrchr_iter};

use crate::Cleaner;

/// How much of a process's output is kept when nothing else is said, in characters.
pub const DEFAULT_RING: usize = 200_000;

/// How far somebody has read in a [`Ring`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Where the settled text was read to, in bytes and in characters since the start.
    at: u64,
    chars: u64,
    /// The open line as it was shown.
    shown: String,
}

/// Most bytes of the output before a part of it that come with that part: what is written over
/// several lines, such as a key, is known by how it begins.
pub const CONTEXT: usize = 8 * 1024;

/// What came since somebody read last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// What was read before and stands right before it: up to [`CONTEXT`] bytes, from the beginning
    /// of a line where one begins in them.
    pub before: String,
    /// What is new.
    pub text: String,
    /// How many characters were dropped before anybody read them.
    pub lost: u64,
}

/// Lines of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// What stands before these lines: up to [`CONTEXT`] bytes.
    pub before: String,
    /// The lines, without a line feed at the end.
    pub text: String,
    /// The number of the first of them since the start of the process, from 0.
    pub first_line: u64,
    /// How many there are.
    pub lines: usize,
    /// How many lines the process wrote, with those that aren't kept any more.
    pub total_lines: u64,
    /// How many lines aren't kept any more.
    pub dropped_lines: u64,
    /// How many characters aren't kept any more.
    pub dropped_chars: u64,
    /// Whether the start of the first of these lines isn't kept any more.
    pub is_cut: bool,
}

impl Page {
    /// Whether the beginning of the output was lost.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.dropped_chars > 0
    }
}

/// Keeps the last of a process's output as clean text.
///
/// Bytes go through a [`Cleaner`]; the line that isn't ended is seen as it looks now.
///
/// ```
/// use hermes_terminal::{Cursor, Ring};
///
/// let mut ring = Ring::new(200_000);
/// let mut cursor = Cursor::default();
/// ring.push(b"one\ntwo\n50 %");
/// assert_eq!(ring.page(Some(1), 1).text, "two");
/// assert_eq!(ring.read_new(&mut cursor).text, "one\ntwo\n50 %");
/// ring.push(b"\r100 %\n");
/// assert_eq!(ring.read_new(&mut cursor).text, "100 %\n");
/// assert_eq!(ring.preview(7), "\n100 %\n");
/// ```
#[derive(Clone, Debug)]
pub struct Ring {
    cleaner: Cleaner,
    kept: Kept,
}

impl Default for Ring {
    fn default() -> Self {
        Self::new(DEFAULT_RING)
    }
}

impl Ring {
    /// Keeps so many characters.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { cleaner: Cleaner::default(), kept: Kept { most, ..Kept::default() } }
    }

    /// Adds output.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { cleaner, kept } = self;
        cleaner.push(bytes, &mut |text| kept.push(text));
    }

    /// Ends the output.
    pub fn finish(&mut self) {
        let Self { cleaner, kept } = self;
        cleaner.finish(&mut |text| kept.push(text));
    }

    /// All that is kept.
    #[must_use]
    pub fn text(&self) -> String {
        self.from(0)
    }

    /// The last so many characters.
    #[must_use]
    pub fn preview(&self, chars: usize) -> String {
        // A character has four bytes at most.
        let start = self.kept.text.len().saturating_sub(chars.saturating_mul(4));
        let mut text = self.from(start);
        let surplus = text.chars().count().saturating_sub(chars);
        let at = text.char_indices().nth(surplus).map_or(text.len(), |(at, _)| at);
        text.drain(..at);
        text
    }

    /// What came since the cursor was used last, and moves it. Of an open line that only grew, what
    /// is new; of one that was written anew, all of it.
    pub fn read_new(&self, cursor: &mut Cursor) -> News {
        let read = cursor.at.checked_sub(self.kept.dropped_bytes);
        let read = read.map(|read| usize::try_from(read).unwrap_or(usize::MAX));
        let start = read.unwrap_or(0).min(self.kept.text.len());
        let context = start.saturating_sub(CONTEXT);
        let mut before = self.from(context);
        // From the end, since the first character may have been cut.
        let unread = self.kept.text.len() - start + self.cleaner.open_line().len();
        let mut text = before.split_off(before.len() - unread);
        if read.is_some() && text.starts_with(&cursor.shown) {
            before.extend(text.drain(..cursor.shown.len()));
        }
        from_line(&mut before, context == 0);
        let seen = cursor.chars + cursor.shown.chars().count() as u64;
        let lost = self.kept.dropped_chars.saturating_sub(seen);
        cursor.at = self.kept.dropped_bytes + self.kept.text.len() as u64;
        cursor.chars = self.kept.dropped_chars + self.kept.chars as u64;
        cursor.shown.clear();
        cursor.shown.push_str(self.cleaner.open_line());
        News { before, text, lost }
    }

    /// Some lines: without an offset the last `limit`, else from that line on. Lines count from the
    /// start of the process, from 0; a negative offset counts from the end. What isn't kept any
    /// more is passed over.
    #[must_use]
    pub fn page(&self, offset: Option<i64>, limit: usize) -> Page {
        let text = self.text();
        let ends = memchr_iter(b'\n', text.as_bytes()).count();
        let lines = ends + usize::from(!text.is_empty() && !text.ends_with('\n'));
        let dropped = self.kept.dropped_lines;
        let total = dropped + lines as u64;
        let wanted = match offset {
            None => total.saturating_sub(limit as u64),
            Some(offset) => u64::try_from(offset)
                .unwrap_or_else(|_| total.saturating_sub(offset.unsigned_abs())),
        };
        let first = usize::try_from(wanted.saturating_sub(dropped)).unwrap_or(lines).min(lines);
        let shown: Vec<&str> = text.split('\n').take(lines).skip(first).take(limit).collect();
        let begin = match first.checked_sub(1) {
            None => 0,
            Some(end) => {
                memchr_iter(b'\n', text.as_bytes()).nth(end).map_or(text.len(), |at| at + 1)
            }
        };
        let context = text.ceil_char_boundary(begin.saturating_sub(CONTEXT));
        let mut before = text.get(context..begin).unwrap_or_default().to_owned();
        from_line(&mut before, context == 0);
        Page {
            before,
            text: shown.join("\n"),
            first_line: dropped + first as u64,
            lines: shown.len(),
            total_lines: total,
            dropped_lines: dropped,
            dropped_chars: self.kept.dropped_chars,
            is_cut: first == 0 && !shown.is_empty() && self.kept.is_cut,
        }
    }

    /// How many characters were written, with those that aren't kept any more.
    #[must_use]
    pub fn total_chars(&self) -> u64 {
        let open = self.cleaner.open_line().chars().count();
        self.kept.dropped_chars + (self.kept.chars + open) as u64
    }

    /// The last line, without the line feed that ends it.
    #[must_use]
    pub fn last_line(&self) -> String {
        let open = self.cleaner.open_line();
        if !open.is_empty() {
            return open.to_owned();
        }
        let (older, newer) = self.kept.text.as_slices();
        let ends = memrchr_iter(b'\n', newer).map(|at| older.len() + at);
        let mut starts = ends.chain(memrchr_iter(b'\n', older)).map(|at| at + 1);
        let length = self.kept.text.len();
        let start = starts.find(|start| *start < length).unwrap_or(0);
        let mut line = self.from(start);
        if line.ends_with('\n') {
            line.pop();
        }
        line
    }

    /// The text from a byte of what is kept on, or from the next character.
    fn from(&self, at: usize) -> String {
        let (older, newer) = self.kept.text.as_slices();
        let mut bytes = Vec::with_capacity(self.kept.text.len().saturating_sub(at));
        bytes.extend_from_slice(older.get(at..).unwrap_or_default());
        bytes.extend_from_slice(newer.get(at.saturating_sub(older.len())..).unwrap_or_default());
        let inner = bytes.iter().take_while(|byte| !is_start(byte)).count();
        bytes.drain(..inner);
        let mut text = String::from_utf8(bytes).unwrap_or_default();
        text.push_str(self.cleaner.open_line());
        text
    }
}

/// Cuts what is before the first line that begins in a text, if one does.
fn from_line(text: &mut String, is_whole: bool) {
    if let Some(at) = text.find('\n').filter(|_| !is_whole) {
        text.drain(..=at);
    }
}

/// The text that won't change any more.
#[derive(Clone, Debug, Default)]
struct Kept {
    text: VecDeque<u8>,
    /// Characters in `text`, and the most that are kept.
    chars: usize,
    most: usize,
    /// What was dropped from the front.
    dropped_bytes: u64,
    dropped_chars: u64,
    dropped_lines: u64,
    /// Whether `text` begins inside of a line.
    is_cut: bool,
}

impl Kept {
    fn push(&mut self, text: &str) {
        self.text.extend(text.as_bytes());
        self.chars += text.chars().count();
        let surplus = self.chars.saturating_sub(self.most);
        if surplus == 0 {
            return;
        }
        let bytes = if self.text.len() == self.chars {
            surplus
        } else {
            let mut starts = self.text.iter().enumerate().filter(|(_, byte)| is_start(byte));
            starts.nth(surplus).map_or(self.text.len(), |(at, _)| at)
        };
        let (older, newer) = self.text.as_slices();
        let lines = |part: &[u8], length: usize| {
            memchr_iter(b'\n', part.get(..length.min(part.len())).unwrap_or_default()).count()
        };
        let lines = lines(older, bytes) + lines(newer, bytes.saturating_sub(older.len()));
        let last = self.text.drain(..bytes).next_back();
        self.is_cut = last.is_some_and(|it| it != b'\n');
        self.chars -= surplus;
        self.dropped_bytes += bytes as u64;
        self.dropped_chars += surplus as u64;
        self.dropped_lines += lines as u64;
    }
}

/// Whether a byte is the first of a character.
const fn is_start(byte: &u8) -> bool {
    (*byte & 0xC0) != 0x80
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;

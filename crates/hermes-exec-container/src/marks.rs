//! What the shell around a command says in between the command's own output.

use memchr::{memchr, memmem};

use crate::census::Leader;
use crate::wrapper::MARK;

/// Bytes of the longest line of a mark after its name.
const LINE: usize = 1024;

/// Something that the shell said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It begins.
    Start(Leader),
    /// There is no bash.
    NoBash,
    /// The command has ended, with this code.
    Exit(i32),
}

/// A mark, and how much of the command's own text was there before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) at: usize,
    pub(crate) mark: Mark,
}

/// Takes a command's marks out of what is read, in pieces of any size.
#[derive(Debug)]
pub(crate) struct Marks {
    needle: Vec<u8>,
    /// What may be the beginning of a mark.
    held: Vec<u8>,
}

impl Marks {
    pub(crate) fn new(name: &str) -> Self {
        let mut needle = vec![MARK];
        needle.extend_from_slice(name.as_bytes());
        needle.push(b' ');
        Self { needle, held: Vec::new() }
    }

    /// Adds to `out` what the command itself wrote, and to `found` what was said in between.
    pub(crate) fn feed(&mut self, piece: &[u8], out: &mut Vec<u8>, found: &mut Vec<Found>) {
        if self.held.is_empty() && memchr(MARK, piece).is_none() {
            out.extend_from_slice(piece);
            return;
        }
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(piece);
        let mut rest = text.as_slice();
        while let Some(at) = memmem::find(rest, &self.needle) {
            let (before, mark) = rest.split_at(at);
            let line = mark.get(self.needle.len()..).unwrap_or_default();
            let Some(end) = memchr(b'\n', line) else {
                if line.len() > LINE {
                    // Not ours, whatever it is.
                    break;
                }
                out.extend_from_slice(before);
                self.held = mark.to_vec();
                return;
            };
            out.extend_from_slice(before);
            let (line, after) = line.split_at(end);
            found.extend(read(line).map(|mark| Found { at: out.len(), mark }));
            rest = after.get(1..).unwrap_or_default();
        }
        let keep = self.beginning(rest);
        let (own, held) = rest.split_at(rest.len() - keep);
        out.extend_from_slice(own);
        self.held = held.to_vec();
    }

    /// What was held back, when nothing comes any more.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// How many bytes at the end of `text` may be the beginning of a mark.
    fn beginning(&self, text: &[u8]) -> usize {
        let longest = self.needle.len().min(text.len());
        let ends = (1..=longest).rev();
        ends.into_iter()
            .find(|n| text.ends_with(self.needle.get(..*n).unwrap_or(b"?")))
            .unwrap_or(0)
    }
}

/// A line of a mark. A terminal puts a carriage return before its end.
fn read(line: &[u8]) -> Option<Mark> {
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let mut words = line.split_ascii_whitespace();
    match words.next()? {
        "start" => {
            let pid = words.next()?.parse().ok()?;
            // From the state, the third field of a process's line, to the 22nd.
            let started = words.nth(19).and_then(|word| word.parse().ok());
            Some(Mark::Start(Leader { pid, started }))
        }
        "nobash" => Some(Mark::NoBash),
        "exit" => words.next()?.parse().ok().map(Mark::Exit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    fn fed(pieces: &[&[u8]]) -> (String, Vec<Mark>) {
        let (mut marks, mut out, mut found) = (Marks::new("abc"), Vec::new(), Vec::new());
        for piece in pieces {
            marks.feed(piece, &mut out, &mut found);
        }
        out.extend(marks.rest());
        let marks = found.into_iter().map(|found| found.mark).collect();
        (String::from_utf8(out).unwrap(), marks)
    }

    #[test]
    fn marks_are_taken_out() {
        let start = "S 0 7 7 0 -1 4 5 6 0 1 0 3 0 0 0 20 0 1 4711 9 2";
        let text = format!("\x1eabc start 7 {start}\nhi\x1eabc exit 3\n there");
        let expected = vec![Mark::Start(Leader { pid: 7, started: Some(4711) }), Mark::Exit(3)];
        assert_eq!(fed(&[text.as_bytes()]), ("hi there".to_owned(), expected));
        assert_eq!(
            fed(&[b"\x1eabc start 9 \r\n"]).1,
            [Mark::Start(Leader { pid: 9, started: None })]
        );
        assert_eq!(fed(&[b"\x1eabc nobash\n"]), (String::new(), vec![Mark::NoBash]));
    }

    #[test]
    fn other_text_stays() {
        for text in ["\x1eabd exit 1\n", "\x1e", "\x1eabc", "a\x1eab", "\x1e\x1eab"] {
            assert_eq!(fed(&[text.as_bytes()]), (text.to_owned(), vec![]));
        }
        let long = format!("\x1eabc {}", "x".repeat(2 * LINE));
        assert_eq!(fed(&[long.as_bytes()]).0, long);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in prop::collection::vec("[\x1eabc \n]{0,5}|\x1eabc exit 3\n", 0..8),
            cuts in prop::collection::vec(0usize..60, 0..6),
        ) {
            let text = parts.concat();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> =
                cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(fed(&pieces), fed(&[text.as_bytes()]));
        }
    }
}

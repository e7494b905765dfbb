//! Lines as they look in the end: a progress bar leaves its last state.

use memchr::{memchr2, memrchr};

/// Longest line that may still change, in bytes. A longer one is no progress bar.
const MOST_OPEN: usize = 16 * 1024;

/// Keeps of each line what was written last from its start on.
///
/// After a carriage return the line is written anew: what follows replaces all of it, since what
/// cleared the rest was an escape sequence that is gone by now. A backspace takes a character back.
/// `\r\n` is the end of a line.
///
/// ```
/// let mut settler = hermes_terminal::Settler::default();
/// let mut text = String::new();
/// settler.push(" 10 %\r 90 %\r100 %\ndone\r\n", &mut |part| text.push_str(part));
/// assert_eq!(text, "100 %\ndone\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settler {
    /// The line that may still change.
    line: String,
    /// Whether what follows is written from the start of the line.
    is_returned: bool,
    /// Whether the start of the line was given out: it was too long to wait.
    is_given: bool,
}

impl Settler {
    /// Reads the next piece, and gives `out` the lines that won't change any more.
    pub fn push(&mut self, text: &str, out: &mut impl FnMut(&str)) {
        let mut rest = text;
        while let Some(at) = memchr2(b'\r', 0x08, rest.as_bytes()) {
            let (before, after) = rest.split_at(at);
            self.plain(before, out);
            if after.starts_with('\r') {
                self.is_returned = true;
            } else if !self.is_returned {
                self.line.pop();
            }
            rest = after.split_at(1).1;
        }
        self.plain(rest, out);
    }

    /// Gives `out` the line that the text ends in.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        if !self.line.is_empty() {
            out(&self.line);
        }
        *self = Self::default();
    }

    /// The last line as it looks now, if it isn't ended. Of a very long line nothing.
    #[must_use]
    pub fn open_line(&self) -> &str {
        &self.line
    }

    /// Text without carriage returns and backspaces.
    fn plain(&mut self, text: &str, out: &mut impl FnMut(&str)) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_returned) && !text.starts_with('\n') {
            self.line.clear();
            if std::mem::take(&mut self.is_given) {
                out("\n");
            }
        }
        let open = match memrchr(b'\n', text.as_bytes()) {
            Some(at) => {
                let (lines, open) = text.split_at(at + 1);
                if !self.line.is_empty() {
                    out(&self.line);
                    self.line.clear();
                }
                self.is_given = false;
                out(lines);
                open
            }
            None => text,
        };
        if self.line.len() + open.len() > MOST_OPEN {
            if !self.line.is_empty() {
                out(&self.line);
                self.line.clear();
            }
            self.is_given = true;
        }
        if self.is_given {
            if !open.is_empty() {
                out(open);
            }
        } else {
            self.line.push_str(open);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settled<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut settler = Settler::default();
        let mut text = String::new();
        for piece in pieces {
            settler.push(piece, &mut |part| text.push_str(part));
        }
        settler.finish(&mut |part| text.push_str(part));
        text
    }

    #[test]
    fn the_last_state_stays() {
        for (text, expected) in [
            ("a\nb", "a\nb"),
            ("10%\r20%\r100%\n", "100%\n"),
            ("10%\r20%\r", "20%"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\r\r\nb", "a\nb"),
            ("Downloading\rDone\nx", "Done\nx"),
            ("N\x08Na\x08am", "Nam"),
            ("|\x08/\x08-\x08", ""),
            ("\x08\x08a", "a"),
            ("", ""),
            ("\r\n\r\n", "\n\n"),
        ] {
            assert_eq!(settled([text]), expected, "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_passed_on() {
        let line = "x".repeat(MOST_OPEN + 1);
        let mut settler = Settler::default();
        let mut text = String::new();
        settler.push(&line, &mut |part| text.push_str(part));
        assert_eq!(text.len(), line.len());
        assert_eq!(settler.open_line(), "");
        // What was given out can't be taken back.
        settler.push("\rnew\r\n", &mut |part| text.push_str(part));
        assert_eq!(text, format!("{line}\nnew\n"));
    }

    #[test]
    fn the_open_line_is_seen() {
        let mut settler = Settler::default();
        settler.push("a\nPassword: ", &mut |_| {});
        assert_eq!(settler.open_line(), "Password: ");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ab\r\n\x08é]{0,40}", size in 1usize..6) {
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(|it| it.iter().collect()).collect();
            prop_assert_eq!(settled(pieces.iter().map(String::as_str)), settled([text.as_str()]));
        }
    }
}

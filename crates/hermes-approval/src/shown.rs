//! What people see of a command: everything but its secrets.

use std::ops::Range;

use hermes_guard::redact::{Mode, redact};

/// A command with its secrets masked, and where its parts are now.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The command as it is shown.
    pub(crate) text: String,
    /// How many bytes at the beginning are as they were.
    same_start: usize,
    /// How many at the end.
    same_end: usize,
    original: usize,
}

impl Shown {
    pub(crate) fn new(command: &str) -> Self {
        let text = redact(command, Mode::Log).into_owned();
        let pairs = command.char_indices().zip(text.chars());
        let same_start = pairs
            .take_while(|((_, a), b)| a == b)
            .last()
            .map_or(0, |((at, c), _)| at + c.len_utf8());
        let rest = |whole: &str| {
            whole.get(same_start..).unwrap_or_default().chars().rev().collect::<Vec<_>>()
        };
        let ends = rest(command).into_iter().zip(rest(&text));
        let same_end = ends.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        Self { text, same_start, same_end, original: command.len() }
    }

    /// Where a part of the command is in the shown text. A part that lies where something was
    /// masked is widened over it.
    pub(crate) fn span(&self, span: &Range<usize>) -> Range<usize> {
        let end_of_change = self.text.len() - self.same_end;
        let moved = |at: usize| (at + self.text.len()).saturating_sub(self.original);
        let behind = self.original - self.same_end;
        let start = if span.start <= self.same_start {
            span.start
        } else if span.start >= behind {
            moved(span.start)
        } else {
            self.same_start
        };
        let end = if span.end >= behind && self.same_start < self.original {
            moved(span.end)
        } else if span.end <= self.same_start {
            span.end
        } else {
            end_of_change
        };
        let start = floor(&self.text, start);
        start..floor(&self.text, end).max(start)
    }
}

/// The last place at or before `at` where a text can be cut.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A text for people on one line, secrets masked, cut to a number of characters.
pub(crate) fn line(text: &str, max: usize) -> String {
    let cut: String = text.chars().take(4 * max).collect();
    let text = redact(&cut, Mode::Log);
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = chars.by_ref().take(max).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

    #[test]
    fn parts_are_found_again_beside_secrets() {
        let part = |command: &str, part: &str| {
            let start = command.find(part).unwrap();
            let shown = Shown::new(command);
            let span = shown.span(&(start..start + part.len()));
            assert!(!shown.text.contains(TOKEN));
            shown.text.get(span).unwrap().to_owned()
        };
        assert_eq!(part("ls; rm -rf x", "rm -rf x"), "rm -rf x");
        assert_eq!(part(&format!("rm -rf x; echo {TOKEN}; ls"), "rm -rf x"), "rm -rf x");
        assert_eq!(part(&format!("echo {TOKEN}; rm -rf é"), "rm -rf é"), "rm -rf é");
        let two = format!("echo {TOKEN}; rm -rf x; echo {TOKEN}");
        assert!(part(&two, "rm -rf x").contains("rm -rf x"));
    }

    proptest! {
        #[test]
        fn spans_never_leave_the_text(
            before in "[a-zé ;]{0,12}", middle in "[a-zé ;]{0,6}", after in "[a-zé ;]{0,12}",
            a in 0_usize..200, b in 0_usize..200,
        ) {
            let shown = Shown::new(&format!("{before} {TOKEN} {middle} {TOKEN} {after}"));
            let span = shown.span(&(a.min(b)..a.max(b)));
            prop_assert!(shown.text.get(span).is_some());
        }
    }
}

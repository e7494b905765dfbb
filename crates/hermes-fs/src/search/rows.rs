//! Rows out of the lines of a file as they come by.

use std::collections::VecDeque;

use super::{Excerpt, Row, Show};

/// Collects the rows of one file.
pub(crate) struct Rows {
    show: Show,
    skip: u64,
    take: usize,
    context: usize,
    rows: Vec<Row>,
    /// The last lines seen, as context for the next row.
    recent: VecDeque<(u64, String)>,
}

impl Rows {
    /// `take` rows from number `skip` on, each with `context` lines around it.
    pub(crate) fn new(show: Show, skip: u64, take: usize, context: usize) -> Self {
        Self { show, skip, take, context, rows: Vec::new(), recent: VecDeque::new() }
    }

    /// A match that begins at byte `start` of `bytes`, which are whole lines from number `line` on.
    /// `start` is only asked for where it is needed.
    pub(crate) fn matched(&mut self, line: u64, bytes: &[u8], start: impl FnOnce() -> usize) {
        let wanted = self.skip == 0 && self.rows.len() < self.take;
        self.skip = self.skip.saturating_sub(1);
        let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
        let start = if wanted { start() } else { 0 };
        let Excerpt { text, column } = (self.show)(lines.next().unwrap_or_default(), start);
        let rest: Vec<String> = lines.map(|line| (self.show)(line, 0).text).collect();
        let end_line = line + rest.len() as u64;
        let earliest = line.saturating_sub(self.context as u64);
        let before: Vec<String> = self
            .recent
            .iter()
            .filter(|(number, _)| (earliest..line).contains(number))
            .map(|(_, text)| text.clone())
            .collect();
        self.see(line, &text);
        for (number, text) in (line + 1..).zip(&rest) {
            self.see(number, text);
        }
        if wanted {
            self.rows.push(Row { line, end_line, text, column, before, after: Vec::new() });
        }
    }

    /// A line that doesn't match.
    pub(crate) fn passed(&mut self, line: u64, bytes: &[u8]) {
        let text = (self.show)(bytes, 0).text;
        self.see(line, &text);
    }

    /// Forgets everything: the file turned out to be binary.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// The rows.
    pub(crate) fn finish(self) -> Vec<Row> {
        self.rows
    }

    fn see(&mut self, line: u64, text: &str) {
        for row in self.rows.iter_mut().rev() {
            if row.end_line.saturating_add(self.context as u64) < line {
                break;
            }
            if row.end_line < line {
                row.after.push(text.to_owned());
            }
        }
        if self.context > 0 {
            if self.recent.len() == self.context {
                self.recent.pop_front();
            }
            self.recent.push_back((line, text.to_owned()));
        }
    }
}

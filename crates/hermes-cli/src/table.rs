//! Tables for people: columns as wide as their cells, the last one wrapped to the terminal.

use std::io::{self, Write as _};

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::output::Output;
use crate::style::BOLD;

const GAP: &str = "  ";

/// A last column narrower than this is not wrapped: it would be a column of syllables.
const MIN_LAST: usize = 16;

/// A text and how it looks.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    /// The same cell in another style.
    pub(crate) fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// A number, aligned to the right.
    pub(crate) fn number(number: u64) -> Self {
        Self { right: true, ..Self::from(grouped(number)) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::new(), right: false }
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Rows under a heading.
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with the given headings; without any there is no heading row.
    pub(crate) fn new<'h>(headings: impl IntoIterator<Item = &'h str>) -> Self {
        let heading: Vec<Cell> =
            headings.into_iter().map(|text| Cell::from(text).styled(BOLD)).collect();
        Self { rows: if heading.is_empty() { Vec::new() } else { vec![heading] } }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the table.
    pub(crate) fn write(&self, out: &mut Output) -> io::Result<()> {
        let text = self.render(out.width());
        out.write_all(text.as_bytes())
    }

    fn render(&self, width: Option<usize>) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.text.width()).max().unwrap_or(0)
            })
            .collect();
        let indent: usize =
            widths.iter().take(columns.saturating_sub(1)).map(|width| width + GAP.len()).sum();
        let room = width.map(|width| width.saturating_sub(indent)).filter(|room| *room >= MIN_LAST);
        let mut text = String::new();
        for row in &self.rows {
            for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let style = cell.style;
                if index + 1 == row.len() {
                    let lines = wrap(&cell.text, room);
                    for (number, line) in lines.iter().enumerate() {
                        if number > 0 {
                            text.push_str(&" ".repeat(indent));
                        }
                        text.push_str(&format!("{style}{line}{style:#}\n"));
                    }
                } else {
                    let pad = " ".repeat(width.saturating_sub(cell.text.width()));
                    let (before, after) =
                        if cell.right { (pad, String::new()) } else { (String::new(), pad) };
                    text.push_str(&format!("{before}{style}{}{style:#}{after}{GAP}", cell.text));
                }
            }
        }
        text
    }
}

/// Breaks a text between words into lines of at most `room` columns; longer words stay whole.
fn wrap(text: &str, room: Option<usize>) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let width = word.width();
        match lines.last_mut() {
            Some(line) if used == 0 || room.is_none_or(|room| used + 1 + width <= room) => {
                if used > 0 {
                    line.push(' ');
                    used += 1;
                }
                line.push_str(word);
                used += width;
            }
            _ => {
                lines.push(word.to_owned());
                used = width;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn columns_line_up_and_the_last_one_wraps() {
        let mut table = Table::new([]);
        table.row([
            Cell::from("📖 a"),
            Cell::number(1234),
            Cell::from("one two three four five six"),
        ]);
        table.row([Cell::from("bcdef"), Cell::number(5), Cell::from("日本 日本")]);
        assert_eq!(
            anstream::adapter::strip_str(&table.render(Some(30))).to_string(),
            "📖 a   1,234  one two three\n              four five six\nbcdef      5  日本 日本\n"
        );
        assert_eq!(table.render(None).lines().count(), 2);
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}

//! A flow of paragraphs and tables, put together while its XML is read.
//!
//! A paragraph may hold others, in text boxes and notes: their lines follow its own. Tables are
//! shown as Markdown; what is in a cell becomes one line.

use crate::document::{Document, ExtractError};
use crate::text::{REST, Text};

/// How deeply paragraphs and tables may be nested in each other.
const MAX_FRAMES: usize = 48;
/// How many columns of a table are shown.
const MAX_COLUMNS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Story {
    out: Text,
    frames: Vec<Frame>,
    /// The last thing that was added to `out` was a table, so a gap must follow.
    after_table: bool,
    columns_cut: bool,
}

#[derive(Debug)]
enum Frame {
    Paragraph(Paragraph),
    Table(Vec<Vec<String>>),
    /// The lines of a cell, and how many columns it takes.
    Cell(Vec<String>, usize),
}

#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    level: usize,
    inner: Vec<String>,
}

impl Story {
    fn push_frame(&mut self, frame: Frame) -> Result<(), ExtractError> {
        if self.frames.len() == MAX_FRAMES {
            return Err(ExtractError::TooLarge("its tables or text boxes are nested too deeply"));
        }
        self.frames.push(frame);
        Ok(())
    }

    pub(super) fn start_paragraph(&mut self) -> Result<(), ExtractError> {
        self.push_frame(Frame::Paragraph(Paragraph::default()))
    }

    /// Makes the paragraph a heading; 0 makes it none.
    pub(super) fn set_level(&mut self, level: usize) {
        if let Some(Frame::Paragraph(paragraph)) = self.frames.last_mut() {
            paragraph.level = level.min(6);
        }
    }

    /// Adds to the paragraph; outside of one there is nothing to add to.
    pub(super) fn push(&mut self, text: &str) {
        if let Some(Frame::Paragraph(paragraph)) = self.frames.last_mut()
            && !self.out.is_full()
        {
            paragraph.text.push_str(text);
        }
    }

    pub(super) fn end_paragraph(&mut self) {
        let Some(frame) = self.frames.pop_if(|frame| matches!(frame, Frame::Paragraph(_))) else {
            return;
        };
        let Frame::Paragraph(paragraph) = frame else { return };
        if paragraph.level > 0 && !paragraph.text.trim().is_empty() && !self.in_cell() {
            self.line(format!("{} {}", "#".repeat(paragraph.level), paragraph.text.trim_start()));
        } else {
            self.line(paragraph.text);
        }
        for line in paragraph.inner {
            self.line(line);
        }
    }

    pub(super) fn start_table(&mut self) -> Result<(), ExtractError> {
        self.push_frame(Frame::Table(Vec::new()))
    }

    pub(super) fn start_row(&mut self) {
        if let Some(Frame::Table(rows)) = self.frames.last_mut() {
            rows.push(Vec::new());
        }
    }

    pub(super) fn start_cell(&mut self) -> Result<(), ExtractError> {
        if !matches!(self.frames.last(), Some(Frame::Table(_))) {
            return Ok(());
        }
        self.push_frame(Frame::Cell(Vec::new(), 1))
    }

    /// The cell takes so many columns.
    pub(super) fn span(&mut self, columns: usize) {
        if let Some(Frame::Cell(_, span)) = self.frames.last_mut() {
            *span = columns.clamp(1, MAX_COLUMNS);
        }
    }

    pub(super) fn end_cell(&mut self) {
        let cell = self.frames.pop_if(|frame| matches!(frame, Frame::Cell(..)));
        let Some(Frame::Cell(lines, span)) = cell else { return };
        let Some(Frame::Table(rows)) = self.frames.last_mut() else { return };
        if rows.is_empty() {
            rows.push(Vec::new());
        }
        let Some(row) = rows.last_mut() else { return };
        let room = MAX_COLUMNS.saturating_sub(row.len());
        self.columns_cut |= room < span;
        let text = lines.join("\n");
        row.extend([text].into_iter().chain((1..span).map(|_| String::new())).take(room));
    }

    pub(super) fn end_table(&mut self) {
        let table = self.frames.pop_if(|frame| matches!(frame, Frame::Table(_)));
        let Some(Frame::Table(mut rows)) = table else { return };
        rows.retain(|row| !row.is_empty());
        if self.in_cell() {
            rows.into_iter().for_each(|row| self.line(row.join(" | ")));
            return;
        }
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let Some(head) = rows.first_mut() else { return };
        head.resize(columns, String::new());
        if self.frames.is_empty() {
            self.out.gap();
        }
        for (index, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| in_one_line(cell)).collect();
            self.add(format!("| {} |", cells.join(" | ")));
            if index == 0 {
                self.add(format!("|{}", " --- |".repeat(columns)));
            }
        }
        self.after_table = self.frames.is_empty();
    }

    /// Adds a line of its own, such as a header.
    pub(super) fn line(&mut self, line: String) {
        if std::mem::take(&mut self.after_table) && !line.is_empty() {
            self.out.gap();
        }
        self.add(line);
    }

    /// A blank line, unless one is there.
    pub(super) fn gap(&mut self) {
        self.after_table = false;
        self.out.gap();
    }

    fn add(&mut self, line: String) {
        match self.frames.last_mut() {
            Some(Frame::Paragraph(outer)) => outer.inner.push(line),
            Some(Frame::Cell(lines, _)) => lines.push(line),
            // Between the cells of a table there is nothing to show.
            Some(Frame::Table(_)) => {}
            None => self.out.line(&line),
        }
    }

    fn in_cell(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, Frame::Cell(..)))
    }

    pub(super) fn is_full(&self) -> bool {
        self.out.is_full()
    }

    /// The whole text; an error when there is nothing to see.
    pub(super) fn finish(self) -> Result<Document, ExtractError> {
        if self.out.is_blank() {
            return Err(ExtractError::Blank);
        }
        let mut omitted = Vec::new();
        if self.columns_cut {
            omitted.push(format!("columns after {MAX_COLUMNS} of a table"));
        }
        if self.out.is_full() {
            omitted.push(REST.to_owned());
        }
        Ok(Document { text: self.out.into_string(), omitted, ..Document::default() })
    }
}

/// A cell as Markdown has it.
fn in_one_line(cell: &str) -> String {
    cell.trim().replace('|', "\\|").replace('\n', "<br>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn paragraph(story: &mut Story, text: &str) {
        story.start_paragraph().unwrap();
        story.push(text);
        story.end_paragraph();
    }

    fn cell(story: &mut Story, text: &str) {
        story.start_cell().unwrap();
        paragraph(story, text);
        story.end_cell();
    }

    #[test]
    fn inner_paragraphs_follow_the_outer_one() {
        let mut story = Story::default();
        story.start_paragraph().unwrap();
        story.push("outer ");
        paragraph(&mut story, "inner");
        story.push("goes on");
        story.end_paragraph();
        paragraph(&mut story, "next");
        assert_eq!(story.finish().unwrap().text, "outer goes on\ninner\nnext");
    }

    #[test]
    fn tables_are_markdown() {
        let mut story = Story::default();
        paragraph(&mut story, "before");
        story.start_table().unwrap();
        story.start_row();
        cell(&mut story, "a|b");
        story.start_cell().unwrap();
        paragraph(&mut story, "1");
        paragraph(&mut story, "2");
        story.end_cell();
        story.start_row();
        story.start_cell().unwrap();
        story.span(3);
        story.start_table().unwrap();
        story.start_row();
        cell(&mut story, "x");
        cell(&mut story, "y");
        story.end_table();
        story.end_cell();
        story.end_table();
        paragraph(&mut story, "");
        paragraph(&mut story, "after");
        assert_eq!(
            story.finish().unwrap().text,
            "before\n\n| a\\|b | 1<br>2 |  |\n| --- | --- | --- |\n| x \\| y |  |  |\n\nafter"
        );
    }

    #[test]
    fn headings() {
        let mut story = Story::default();
        for (text, level) in [("T", 1), ("deep", 9), (" ", 2), ("plain", 0)] {
            story.start_paragraph().unwrap();
            story.set_level(level);
            story.push(text);
            story.end_paragraph();
        }
        assert_eq!(story.finish().unwrap().text, "# T\n###### deep\n \nplain");
    }

    #[test]
    fn limits() {
        let mut story = Story::default();
        assert!((0..100).try_for_each(|_| story.start_paragraph()).is_err());
        assert_eq!(Story::default().finish(), Err(ExtractError::Blank));
        let mut story = Story::default();
        story.start_table().unwrap();
        (0..300).for_each(|_| cell(&mut story, "x"));
        story.end_table();
        let document = story.finish().unwrap();
        assert_eq!(document.text.lines().next().unwrap().matches('x').count(), 256);
        assert_eq!(document.omitted, ["columns after 256 of a table"]);
    }
}

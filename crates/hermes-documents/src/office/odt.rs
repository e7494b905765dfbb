//! OpenDocument text: headings, paragraphs, notes and tables.

use super::package::Package;
use super::story::Story;
use super::xml::{Event, Xml};
use crate::document::{Document, ExtractError};

/// How often a cell or a blank may say that it is repeated.
const MAX_REPEATED: usize = 256;

pub(crate) fn extract(bytes: &[u8]) -> Result<Document, ExtractError> {
    let text = Package::open(bytes)?.needed("content.xml")?;
    let mut story = Story::default();
    let mut xml = Xml::new(&text);
    // How many paragraphs are open: only in them is white space text.
    let mut paragraphs = Blanks::default();
    while let Some(event) = xml.next()? {
        if story.is_full() {
            break;
        }
        match event {
            Event::Start(tag) => match tag.name() {
                "p" | "h" => {
                    story.start_paragraph()?;
                    paragraphs.start();
                    if tag.name() == "h" {
                        story.set_level(tag.number("outline-level").unwrap_or(1).max(1));
                    }
                }
                "s" => {
                    let count = tag.number("c").unwrap_or(1).min(MAX_REPEATED);
                    story.push(&" ".repeat(count));
                    paragraphs.solid();
                }
                "tab" => {
                    story.push("\t");
                    paragraphs.solid();
                }
                "line-break" => {
                    story.push("\n");
                    paragraphs.blank();
                }
                "table" => story.start_table()?,
                "table-row" => story.start_row(),
                "table-cell" | "covered-table-cell" => {
                    story.start_cell()?;
                    // A cell that takes several columns is followed by the covered ones.
                    story
                        .span(tag.number("number-columns-repeated").unwrap_or(1).min(MAX_REPEATED));
                }
                // Not of the text: deleted passages, comments, the marks of notes, and what forms
                // and sequences declare.
                "tracked-changes" | "annotation" | "note-citation" | "forms" | "sequence-decls"
                | "desc" | "title" => xml.skip()?,
                _ => {}
            },
            Event::End(name) => match &*name {
                "p" | "h" => {
                    story.end_paragraph();
                    paragraphs.end();
                }
                "table-cell" | "covered-table-cell" => story.end_cell(),
                "table" => story.end_table(),
                _ => {}
            },
            Event::Text(text) => story.push(&paragraphs.collapse(&text)),
        }
    }
    story.finish()
}

/// White space of the file's layout: runs of it are one blank, and none at the start of a line.
#[derive(Debug, Default)]
struct Blanks {
    /// For each open paragraph, whether it ends with white space now.
    open: Vec<bool>,
}

impl Blanks {
    fn start(&mut self) {
        self.open.push(true);
    }

    fn end(&mut self) {
        self.open.pop();
    }

    fn solid(&mut self) {
        self.set(false);
    }

    fn blank(&mut self) {
        self.set(true);
    }

    fn set(&mut self, blank: bool) {
        if let Some(last) = self.open.last_mut() {
            *last = blank;
        }
    }

    fn collapse(&mut self, text: &str) -> String {
        let Some(after_blank) = self.open.last_mut() else { return String::new() };
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            let is_blank = matches!(c, ' ' | '\t' | '\n' | '\r');
            if !is_blank {
                out.push(c);
            } else if !*after_blank {
                out.push(' ');
            }
            *after_blank = is_blank;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::office::zip::Zip;
    use pretty_assertions::assert_eq;

    fn document(body: &str) -> Vec<u8> {
        let text = format!(
            "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:table='b'><office:body>\
             <office:text>{body}</office:text></office:body></office:document-content>"
        );
        Zip::new()
            .stored("mimetype", b"application/vnd.oasis.opendocument.text")
            .part("content.xml", &text)
            .finish()
    }

    #[test]
    fn text_headings_and_tables() {
        let archive = document(
            "<text:tracked-changes><text:p>old</text:p></text:tracked-changes>\
             <text:h text:outline-level='2'>Head</text:h>\n  <text:p>a <text:span> b</text:span>\n c\
             <text:s text:c='3'/>d<text:tab/>e<text:line-break/>f</text:p><text:p/>\
             <text:p>x<text:note><text:note-citation>1</text:note-citation><text:note-body>\
             <text:p>note</text:p></text:note-body></text:note> y</text:p>\
             <table:table><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell>\
             <table:table-cell table:number-columns-repeated='999999'/></table:table-row>\
             </table:table>",
        );
        let text = extract(&archive).unwrap().text;
        let table = format!("| 1 |{}\n|{}", "  |".repeat(255), " --- |".repeat(256));
        assert_eq!(text, format!("## Head\na b c   d\te\nf\n\nx y\nnote\n\n{table}"));
    }

    #[test]
    fn what_is_no_text() {
        assert_eq!(extract(&document("<text:p> </text:p>")), Err(ExtractError::Blank));
        assert!(extract(&Zip::new().part("x", "").finish()).is_err());
    }
}

//! PDF: the text of the pages in the order it is drawn in.
//!
//! A reader of its own, since what is wanted is little and must have an end: it never looks at
//! the file's own table of objects but finds them all, which also mends broken files, and every
//! stream, value and operator is paid for from a budget.

mod cmap;
mod content;
mod encoding;
mod file;
mod filter;
mod font;
mod layout;
mod lexer;
mod object;
mod pages;

use self::content::Interpreter;
use self::file::File;
use crate::document::{Document, ExtractError};
use crate::text::{REST, Text};

pub(crate) fn extract(bytes: &[u8]) -> Result<Document, ExtractError> {
    let file = File::read(bytes)?;
    let pages = pages::pages(&file)?;
    let (mut out, mut has_text) = (Text::default(), false);
    let mut interpreter = Interpreter::new(&file);
    let mut omitted = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        if out.is_full() {
            break;
        }
        let text = interpreter.page(page)?;
        if index > 0 {
            out.line("");
        }
        out.line(&format!("# ── Page {} ──", index + 1));
        has_text |= !text.is_empty();
        out.line(if text.is_empty() { "(empty)" } else { &text });
    }
    if !has_text {
        return Err(ExtractError::Blank);
    }
    if out.is_full() {
        omitted.push(REST.to_owned());
    }
    if interpreter.is_cut() {
        omitted.push("what comes after the first 256 MiB of what is drawn".to_owned());
    }
    Ok(Document { text: out.into_string(), omitted, ..Document::default() })
}

#[cfg(test)]
mod tests;

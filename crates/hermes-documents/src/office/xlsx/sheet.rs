//! The rows of a sheet.

use super::date::Shows;
use super::reference::place;
use super::strings::rich;
use crate::document::ExtractError;
use crate::office::xml::{Event, Tag, Xml};
use crate::text::Text;

/// How many rows of a sheet are shown.
const MAX_ROWS: usize = 5000;
/// How many columns of a sheet are shown.
const MAX_COLUMNS: usize = 256;
/// How many characters a cell may have, as in Excel.
const MAX_CELL: usize = 32_767;

/// What cells refer to.
#[derive(Debug, Default)]
pub(super) struct Workbook {
    pub(super) strings: Vec<Box<str>>,
    /// By the number of a style, what it shows of a date.
    pub(super) dates: Vec<Option<Shows>>,
    pub(super) starts_1904: bool,
}

/// Rows as they come, with the blank ones between them.
struct Rows<'a> {
    out: &'a mut Text,
    /// How many rows were added, the blank ones included.
    added: usize,
}

impl Rows<'_> {
    /// Adds a row at its place, in case there is something in it.
    fn add(&mut self, row: usize, mut cells: Vec<String>) {
        while cells.pop_if(|cell| cell.is_empty()).is_some() {}
        if cells.is_empty() {
            return;
        }
        // A row out of order follows those before it.
        (self.added..row).for_each(|_| self.out.line(""));
        self.out.line(&cells.join("\t"));
        self.added = self.added.max(row) + 1;
    }
}

impl Workbook {
    /// Shows the cells of a sheet. Gives what isn't shown.
    pub(super) fn show(
        &self,
        text: &str,
        out: &mut Text,
    ) -> Result<Vec<&'static str>, ExtractError> {
        let mut rows = Rows { out, added: 0 };
        let (mut rows_cut, mut columns_cut) = (false, false);
        let (mut row, mut column, mut cells) = (0, 0, Vec::new());
        let mut xml = Xml::new(text);
        while let Some(event) = xml.next()? {
            match event {
                Event::Start(tag) if tag.name() == "row" => {
                    let told = tag.number("r").and_then(|row| row.checked_sub(1));
                    row = told.unwrap_or(row);
                    column = 0;
                    if row >= MAX_ROWS {
                        rows_cut = true;
                        break;
                    }
                }
                Event::Start(tag) if tag.name() == "c" => {
                    let told = tag.attr("r").as_deref().and_then(place);
                    column = told.map_or(column, |(column, _)| column);
                    let shown = in_one_line(&self.cell(&mut xml, &tag)?);
                    if column < MAX_COLUMNS {
                        if cells.len() <= column {
                            cells.resize(column + 1, String::new());
                        }
                        if let Some(cell) = cells.get_mut(column) {
                            *cell = shown;
                        }
                    } else {
                        columns_cut |= !shown.is_empty();
                    }
                    column += 1;
                }
                Event::End(name) if &*name == "row" => {
                    rows.add(row, std::mem::take(&mut cells));
                    row += 1;
                    if rows.out.is_full() {
                        break;
                    }
                }
                Event::End(name) if &*name == "sheetData" => break,
                _ => {}
            }
        }
        if rows.added == 0 {
            out.line("(empty)");
        }
        let cut = [(rows_cut, "the rows after 5000"), (columns_cut, "the columns after 256")];
        Ok(cut.into_iter().filter(|(cut, _)| *cut).map(|(_, what)| what).collect())
    }

    /// What a cell shows.
    fn cell(&self, xml: &mut Xml<'_>, tag: &Tag<'_>) -> Result<String, ExtractError> {
        let kind = tag.attr("t").unwrap_or_default();
        let style = tag.number("s").unwrap_or_default();
        let (mut value, mut formula, mut inline) = (None, String::new(), None);
        let mut depth = 1;
        while depth > 0 {
            match xml.next()? {
                Some(Event::Start(tag)) => match tag.name() {
                    "v" => value = Some(xml.text("")?),
                    "f" => formula = xml.text("")?,
                    "is" => inline = Some(rich(xml)?),
                    _ => depth += 1,
                },
                Some(Event::End(_)) => depth -= 1,
                Some(Event::Text(_)) => {}
                None => break,
            }
        }
        // A file that no spreadsheet program has calculated yet has formulas only.
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            let formula = formula.trim();
            return Ok(match inline {
                Some(text) => text,
                None if formula.is_empty() => String::new(),
                None => format!("={formula}"),
            });
        };
        Ok(match kind.as_str() {
            "s" => {
                let index = value.trim().parse::<usize>().ok();
                let text = index.and_then(|index| self.strings.get(index));
                text.map_or_else(String::new, |text| cut(text).to_owned())
            }
            "b" => if matches!(value.trim(), "0" | "false") { "FALSE" } else { "TRUE" }.to_owned(),
            "str" | "e" | "inlineStr" | "d" => value,
            _ => self.number(value.trim(), style),
        })
    }

    fn number(&self, value: &str, style: usize) -> String {
        let shows = self.dates.get(style).copied().flatten();
        let date = shows.and_then(|it| it.text(value.parse().ok()?, self.starts_1904));
        date.unwrap_or_else(|| value.to_owned())
    }
}

/// A text may be shared by any number of cells, so its length counts before it is copied.
fn cut(text: &str) -> &str {
    text.char_indices().nth(MAX_CELL).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// A row is one line, and tabs separate its cells.
fn in_one_line(text: &str) -> String {
    cut(text).replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")
}

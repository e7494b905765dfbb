//! Excel: the cells of the visible sheets, separated by tabs.

mod date;
mod reference;
mod sheet;
mod strings;
mod styles;

use self::sheet::Workbook;
use super::package::Package;
use super::relations::{Relations, main_part};
use super::xml::{Event, Xml};
use crate::document::{Document, ExtractError};
use crate::text::{REST, Text};

/// A sheet as the workbook lists it.
#[derive(Debug)]
struct Listed {
    name: String,
    part: String,
}

pub(crate) fn extract(bytes: &[u8]) -> Result<Document, ExtractError> {
    let mut package = Package::open(bytes)?;
    let part = main_part(&mut package, "xl/workbook.xml")?;
    let text = package.needed(&part)?;
    let relations = Relations::of(&mut package, &part)?;
    let (sheets, starts_1904) = sheets(&text, &relations)?;

    let by_kind =
        |kind: &str, usual: &'static str| relations.of_kind(kind).unwrap_or(usual).to_owned();
    let strings = package.part(&by_kind("sharedStrings", "xl/sharedStrings.xml"))?;
    let styles = package.part(&by_kind("styles", "xl/styles.xml"))?;
    let workbook = Workbook {
        strings: strings.as_deref().map(strings::read).transpose()?.unwrap_or_default(),
        dates: styles.as_deref().map(styles::date_styles).transpose()?.unwrap_or_default(),
        starts_1904,
    };

    let (mut out, mut omitted) = (Text::default(), Vec::new());
    for (index, sheet) in sheets.iter().enumerate() {
        if out.is_full() {
            break;
        }
        let text = package.needed(&sheet.part)?;
        if index > 0 {
            out.line("");
        }
        out.line(&format!("# ── Sheet: {} ──", sheet.name));
        let cut = workbook.show(&text, &mut out)?;
        omitted.extend(cut.iter().map(|what| format!("{what} of sheet {:?}", sheet.name)));
    }
    if sheets.is_empty() {
        return Err(ExtractError::Blank);
    }
    if out.is_full() {
        omitted.push(REST.to_owned());
    }
    Ok(Document { text: out.into_string(), omitted, ..Document::default() })
}

/// The visible sheets with cells, in order, and whether days are counted from 1904 on.
fn sheets(text: &str, relations: &Relations) -> Result<(Vec<Listed>, bool), ExtractError> {
    let (mut sheets, mut starts_1904, mut count) = (Vec::new(), false, 0);
    let mut xml = Xml::new(text);
    while let Some(event) = xml.next()? {
        let Event::Start(tag) = event else { continue };
        match tag.name() {
            "workbookPr" => {
                starts_1904 = tag.attr("date1904").is_some_and(|it| it == "1" || it == "true");
            }
            "sheet" => {
                count += 1;
                let hidden = tag.attr("state").is_some_and(|state| state != "visible");
                let id = tag.relation().unwrap_or_default();
                let has_cells =
                    !relations.is(&id, "chartsheet") && !relations.is(&id, "dialogsheet");
                if hidden || !has_cells {
                    continue;
                }
                let usual = || format!("xl/worksheets/sheet{count}.xml");
                sheets.push(Listed {
                    name: tag.attr("name").unwrap_or_default().replace(['\n', '\r'], " "),
                    part: relations.part(&id).map_or_else(usual, str::to_owned),
                });
            }
            _ => {}
        }
    }
    Ok((sheets, starts_1904))
}

#[cfg(test)]
mod tests;

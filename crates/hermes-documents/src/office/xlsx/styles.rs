//! Which styles of cells show dates.

use std::collections::HashMap;

use super::date::Shows;
use crate::document::ExtractError;
use crate::office::xml::{Event, Xml};

/// For each style of cells, what of a date it shows; none for other numbers.
pub(super) fn date_styles(text: &str) -> Result<Vec<Option<Shows>>, ExtractError> {
    let mut formats: HashMap<usize, Option<Shows>> = HashMap::new();
    let (mut ids, mut in_styles) = (Vec::new(), false);
    let mut xml = Xml::new(text);
    while let Some(event) = xml.next()? {
        match event {
            Event::Start(tag) => match tag.name() {
                "numFmt" => {
                    if let (Some(id), Some(code)) = (tag.number("numFmtId"), tag.attr("formatCode"))
                    {
                        formats.insert(id, Shows::by_code(&code));
                    }
                }
                "cellXfs" => in_styles = true,
                "xf" if in_styles => ids.push(tag.number("numFmtId").unwrap_or_default()),
                _ => {}
            },
            Event::End(name) if &*name == "cellXfs" => in_styles = false,
            Event::End(_) | Event::Text(_) => {}
        }
    }
    let shows = |id| formats.get(&id).copied().unwrap_or_else(|| Shows::by_id(id));
    Ok(ids.into_iter().map(shows).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn styles_go_by_their_formats() {
        let text = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd'/>\
             <numFmt numFmtId='165' formatCode='0.00'/></numFmts>\
             <cellStyleXfs><xf numFmtId='14'/></cellStyleXfs>\
             <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='165'/><xf numFmtId='14'/>\
             <xf numFmtId='22'/><xf/></cellXfs></styleSheet>";
        let (date, both) = (Some(Shows::Date), Some(Shows::DateTime));
        assert_eq!(date_styles(text).unwrap(), [None, date, None, date, both, None]);
    }
}

//! Texts of cells: those shared in a table of their own, and those in the cell itself.

use crate::document::ExtractError;
use crate::office::xml::{Event, Xml};

/// The shared texts, in the order that cells count them in.
pub(super) fn read(text: &str) -> Result<Vec<Box<str>>, ExtractError> {
    let mut strings = Vec::new();
    let mut xml = Xml::new(text);
    while let Some(event) = xml.next()? {
        if let Event::Start(tag) = event
            && tag.name() == "si"
        {
            strings.push(rich(&mut xml)?.into());
        }
    }
    Ok(strings)
}

/// The text in the element that began last: the `t` in it, without the reading aids.
pub(super) fn rich(xml: &mut Xml<'_>) -> Result<String, ExtractError> {
    let (mut out, mut depth) = (String::new(), 1);
    while depth > 0 {
        match xml.next()? {
            Some(Event::Start(tag)) => match tag.name() {
                "t" => out.push_str(&unescape(&xml.text("")?)),
                "rPh" | "phoneticPr" => xml.skip()?,
                _ => depth += 1,
            },
            Some(Event::End(_)) => depth -= 1,
            Some(Event::Text(_)) => {}
            None => break,
        }
    }
    Ok(out)
}

/// Characters that XML can't have are written as `_x000D_`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let code = escape.get(2..6).filter(|_| escape.get(6..7) == Some("_"));
        let code = code.filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        let c = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match c {
            Some(c) => {
                out.push(c);
                rest = escape.get(7..).unwrap_or_default();
            }
            None => {
                out.push_str("_x");
                rest = escape.get(2..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn shared_texts() {
        let text = "<sst><si><t>a</t></si><si><r><rPr/><t>b</t></r><r><t xml:space='preserve'> c</t></r>\
             <rPh><t>x</t></rPh></si><si/><si><t>1_x000D_2_x005F_x_xZZZZ__x1</t></si></sst>";
        let strings = read(text).unwrap();
        let strings: Vec<&str> = strings.iter().map(|it| &**it).collect();
        assert_eq!(strings, ["a", "b c", "", "1\r2_x_xZZZZ__x1"]);
    }
}

//! Word: the paragraphs and tables of the main part.

use std::collections::HashMap;

use super::package::Package;
use super::relations::{Relations, main_part};
use super::story::Story;
use super::xml::{Event, Tag, Xml};
use crate::document::{Document, ExtractError};

/// How many styles a style may be based on, one on the other.
const MAX_BASES: usize = 16;

pub(crate) fn extract(bytes: &[u8]) -> Result<Document, ExtractError> {
    let mut package = Package::open(bytes)?;
    let part = main_part(&mut package, "word/document.xml")?;
    let text = package.needed(&part)?;
    let relations = Relations::of(&mut package, &part)?;
    let styles = relations.of_kind("styles").unwrap_or("word/styles.xml").to_owned();
    let styles = match package.part(&styles)? {
        Some(text) => Styles::of(&text)?,
        None => Styles::default(),
    };
    let mut story = Story::default();
    body(&mut Xml::new(&text), &styles, &mut story)?;
    story.finish()
}

fn body(xml: &mut Xml<'_>, styles: &Styles, story: &mut Story) -> Result<(), ExtractError> {
    // For each place with alternatives, whether one was taken.
    let mut taken: Vec<bool> = Vec::new();
    while let Some(event) = xml.next()? {
        if story.is_full() {
            return Ok(());
        }
        match event {
            Event::Start(tag) => match tag.name() {
                "p" => story.start_paragraph()?,
                "pPr" => {
                    let level = properties(xml, styles)?;
                    story.set_level(level);
                }
                "t" => {
                    let text = xml.text("")?;
                    story.push(&text);
                }
                "tab" | "ptab" => story.push("\t"),
                "br" | "cr" => story.push("\n"),
                "noBreakHyphen" => story.push("-"),
                "tbl" => story.start_table()?,
                "tr" => story.start_row(),
                "tc" => story.start_cell()?,
                "gridSpan" => story.span(span(&tag)),
                "AlternateContent" => taken.push(false),
                // The same in a form for older programs, or a second choice.
                "Choice" | "Fallback" => match taken.last_mut() {
                    Some(taken) if *taken => xml.skip()?,
                    Some(taken) => *taken = true,
                    None => {}
                },
                // What was moved is where it was moved to; the others aren't text, though they
                // have elements with the same names.
                "moveFrom" | "del" | "rPr" | "tblPr" | "trPr" | "sectPr" | "instrText" => {
                    xml.skip()?;
                }
                _ => {}
            },
            Event::End(name) => match &*name {
                "p" => story.end_paragraph(),
                "tc" => story.end_cell(),
                "tbl" => story.end_table(),
                "AlternateContent" => {
                    taken.pop();
                }
                _ => {}
            },
            Event::Text(_) => {}
        }
    }
    Ok(())
}

fn span(tag: &Tag<'_>) -> usize {
    tag.number("val").unwrap_or(1)
}

/// The level of a heading from the properties of a paragraph, 0 for none.
fn properties(xml: &mut Xml<'_>, styles: &Styles) -> Result<usize, ExtractError> {
    let (mut style, mut own) = (None, None);
    let mut depth = 1;
    while depth > 0 {
        match xml.next()? {
            Some(Event::Start(tag)) => match tag.name() {
                "pStyle" => {
                    style = tag.attr("val");
                    depth += 1;
                }
                "outlineLvl" => {
                    own = level(&tag);
                    depth += 1;
                }
                // How it was before somebody changed it.
                "pPrChange" | "rPr" => xml.skip()?,
                _ => depth += 1,
            },
            Some(Event::End(_)) => depth -= 1,
            Some(Event::Text(_)) => {}
            None => break,
        }
    }
    Ok(own.or_else(|| styles.level(style.as_deref()?)).unwrap_or_default())
}

/// The level in an outline, from 1 on; 0 for the body.
fn level(tag: &Tag<'_>) -> Option<usize> {
    let level = tag.number("val")?;
    Some(if level < 9 { level + 1 } else { 0 })
}

/// The styles of paragraphs, by their ids.
#[derive(Debug, Default)]
struct Styles(HashMap<String, Style>);

#[derive(Debug, Default)]
struct Style {
    level: Option<usize>,
    base: Option<String>,
}

impl Styles {
    fn of(text: &str) -> Result<Self, ExtractError> {
        let mut styles = HashMap::new();
        let mut current: Option<(String, Style)> = None;
        let mut xml = Xml::new(text);
        while let Some(event) = xml.next()? {
            match event {
                Event::Start(tag) if tag.name() == "style" => {
                    current = tag.attr("styleId").map(|id| (id, Style::default()));
                }
                Event::Start(tag) => {
                    let Some((_, style)) = &mut current else { continue };
                    match tag.name() {
                        "name" => {
                            let level = tag.attr("val").as_deref().and_then(named_level);
                            style.level = style.level.or(level);
                        }
                        "outlineLvl" => style.level = level(&tag),
                        "basedOn" => style.base = tag.attr("val"),
                        _ => {}
                    }
                }
                Event::End(name) if &*name == "style" => styles.extend(current.take()),
                Event::End(_) | Event::Text(_) => {}
            }
        }
        Ok(Self(styles))
    }

    /// The level of headings in a style.
    fn level(&self, id: &str) -> Option<usize> {
        let mut style = self.0.get(id);
        if style.is_none() {
            return named_level(id);
        }
        for _ in 0..MAX_BASES {
            let Style { level, base } = style?;
            if level.is_some() {
                return *level;
            }
            style = self.0.get(base.as_deref()?);
        }
        None
    }
}

/// The level that the name of a built-in style tells. Names are English in any language.
fn named_level(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(1);
    }
    let level = name.strip_prefix("heading")?.trim_start().parse().ok()?;
    (1..=9).contains(&level).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::office::zip::Zip;
    use pretty_assertions::assert_eq;

    fn document(body: &str) -> Zip {
        Zip::new().part(
            "word/document.xml",
            &format!("<w:document xmlns:w='x'><w:body>{body}</w:body></w:document>"),
        )
    }

    fn text(body: &str) -> String {
        extract(&document(body).finish()).unwrap().text
    }

    fn p(text: &str) -> String {
        format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
    }

    #[test]
    fn paragraphs_tabs_and_breaks() {
        assert_eq!(
            text(
                "<w:p><w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/>\
                 <w:t xml:space='preserve'> b </w:t><w:br/><w:t>c&amp;</w:t><w:cr/></w:r></w:p>\
                 <w:p/><w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old\
                 </w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText><w:noBreakHyphen/>\
                 </w:r><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>"
            ),
            "a\t b \nc&\n\n\nnew-link"
        );
    }

    #[test]
    fn a_text_box_is_there_once() {
        let inner = format!("<w:txbxContent>{}{}</w:txbxContent>", p("box 1"), p("box 2"));
        assert_eq!(
            text(&format!(
                "<w:p><w:r><w:t>outer</w:t></w:r><w:r><mc:AlternateContent xmlns:mc='m'>\
                 <mc:Choice Requires='wps'>{inner}</mc:Choice><mc:Fallback>{inner}</mc:Fallback>\
                 </mc:AlternateContent></w:r><w:r><w:t> text</w:t></w:r></w:p>{}",
                p("next")
            )),
            "outer text\nbox 1\nbox 2\nnext"
        );
        assert_eq!(
            text(&format!(
                "<w:p><mc:AlternateContent xmlns:mc='m'><mc:Fallback>{inner}</mc:Fallback>\
                 </mc:AlternateContent></w:p>"
            )),
            "\nbox 1\nbox 2"
        );
    }

    #[test]
    fn headings_and_tables() {
        let styles = "<w:styles xmlns:w='x'>\
             <w:style w:styleId='a'><w:name w:val='heading 2'/></w:style>\
             <w:style w:styleId='b'><w:name w:val='Mine'/><w:basedOn w:val='a'/></w:style>\
             <w:style w:styleId='c'><w:name w:val='x'/><w:pPr><w:outlineLvl w:val='2'/></w:pPr></w:style>\
             <w:style w:styleId='loop'><w:name w:val='x'/><w:basedOn w:val='loop'/></w:style>\
             </w:styles>";
        let styled = |style: &str| {
            format!(
                "<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{style}</w:t></w:r></w:p>"
            )
        };
        let body: String = ["a", "b", "c", "loop", "Heading1", "Title"].map(styled).concat();
        let table = format!(
            "<w:tbl><w:tblPr/><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{}</w:tc></w:tr>\
             <w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
            p("k"),
            p("1"),
            p("2")
        );
        let archive = document(&format!("{body}{table}")).part("word/styles.xml", styles).finish();
        assert_eq!(
            extract(&archive).unwrap().text,
            "## a\n## b\n### c\nloop\n# Heading1\n# Title\n\n| k |  |\n| --- | --- |\n| 1 | 2 |"
        );
    }

    #[test]
    fn what_is_no_document() {
        assert_eq!(extract(&document("<w:p/>").finish()), Err(ExtractError::Blank));
        assert_eq!(extract(&document(&p(" ")).finish()), Err(ExtractError::Blank));
        for archive in [
            Zip::new().part("x", "").finish(),
            Zip::new().part("word/document.xml", "<a>").finish(),
            document("</w:body>").finish(),
            document(&"<w:tbl><w:tr><w:tc>".repeat(100_000)).finish(),
        ] {
            assert!(extract(&archive).is_err());
        }
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>\
             <w:document><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>";
        let archive = Zip::new().part("word/document.xml", bomb).finish();
        assert!(matches!(extract(&archive), Err(ExtractError::Malformed(_))));
    }
}

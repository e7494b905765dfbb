//! PowerPoint: the text of the slides in order, with the speaker's notes.

use super::package::Package;
use super::relations::{Relations, main_part};
use super::story::Story;
use super::xml::{Event, Xml};
use crate::document::{Document, ExtractError};

pub(crate) fn extract(bytes: &[u8]) -> Result<Document, ExtractError> {
    let mut package = Package::open(bytes)?;
    let part = main_part(&mut package, "ppt/presentation.xml")?;
    let text = package.needed(&part)?;
    let relations = Relations::of(&mut package, &part)?;

    let (mut story, mut number) = (Story::default(), 0);
    let mut xml = Xml::new(&text);
    let mut has_text = false;
    while let Some(event) = xml.next()? {
        let Event::Start(tag) = event else { continue };
        if tag.name() != "sldId" || story.is_full() {
            continue;
        }
        let Some(part) = tag.relation().and_then(|id| relations.part(&id).map(str::to_owned))
        else {
            continue;
        };
        number += 1;
        if number > 1 {
            story.gap();
        }
        story.line(format!("# ── Slide {number} ──"));
        has_text |= slide(&mut package, &part, &mut story)?;
    }
    if has_text { story.finish() } else { Err(ExtractError::Blank) }
}

/// Shows a slide and its notes; tells whether there is any text.
fn slide(package: &mut Package<'_>, part: &str, story: &mut Story) -> Result<bool, ExtractError> {
    let text = package.needed(part)?;
    let shown = shapes(&text, story, |_| true)?;
    let relations = Relations::of(package, part)?;
    let Some(notes) = relations.of_kind("notesSlide") else { return Ok(shown) };
    let Some(text) = package.part(notes)? else { return Ok(shown) };
    // The other shapes there are the slide itself and its number.
    let mut spoken = Story::default();
    if shapes(&text, &mut spoken, |kind| kind == "body")?
        && let Ok(notes) = spoken.finish()
    {
        story.line("# ── Notes ──".to_owned());
        story.line(notes.text);
        return Ok(true);
    }
    Ok(shown)
}

/// Shows the paragraphs and tables of the shapes whose kind of placeholder is wanted; tells
/// whether there is any text in them. Titles are headings.
fn shapes(
    text: &str,
    story: &mut Story,
    wanted: impl Fn(&str) -> bool,
) -> Result<bool, ExtractError> {
    let mut taken: Vec<bool> = Vec::new();
    let (mut kind, mut has_text) = (String::new(), false);
    let mut xml = Xml::new(text);
    while let Some(event) = xml.next()? {
        match event {
            Event::Start(tag) => match tag.name() {
                "sp" | "graphicFrame" | "cxnSp" | "pic" => kind.clear(),
                // A placeholder of no kind holds an object.
                "ph" => kind = tag.attr("type").unwrap_or_else(|| "obj".to_owned()),
                "txBody" if !wanted(&kind) => xml.skip()?,
                "p" => {
                    story.start_paragraph()?;
                    if matches!(kind.as_str(), "title" | "ctrTitle") {
                        story.set_level(2);
                    }
                }
                "t" => {
                    let text = xml.text("")?;
                    has_text |= !text.trim().is_empty();
                    story.push(&text);
                }
                "br" => story.push("\n"),
                "tbl" => story.start_table()?,
                "tr" => story.start_row(),
                "tc" => {
                    story.start_cell()?;
                    story.span(tag.number("gridSpan").unwrap_or(1));
                    // The others are covered by a cell that takes several columns.
                    if tag.attr("hMerge").is_some_and(|it| it == "1" || it == "true") {
                        story.span(0);
                    }
                }
                "rPr" | "pPr" | "tblPr" | "tcPr" => xml.skip()?,
                "AlternateContent" => taken.push(false),
                "Choice" | "Fallback" => match taken.last_mut() {
                    Some(taken) if *taken => xml.skip()?,
                    Some(taken) => *taken = true,
                    None => {}
                },
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
    Ok(has_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::office::zip::Zip;
    use pretty_assertions::assert_eq;

    fn shape(kind: &str, text: &str) -> String {
        format!(
            "<p:sp><p:nvSpPr><p:nvPr>{}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:pPr><a:t>no</a:t></a:pPr>\
             <a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>",
            if kind.is_empty() { String::new() } else { format!("<p:ph type='{kind}'/>") }
        )
    }

    fn part(body: &str) -> String {
        format!(
            "<p:sld xmlns:p='p' xmlns:a='a'><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:sld>"
        )
    }

    fn presentation(first: &str, second: &str) -> Vec<u8> {
        Zip::new()
            .part(
                "ppt/presentation.xml",
                "<p:presentation xmlns:p='p' xmlns:r='r'><p:sldIdLst><p:sldId id='256' r:id='b'/>\
                 <p:sldId id='257' r:id='a'/><p:sldId id='258' r:id='none'/></p:sldIdLst>\
                 </p:presentation>",
            )
            .part(
                "ppt/_rels/presentation.xml.rels",
                "<R><Relationship Id='a' Type='x/slide' Target='slides/slide1.xml'/>\
                 <Relationship Id='b' Type='x/slide' Target='slides/slide2.xml'/></R>",
            )
            .part("ppt/slides/slide2.xml", &part(first))
            .part("ppt/slides/slide1.xml", &part(second))
            .part(
                "ppt/slides/_rels/slide2.xml.rels",
                "<R><Relationship Id='n' Type='x/notesSlide' Target='../notesSlides/n.xml'/></R>",
            )
            .part(
                "ppt/notesSlides/n.xml",
                &part(&(shape("sldNum", "1") + &shape("body", "say it"))),
            )
            .finish()
    }

    #[test]
    fn slides_are_in_order_with_notes_and_tables() {
        let cell =
            |text: &str| format!("<a:tc><a:txBody><a:p><a:t>{text}</a:t></a:p></a:txBody></a:tc>");
        let table = format!(
            "<p:graphicFrame><a:tbl><a:tr>{}{}</a:tr><a:tr>{}</a:tr></a:tbl></p:graphicFrame>",
            cell("a"),
            cell("b"),
            cell("c")
        );
        let archive = presentation(
            &(shape("ctrTitle", "Title") + &shape("", "text")),
            &(shape("", "one") + &table),
        );
        assert_eq!(
            extract(&archive).unwrap().text,
            "# ── Slide 1 ──\n## Title\ntext\n# ── Notes ──\nsay it\n\n# ── Slide 2 ──\none\n\n\
             | a | b |\n| --- | --- |\n| c |"
        );
    }

    #[test]
    fn what_is_no_presentation() {
        let none = Zip::new().part("ppt/presentation.xml", "<p/>").finish();
        assert_eq!(extract(&none), Err(ExtractError::Blank));
        assert!(extract(b"PK").is_err());
    }
}

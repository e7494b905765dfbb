//! XML as a row of events, told by local names: which prefix stands for which namespace is the
//! writer's choice, and the names that matter here mean the same in all of them.

use std::borrow::Cow;

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event as Raw};
use quick_xml::{Reader, XmlVersion};

use crate::document::ExtractError;

/// How deeply elements may be nested.
const MAX_DEPTH: usize = 256;

const BROKEN: ExtractError = ExtractError::Malformed("the XML in it isn't well-formed");

/// What comes next.
#[derive(Debug)]
pub(super) enum Event<'a> {
    Start(Tag<'a>),
    /// The local name of an element that ends; empty elements begin and end too.
    End(Box<str>),
    Text(Cow<'a, str>),
}

/// The beginning of an element.
#[derive(Debug)]
pub(super) struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    pub(super) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of an attribute, by its local name.
    pub(super) fn attr(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// The value of an attribute without prefix.
    pub(super) fn plain_attr(&self, name: &str) -> Option<String> {
        self.find(|key| key == name)
    }

    /// The id of a relationship: the `id` with a prefix, beside which there may be one without.
    pub(super) fn relation(&self) -> Option<String> {
        self.find(|key| key.ends_with(":id"))
    }

    /// A number in an attribute.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.attr(name)?.trim().parse().ok()
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        // Without the check for doubles, which takes quadratic time.
        let mut attributes = self.0.attributes();
        let mut attributes = attributes.with_checks(false).flatten();
        let attribute = attributes.find(|it| wanted(it.key.0))?;
        attribute.normalized_value(XmlVersion::Explicit1_0).ok().map(Cow::into_owned)
    }
}

/// A document that is read from its beginning to its end.
pub(super) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
}

impl<'a> Xml<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, depth: 0 }
    }

    /// The next event; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Event<'a>>, ExtractError> {
        loop {
            match self.reader.read_event().map_err(|_| BROKEN)? {
                Raw::Start(tag) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(ExtractError::TooLarge("the XML in it is nested too deeply"));
                    }
                    return Ok(Some(Event::Start(Tag(tag))));
                }
                Raw::End(tag) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(Event::End(tag.local_name().into_inner().into())));
                }
                Raw::Text(text) => return Ok(Some(Event::Text(text.xml10_content()))),
                Raw::CData(text) => return Ok(Some(Event::Text(text.xml10_content()))),
                Raw::GeneralRef(name) => {
                    let text = match name.resolve_char_ref().map_err(|_| BROKEN)? {
                        Some(c) => Cow::Owned(c.to_string()),
                        // There is no document type, and so nothing else to refer to.
                        None => resolve_xml_entity(&name).ok_or(BROKEN)?.into(),
                    };
                    return Ok(Some(Event::Text(text)));
                }
                // It could define entities that grow when they are expanded; office programs
                // write none.
                Raw::DocType(_) => {
                    return Err(ExtractError::Malformed("the XML in it has a document type"));
                }
                Raw::Eof if self.depth > 0 => return Err(BROKEN),
                Raw::Eof => return Ok(None),
                Raw::Empty(_) | Raw::Comment(_) | Raw::Decl(_) | Raw::PI(_) => {}
            }
        }
    }

    /// Goes to the end of the element that began last.
    pub(super) fn skip(&mut self) -> Result<(), ExtractError> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside && self.next()?.is_some() {}
        Ok(())
    }

    /// The text in the element that began last, and in all that it has in it but elements of the
    /// name `except`.
    pub(super) fn text(&mut self, except: &str) -> Result<String, ExtractError> {
        let outside = self.depth.saturating_sub(1);
        let mut out = String::new();
        while self.depth > outside {
            match self.next()? {
                Some(Event::Text(text)) => out.push_str(&text),
                Some(Event::Start(tag)) if tag.name() == except => self.skip()?,
                Some(_) => {}
                None => break,
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn events(text: &str) -> Result<String, ExtractError> {
        let (mut xml, mut out) = (Xml::new(text), String::new());
        while let Some(event) = xml.next()? {
            match event {
                Event::Start(tag) => {
                    out.push_str(&format!("<{} {:?}>", tag.name(), tag.attr("v")));
                }
                Event::End(name) => out.push_str(&format!("</{name}>")),
                Event::Text(text) => out.push_str(&text),
            }
        }
        Ok(out)
    }

    #[test]
    fn names_are_local_and_references_resolved() {
        assert_eq!(
            events("<?xml version=\"1.0\"?><!-- c --><w:a w:v='1 &lt;'>x&amp;&#65;<![CDATA[<]]><b/></w:a>")
                .unwrap(),
            "<a Some(\"1 <\")>x&A<<b None></b></a>"
        );
    }

    #[test]
    fn hostile_texts_are_errors() {
        let deep = "<a>".repeat(1000) + &"</a>".repeat(1000);
        for text in [
            "<a>",
            "<a></b>",
            "</a>",
            "<a>&x;</a>",
            "<a>&#0;</a>",
            "<a>&</a>",
            "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
            "<a b",
            deep.as_str(),
        ] {
            assert!(events(text).is_err(), "{text:.60}");
        }
    }

    #[test]
    fn elements_can_be_skipped() {
        let mut xml = Xml::new("<a><b>1<c>2</c></b>3</a>");
        xml.next().unwrap();
        xml.next().unwrap();
        xml.skip().unwrap();
        assert!(matches!(xml.next(), Ok(Some(Event::Text(text))) if text == "3"));
        let mut xml = Xml::new("<a>1<b>2</b><c>3</c></a>");
        xml.next().unwrap();
        assert_eq!(xml.text("b").unwrap(), "13");
    }

    #[test]
    fn ids_of_relationships_have_a_prefix() {
        let mut xml = Xml::new("<a id='1' r:id='2'/>");
        let Some(Event::Start(tag)) = xml.next().unwrap() else { panic!("no element") };
        assert_eq!(tag.relation().as_deref(), Some("2"));
        assert_eq!(tag.plain_attr("id").as_deref(), Some("1"));
    }
}

//! Fonts: codes in the text of a page as characters and widths.

use std::collections::HashMap;

use super::cmap::{self, CMap};
use super::encoding::{Base, HELVETICA, TIMES, glyph};
use super::file::File;
use super::object::{Dict, Object};
use crate::document::ExtractError;

/// How wide characters are of which nothing is known, in thousandths of an em.
const USUAL_WIDTH: f64 = 500.0;
/// How many widths a font may have.
const MAX_WIDTHS: usize = 70_000;

/// A font.
#[derive(Debug)]
pub(super) struct Font {
    to_unicode: CMap,
    codes: Codes,
    widths: HashMap<u32, f32>,
    usual_width: f64,
}

#[derive(Debug)]
enum Codes {
    /// A byte each, with what it shows.
    Bytes(Vec<Option<String>>),
    /// Numbers of glyphs in two bytes: what they show is in the table to Unicode only.
    Glyphs,
    /// UTF-16.
    Utf16,
}

/// A character of a text.
#[derive(Debug, PartialEq)]
pub(super) struct Shown {
    /// What it shows; none when the font doesn't tell.
    pub(super) text: Option<String>,
    /// Its width in ems.
    pub(super) width: f64,
    /// Whether it is the blank of a single byte, which the space between words is added to.
    pub(super) is_blank: bool,
}

impl Font {
    pub(super) fn read(file: &File<'_>, dict: &Dict) -> Result<Self, ExtractError> {
        let to_unicode = match dict.get("ToUnicode") {
            Some(value) => file.stream(value)?.map(|data| CMap::read(&data)).unwrap_or_default(),
            None => CMap::default(),
        };
        if dict.is("Subtype", "Type0") {
            return Ok(Self::composite(file, dict, to_unicode));
        }
        let mut font = Self {
            to_unicode,
            codes: Codes::Bytes(bytes(file, dict)),
            widths: HashMap::new(),
            usual_width: USUAL_WIDTH,
        };
        font.simple_widths(file, dict);
        Ok(font)
    }

    fn composite(file: &File<'_>, dict: &Dict, to_unicode: CMap) -> Self {
        let encoding = file.get(dict, "Encoding");
        let name = encoding.as_ref().and_then(Object::name).unwrap_or_default();
        let is_utf16 = [&b"UCS2"[..], b"UTF16"]
            .iter()
            .any(|part| name.windows(part.len()).any(|it| it == *part));
        let descendant = match file.get(dict, "DescendantFonts") {
            Some(Object::Array(fonts)) => fonts.first().map(|font| file.resolve(font)),
            _ => None,
        };
        let descendant = descendant.as_ref().and_then(Object::dict);
        let number = |key| descendant.and_then(|it| file.get(it, key)?.number());
        let mut widths = HashMap::new();
        if let Some(Object::Array(list)) = descendant.and_then(|it| file.get(it, "W")) {
            glyph_widths(file, &list, &mut widths);
        }
        Self {
            to_unicode,
            codes: if is_utf16 { Codes::Utf16 } else { Codes::Glyphs },
            widths,
            usual_width: number("DW").unwrap_or(1000.0),
        }
    }

    fn simple_widths(&mut self, file: &File<'_>, dict: &Dict) {
        // Fonts that are drawn have units of their own.
        let scale = match file.get(dict, "FontMatrix") {
            Some(Object::Array(matrix)) => matrix.first().and_then(Object::number),
            _ => None,
        };
        let scale = scale.map_or(1.0, |scale| scale * 1000.0);
        if let Some(Object::Array(widths)) = file.get(dict, "Widths") {
            let first = file.get(dict, "FirstChar").and_then(|it| it.integer()).unwrap_or_default();
            for (index, width) in widths.iter().enumerate().take(256) {
                let width = file.resolve(width).number();
                if let (Some(width), Ok(code)) = (width, u32::try_from(first + index)) {
                    self.set_width(code, width * scale);
                }
            }
            let descriptor = file.get_dict(dict, "FontDescriptor");
            let missing = descriptor.and_then(|it| file.get(&it, "MissingWidth")?.number());
            self.usual_width = missing.unwrap_or(self.usual_width);
            return;
        }
        let name = file.get(dict, "BaseFont");
        let name = name.as_ref().and_then(Object::name).unwrap_or_default();
        let has = |part: &[u8]| name.windows(part.len()).any(|it| it == part);
        if has(b"Courier") {
            self.usual_width = 600.0;
            return;
        }
        let table = if has(b"Times") { TIMES } else { HELVETICA };
        for (code, width) in (32..).zip(table) {
            self.set_width(code, f64::from(width));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a width needs no more digits")]
    fn set_width(&mut self, code: u32, width: f64) {
        self.widths.insert(code, width as f32);
    }

    /// The characters of a text.
    pub(super) fn show(&self, mut text: &[u8]) -> Vec<Shown> {
        let mut shown = Vec::new();
        while !text.is_empty() {
            let len = match self.codes {
                Codes::Bytes(_) => 1,
                Codes::Glyphs => self.to_unicode.code_len(text).unwrap_or(2),
                Codes::Utf16 if matches!(text.first(), Some(0xD8..=0xDB)) => 4,
                Codes::Utf16 => 2,
            };
            let (bytes, rest) = text.split_at(len.min(text.len()));
            text = rest;
            let Some(code) = cmap::code(bytes) else { break };
            let width = self.widths.get(&code).map_or(self.usual_width, |width| f64::from(*width));
            shown.push(Shown {
                text: self.to_unicode.text(code).or_else(|| self.text(code, bytes)),
                width: width / 1000.0,
                is_blank: bytes == b" ",
            });
        }
        shown
    }

    fn text(&self, code: u32, bytes: &[u8]) -> Option<String> {
        match &self.codes {
            Codes::Bytes(table) => table.get(usize::try_from(code).ok()?).cloned().flatten(),
            Codes::Glyphs => None,
            Codes::Utf16 => {
                let units = bytes.chunks(2).map(|unit| match unit {
                    [a, b] => u16::from_be_bytes([*a, *b]),
                    _ => 0xFFFD,
                });
                String::from_utf16(&units.collect::<Vec<_>>()).ok()
            }
        }
    }
}

/// What each byte shows in a simple font.
fn bytes(file: &File<'_>, dict: &Dict) -> Vec<Option<String>> {
    let encoding = file.get(dict, "Encoding");
    let described = encoding.as_ref().and_then(Object::dict);
    let base = match (&encoding, described) {
        (Some(Object::Name(name)), _) => Base::of_name(name),
        (_, Some(dict)) => file.get(dict, "BaseEncoding").and_then(|it| Base::of_name(it.name()?)),
        _ => None,
    };
    // What a font without an encoding has inside isn't looked at.
    let usual = if dict.is("Subtype", "Type1") && described.is_some() {
        Base::Standard
    } else {
        Base::WinAnsi
    };
    let base = base.unwrap_or(usual);
    let mut table: Vec<Option<String>> =
        (0..=255).map(|byte| base.char(byte).map(String::from)).collect();
    let differences = described.and_then(|dict| file.get(dict, "Differences"));
    let mut code = 0;
    for item in differences.as_ref().and_then(Object::array).unwrap_or_default() {
        match item {
            Object::Number(_) => code = item.integer().unwrap_or_default(),
            Object::Name(name) => {
                if let Some(place) = table.get_mut(code) {
                    *place = std::str::from_utf8(name).ok().and_then(glyph);
                }
                code += 1;
            }
            _ => {}
        }
    }
    table
}

/// Widths of glyphs: `first [w w w]` and `first last w`.
fn glyph_widths(file: &File<'_>, list: &[Object], widths: &mut HashMap<u32, f32>) {
    let mut items = list.iter();
    let mut set = |code: usize, width: Option<f64>| {
        if let (Ok(code), Some(width)) = (u32::try_from(code), width)
            && widths.len() < MAX_WIDTHS
        {
            #[expect(clippy::cast_possible_truncation, reason = "a width needs no more digits")]
            widths.insert(code, width as f32);
        }
    };
    while let (Some(first), Some(second)) = (items.next(), items.next()) {
        let Some(first) = first.integer() else { return };
        match file.resolve(second) {
            Object::Array(row) => {
                for (index, width) in row.iter().enumerate() {
                    set(first.saturating_add(index), width.number());
                }
            }
            last => {
                let width = items.next().and_then(Object::number);
                let last = last.integer().unwrap_or_default().min(0xFFFF);
                (first..=last).for_each(|code| set(code, width));
            }
        }
    }
}

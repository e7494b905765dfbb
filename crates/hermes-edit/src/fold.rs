//! Typography that models write differently from files: quotes, dashes, blanks, composed letters.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::view::{Builder, View};

/// What a character is compared as; none when it is compared as itself.
fn folded(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{201C}'..='\u{201F}' | '\u{AB}' | '\u{BB}' => "\"",
        '\u{2018}'..='\u{201B}' | '\u{2032}' => "'",
        '\u{2010}'..='\u{2013}' | '\u{2212}' => "-",
        '\u{2014}' | '\u{2015}' => "--",
        '\u{2026}' => "...",
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => " ",
        '\u{200B}' | '\u{FEFF}' | '\u{2060}' => "",
        _ => return None,
    })
}

/// Whether a character neither combines with what stands before it nor is written another way when
/// composed.
fn stands_alone(character: char) -> bool {
    character.is_ascii()
        || folded(character).is_some()
        || (canonical_combining_class(character) == 0
            && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes)
}

/// The pieces of a text that are folded each on its own: a character and what combines with it.
fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, _) = rest.next()?;
        while rest.next_if(|&(_, next)| !stands_alone(next)).is_some() {}
        let end = rest.peek().map_or(text.len(), |&(end, _)| end);
        Some(start..end)
    })
}

/// One piece as it is compared.
fn fold_piece(piece: &str, out: &mut String) {
    for character in piece.nfc() {
        match folded(character) {
            Some(text) => out.push_str(text),
            None => out.push(character),
        }
    }
}

/// The text as it is compared.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { view(text).into_text() }
}

/// The text as it is compared, with the way back.
pub(crate) fn view(text: &str) -> View<'_> {
    let mut builder = Builder::new(text);
    let mut buffer = String::new();
    let mut done = 0;
    while let Some(piece) = next_piece(text, done) {
        done = piece.end;
        let source = text.get(piece.clone()).unwrap_or_default();
        let mut characters = source.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            match folded(only) {
                Some(folded) => builder.replace(piece, folded),
                // What stands alone is composed already.
                None if stands_alone(only) => {}
                None => {
                    buffer.clear();
                    fold_piece(source, &mut buffer);
                    builder.replace(piece, &buffer);
                }
            }
            continue;
        }
        buffer.clear();
        fold_piece(source, &mut buffer);
        if buffer != source {
            builder.replace(piece, &buffer);
        }
    }
    builder.finish()
}

/// Whether letters and digits may be compared otherwise than they stand in the text: there is a
/// character that is compared as nothing, or one that is another letter when composed.
pub(crate) fn may_hide_words(text: &str) -> bool {
    // The last is the Kelvin sign, the only character whose composed form is an ASCII letter.
    ["\u{200B}", "\u{FEFF}", "\u{2060}", "\u{212A}"]
        .into_iter()
        .any(|hidden| memchr::memmem::find(text.as_bytes(), hidden.as_bytes()).is_some())
}

/// The first piece from `done` on that isn't a single ASCII character; `done` is between pieces.
fn next_piece(text: &str, done: usize) -> Option<Range<usize>> {
    let rest = text.get(done..)?;
    let at = rest.bytes().position(|byte| !byte.is_ascii())?;
    let mut characters = rest.get(at..)?.chars();
    let first = characters.next()?;
    let combining: usize =
        characters.take_while(|next| !stands_alone(*next)).map(char::len_utf8).sum();
    // What doesn't stand alone combines with the character before, which is ASCII if there is one.
    let start = if stands_alone(first) { at } else { at.saturating_sub(1) };
    Some(done + start..done + at + first.len_utf8() + combining)
}

/// A text as units: what a part of it is compared as, and that part. A part that is compared as
/// nothing belongs to the unit before it.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// The characters that are compared.
    pub(crate) chars: Vec<char>,
    /// For each of them, which unit it is of.
    unit_of: Vec<usize>,
    /// For each unit, where its characters begin, and what it stands for.
    units: Vec<(usize, Range<usize>)>,
}

impl Units {
    pub(crate) fn of(text: &str) -> Self {
        let mut all = Self::default();
        let mut buffer = String::new();
        let mut pending = None;
        for piece in pieces(text) {
            buffer.clear();
            fold_piece(text.get(piece.clone()).unwrap_or_default(), &mut buffer);
            if buffer.is_empty() {
                match all.units.last_mut() {
                    Some((_, source)) => source.end = piece.end,
                    None => pending = pending.or(Some(piece.start)),
                }
                continue;
            }
            let start = pending.take().unwrap_or(piece.start);
            let unit = all.units.len();
            all.units.push((all.chars.len(), start..piece.end));
            all.chars.extend(buffer.chars());
            all.unit_of.resize(all.chars.len(), unit);
        }
        all
    }

    /// The unit of a character: its characters, and what it stands for.
    pub(crate) fn unit(&self, character: usize) -> Option<(Range<usize>, Range<usize>)> {
        let unit = *self.unit_of.get(character)?;
        let (start, source) = self.units.get(unit)?;
        let end = self.units.get(unit + 1).map_or(self.chars.len(), |(next, _)| *next);
        Some((*start..end, source.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn folding() {
        for (text, expected) in [
            ("“a” «b» ‘c’ d′", "\"a\" \"b\" 'c' d'"),
            ("a‐b–c−d—e―f…", "a-b-c-d--e--f..."),
            ("a\u{a0}b\u{2003}c\u{3000}d", "a b c d"),
            ("\u{feff}a\u{200b}\u{2060}b", "ab"),
            ("e\u{301} \u{1112}\u{1161}\u{11ab} \u{212b}", "é 한 Å"),
            ("１２３ ½", "１２３ ½"),
        ] {
            assert_eq!(fold(text), expected);
            assert_eq!(view(text).text(), expected);
            assert_eq!(Units::of(text).chars.iter().collect::<String>(), expected);
        }
    }

    #[test]
    fn the_way_back() {
        let text = "x — e\u{301}y";
        let folded = view(text);
        assert_eq!(folded.text(), "x -- éy");
        assert_eq!(folded.source(&(2..4)), Some(2..5));
        assert_eq!(folded.source(&(2..3)), None);
        assert_eq!(folded.source(&(5..7)), Some(6..9));
        let units = Units::of(text);
        assert_eq!(units.unit(3), Some((2..4, 2..5)));
        assert_eq!(units.unit(5), Some((5..6, 6..9)));
        assert_eq!(units.unit(7), None);
    }

    proptest::proptest! {
        #[test]
        fn all_ways_to_fold_are_one(text in "[ae—“\u{301}\u{316}\u{200b}\u{1112}\u{1161}\u{11ab}\u{2001}ﬁ½É]{0,12}") {
            let mut folded = String::new();
            fold_piece(&text, &mut folded);
            proptest::prop_assert_eq!(fold(&text).into_owned(), folded.as_str());
            proptest::prop_assert_eq!(Units::of(&text).chars.iter().collect::<String>(), folded);
        }
    }
}

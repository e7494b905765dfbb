//! From a pattern to something that any `grep` understands, and that fits every line which the
//! pattern fits. It may fit more: the lines are looked at again here.

use std::fmt::Write as _;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Stands for whatever lies between two parts.
const GAP: &[u8] = b".*";
/// How deep a pattern is looked into; what is deeper may be anything.
const MAX_DEPTH: usize = 50;
/// The most bytes of what is handed over.
const MAX_LENGTH: usize = 8 * 1024;
/// The most characters of a class that is spelt out.
const MAX_CLASS: u32 = 200;

/// A POSIX extended expression for lines, in bytes; none when every line could fit.
pub(super) fn lines(pattern: &str) -> Option<Vec<u8>> {
    let hir = ParserBuilder::new().multi_line(true).utf8(false).build().parse(pattern).ok()?;
    let Piece { text, .. } = piece(&hir, 0)?;
    // A line may hold anything before it anyway.
    let text = text.strip_prefix(GAP).map_or(text.clone(), <[u8]>::to_vec);
    (!text.is_empty() && text.len() <= MAX_LENGTH).then_some(text)
}

/// A part of an expression that has to be in the line.
struct Piece {
    text: Vec<u8>,
    /// Whatever comes next comes directly behind it.
    is_whole: bool,
}

/// What has to be in a line that fits; none when it may be anything.
fn piece(hir: &Hir, depth: usize) -> Option<Piece> {
    if depth > MAX_DEPTH {
        return None;
    }
    let depth = depth + 1;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(Piece { text: Vec::new(), is_whole: true }),
        HirKind::Literal(literal) => {
            let mut text = Vec::new();
            for &byte in &*literal.0 {
                put(&mut text, byte)?;
            }
            Some(Piece { text, is_whole: true })
        }
        HirKind::Class(class) => Some(Piece { text: of_class(class)?, is_whole: true }),
        HirKind::Capture(capture) => piece(&capture.sub, depth),
        HirKind::Repetition(repeated) => {
            if repeated.min == 0 {
                return None;
            }
            let piece = piece(&repeated.sub, depth)?;
            let is_once = repeated.min == 1 && repeated.max == Some(1);
            Some(Piece { is_whole: piece.is_whole && is_once, ..piece })
        }
        HirKind::Concat(parts) => concat(parts, depth),
        HirKind::Alternation(parts) => {
            let mut text = b"(".to_vec();
            let mut is_whole = true;
            for (index, part) in parts.iter().enumerate() {
                let piece = piece(part, depth).filter(|piece| !piece.text.is_empty())?;
                if index > 0 {
                    text.push(b'|');
                }
                text.extend(piece.text);
                is_whole &= piece.is_whole;
            }
            text.push(b')');
            Some(Piece { text, is_whole })
        }
    }
}

fn concat(parts: &[Hir], depth: usize) -> Option<Piece> {
    let (mut text, mut joins, mut is_any) = (Vec::new(), true, true);
    for part in parts {
        match piece(part, depth) {
            Some(piece) => {
                if !piece.text.is_empty() {
                    if !joins {
                        text.extend_from_slice(GAP);
                    }
                    joins = true;
                }
                is_any &= piece.text.is_empty();
                text.extend(piece.text);
                joins &= piece.is_whole;
            }
            None => joins = false,
        }
    }
    if is_any && !joins { None } else { Some(Piece { text, is_whole: joins }) }
}

/// One byte as itself; none for what no line holds.
fn put(text: &mut Vec<u8>, byte: u8) -> Option<()> {
    match byte {
        0 | b'\n' => return None,
        b'\\' | b'.' | b'[' | b']' | b'(' | b')' | b'{' | b'}' | b'*' | b'+' | b'?' | b'|'
        | b'^' | b'$' => text.push(b'\\'),
        _ => {}
    }
    text.push(byte);
    Some(())
}

/// One of some characters, each spelt out.
fn of_class(class: &Class) -> Option<Vec<u8>> {
    let mut chars: Vec<char> = Vec::new();
    match class {
        Class::Unicode(class) => {
            let size: u32 =
                class.iter().map(|it| u32::from(it.end()) - u32::from(it.start()) + 1).sum();
            if size > MAX_CLASS {
                return None;
            }
            chars.extend(class.iter().flat_map(|range| range.start()..=range.end()));
        }
        Class::Bytes(class) => {
            if !class.is_ascii() {
                return None;
            }
            let ranges = class.iter().flat_map(|range| range.start()..=range.end());
            chars.extend(ranges.map(char::from));
        }
    }
    let (plain, wide): (Vec<char>, Vec<char>) = chars.into_iter().partition(char::is_ascii);
    let mut options: Vec<Vec<u8>> = Vec::new();
    // The signs of the notation stand outside of it.
    let (letters, signs): (Vec<char>, Vec<char>) =
        plain.into_iter().partition(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == ' ');
    if !letters.is_empty() {
        options.push(format!("[{}]", letters.into_iter().collect::<String>()).into_bytes());
    }
    for sign in signs {
        let mut option = Vec::new();
        // Such a character is in no line, so it needs no option.
        if put(&mut option, u8::try_from(sign).ok()?).is_some() {
            options.push(option);
        }
    }
    for wide in wide {
        let mut option = String::new();
        let _ = write!(option, "{wide}");
        options.push(option.into_bytes());
    }
    match options.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some([b"(", several.join(&b'|').as_slice(), b")"].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    fn shown(pattern: &str) -> Option<String> {
        lines(pattern).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn patterns() {
        for (pattern, expected) in [
            ("needle", Some("needle")),
            ("a.b", Some("a.*b")),
            ("^a.*b$", Some("a.*b")),
            ("fn \\w+\\(", Some("fn .*\\(")),
            ("a|b", Some("[ab]")),
            ("foo|ba+r", Some("(foo|ba.*r)")),
            ("foo|x*", None),
            ("(?i)ad", Some("[Aa][Dd]")),
            ("(?i)k", Some("([Kk]|\u{212a})")),
            ("a?b", Some("b")),
            ("a{2,3}c", Some("a.*c")),
            ("(a)(b)", Some("ab")),
            ("a\\b b", Some("a b")),
            ("[.\\-]", Some("(-|\\.)")),
            ("\\d", None),
            ("[0-9]x", Some("[0123456789]x")),
            ("x\\d+", Some("x")),
            ("", None),
            (".*", None),
            ("ä", Some("ä")),
            ("a\\x00", None),
            ("a(.*b)c", Some("a.*bc")),
            ("a(b?c|d)e", Some("a(.*c|d)e")),
            ("(", None),
        ] {
            assert_eq!(shown(pattern).as_deref(), expected, "{pattern}");
        }
        assert!(shown(&format!("{}a{}", "(".repeat(200), ")".repeat(200))).is_none());
    }

    const PARTS: &[&str] = &[
        "a",
        "b",
        "ä",
        "[ab]",
        "[^a]",
        "\\.",
        "\\^",
        "x?",
        "b*",
        "(a|bx)",
        "(?:a.*|b)",
        "(?i:k)",
        "a{1,2}",
        "(ab){2}",
        "\\b",
        "^",
        "$",
        "(a|)",
        "(.*b)",
    ];

    proptest! {
        #[test]
        fn every_line_that_fits_the_pattern_fits_what_is_handed_over(
            pattern in prop::collection::vec(prop::sample::select(PARTS), 1..6),
            line in "[abäxkK.^ ]{0,12}",
        ) {
            let pattern = pattern.concat();
            let fits = regex_fits(&pattern, &line);
            if let Some(text) = lines(&pattern) {
                let text = String::from_utf8(text).unwrap();
                prop_assert!(!fits || regex_fits(&text, &line), "{} became {}", pattern, text);
            }
        }
    }

    fn regex_fits(pattern: &str, line: &str) -> bool {
        use grep_matcher::Matcher;
        let matcher = grep_regex::RegexMatcherBuilder::new().multi_line(true).build(pattern);
        matcher.unwrap().is_match(line.as_bytes()).unwrap()
    }
}

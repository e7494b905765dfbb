//! Bytes as values and operators.

use std::rc::Rc;

use super::object::{Dict, Object};

/// How deeply arrays and dictionaries may be nested.
const MAX_DEPTH: usize = 64;
/// How many values one value may have in it.
pub(super) const MAX_ITEMS: usize = 500_000;

/// Reads from a place on.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What stands somewhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Value(Object),
    /// A word that is no value: an operator, or a keyword of the file.
    Word(&'a [u8]),
}

/// The parts of values.
enum Part<'a> {
    Value(Object),
    Word(&'a [u8]),
    OpenArray,
    CloseArray,
    OpenDict,
    CloseDict,
}

/// An array or a dictionary that isn't closed yet.
struct Open {
    is_dict: bool,
    items: Vec<Object>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()) }
    }

    /// Where reading goes on.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn advance(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.bytes.len());
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next value or word; none at the end and where a value has no end.
    ///
    /// With `references`, `1 0 R` is one value; contents of pages have none.
    pub(super) fn next(&mut self, references: bool) -> Option<Token<'a>> {
        let mut open: Vec<Open> = Vec::new();
        let mut count = 0;
        loop {
            let value = match self.part()? {
                Part::OpenArray | Part::OpenDict if open.len() == MAX_DEPTH => return None,
                Part::OpenArray => {
                    open.push(Open { is_dict: false, items: Vec::new() });
                    continue;
                }
                Part::OpenDict => {
                    open.push(Open { is_dict: true, items: Vec::new() });
                    continue;
                }
                // One bracket too many is passed over, and the wrong one closes all the same.
                Part::CloseArray | Part::CloseDict => match open.pop() {
                    Some(Open { is_dict: true, items }) => Object::Dict(Dict::of(items).into()),
                    Some(Open { items, .. }) => Object::Array(items.into()),
                    None => continue,
                },
                Part::Value(value) => value,
                Part::Word(b"R") if references && !open.is_empty() => {
                    if let Some(Open { items, .. }) = open.last_mut()
                        && let [.., Object::Number(_), Object::Number(_)] = items.as_slice()
                    {
                        items.pop();
                        let number = items.pop().and_then(|number| number.integer());
                        let number = number.and_then(|number| u32::try_from(number).ok());
                        items.push(number.map_or(Object::Null, Object::Reference));
                    }
                    continue;
                }
                Part::Word(word) => match open.last() {
                    None => return Some(Token::Word(word)),
                    // The value was never closed.
                    Some(_) if matches!(word, b"endobj" | b"stream" | b"endstream") => return None,
                    Some(_) => Object::Null,
                },
            };
            count += 1;
            if count > MAX_ITEMS {
                return None;
            }
            match open.last_mut() {
                Some(open) => open.items.push(value),
                None => return Some(Token::Value(value)),
            }
        }
    }

    /// The next value; none where there is something else. A reference may stand alone here.
    pub(super) fn value(&mut self) -> Option<Object> {
        let Token::Value(value) = self.next(true)? else { return None };
        let number = value.integer().and_then(|number| u32::try_from(number).ok());
        let mut ahead = self.clone();
        if let Some(number) = number
            && let Some(Token::Value(Object::Number(_))) = ahead.next(false)
            && ahead.next(false) == Some(Token::Word(b"R"))
        {
            *self = ahead;
            return Some(Object::Reference(number));
        }
        Some(value)
    }

    /// Passes over white space and comments.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                let rest = self.rest();
                let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                self.advance(line.unwrap_or(rest.len()));
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn part(&mut self) -> Option<Part<'a>> {
        self.skip_blanks();
        let rest = self.rest();
        match *rest.first()? {
            b'[' => self.bracket(1, Part::OpenArray),
            b']' => self.bracket(1, Part::CloseArray),
            b'<' if rest.starts_with(b"<<") => self.bracket(2, Part::OpenDict),
            b'>' if rest.starts_with(b">>") => self.bracket(2, Part::CloseDict),
            b'<' => Some(Part::Value(Object::Text(self.hex()?))),
            b'(' => Some(Part::Value(Object::Text(self.text()?))),
            b'/' => Some(Part::Value(Object::Name(self.name()))),
            b')' | b'>' | b'{' | b'}' => self.bracket(1, Part::Word(b"")),
            _ => Some(self.word()),
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other parts may be missing")]
    fn bracket(&mut self, len: usize, part: Part<'a>) -> Option<Part<'a>> {
        self.advance(len);
        Some(part)
    }

    fn word(&mut self) -> Part<'a> {
        let rest = self.rest();
        let len = rest.iter().position(|&byte| !is_regular(byte)).unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or_default();
        self.advance(len);
        match word {
            b"true" => Part::Value(Object::Bool(true)),
            b"false" => Part::Value(Object::Bool(false)),
            b"null" => Part::Value(Object::Null),
            _ => {
                number(word).map_or(Part::Word(word), |number| Part::Value(Object::Number(number)))
            }
        }
    }

    fn name(&mut self) -> Rc<[u8]> {
        self.advance(1);
        let rest = self.rest();
        let len = rest.iter().position(|&byte| !is_regular(byte)).unwrap_or(rest.len());
        let raw = rest.get(..len).unwrap_or_default();
        self.advance(len);
        let mut name = Vec::with_capacity(raw.len());
        let mut raw = raw;
        while let Some((&byte, after)) = raw.split_first() {
            let escaped = match after {
                [a, b, ..] if byte == b'#' => hex_digit(*a).zip(hex_digit(*b)),
                _ => None,
            };
            name.push(escaped.map_or(byte, |(a, b)| a * 16 + b));
            raw = after.get(if escaped.is_some() { 2 } else { 0 }..).unwrap_or_default();
        }
        name.into()
    }

    fn hex(&mut self) -> Option<Rc<[u8]>> {
        self.advance(1);
        let len = self.rest().iter().position(|&byte| byte == b'>')?;
        let digits = self.rest().get(..len).unwrap_or_default();
        self.advance(len + 1);
        let digits: Vec<u8> = digits.iter().copied().filter_map(hex_digit).collect();
        let byte = |pair: &[u8]| match pair {
            [a, b] => a * 16 + b,
            [a] => a * 16,
            _ => 0,
        };
        Some(digits.chunks(2).map(byte).collect())
    }

    fn text(&mut self) -> Option<Rc<[u8]>> {
        self.advance(1);
        let (mut out, mut depth) = (Vec::new(), 1_usize);
        let mut next = || {
            let byte = self.peek();
            self.at += usize::from(byte.is_some());
            byte
        };
        let mut pending = None;
        loop {
            let byte = match pending.take() {
                Some(byte) => byte,
                None => next()?,
            };
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(out.into());
                    }
                }
                b'\\' => match next()? {
                    b'n' => out.push(b'\n'),
                    b'r' => out.push(b'\r'),
                    b't' => out.push(b'\t'),
                    b'b' => out.push(8),
                    b'f' => out.push(12),
                    // A line that goes on.
                    b'\n' => {}
                    b'\r' => pending = next().filter(|&byte| byte != b'\n'),
                    digit @ b'0'..=b'7' => {
                        let mut code = u32::from(digit - b'0');
                        for _ in 0..2 {
                            match next() {
                                Some(digit @ b'0'..=b'7') => {
                                    code = code * 8 + u32::from(digit - b'0');
                                }
                                other => {
                                    pending = other;
                                    break;
                                }
                            }
                        }
                        out.push(code.to_le_bytes().first().copied().unwrap_or_default());
                    }
                    other => out.push(other),
                },
                _ => {}
            }
            if matches!(byte, b'\\') {
                continue;
            }
            out.push(byte);
        }
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

const fn is_regular(byte: u8) -> bool {
    !is_blank(byte)
        && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

/// A number: `1`, `-.5`, `+3.`, and `--1` as some programs write it.
fn number(word: &[u8]) -> Option<f64> {
    let signs = word.iter().take_while(|&&byte| matches!(byte, b'+' | b'-')).count();
    let (signs, digits) = word.split_at_checked(signs)?;
    let plain = digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !plain || !digits.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let number: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if signs.contains(&b'-') { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn value(text: &str) -> Option<Object> {
        Lexer::new(text.as_bytes(), 0).value()
    }

    fn text(bytes: &[u8]) -> Option<Object> {
        Some(Object::Text(bytes.into()))
    }

    #[test]
    fn values() {
        assert_eq!(value(" % c\n 12"), Some(Object::Number(12.0)));
        assert_eq!(value("-.5"), Some(Object::Number(-0.5)));
        assert_eq!(value("/A#20b#"), Some(Object::Name(b"A b#"[..].into())));
        assert_eq!(value("3 0 R"), Some(Object::Reference(3)));
        assert_eq!(value("3 0 obj"), Some(Object::Number(3.0)));
        assert_eq!(value("<48 6>"), text(b"H\x60"));
        assert_eq!(value("(a(b)\\)\\n\\101\\5\\\r\nc\\\rd)"), text(b"a(b))\nA\x05cd"));
        assert_eq!(value("(\\0053)"), text(b"\x053"));
        let Some(Object::Dict(dict)) = value("<< /A [1 2 0 R (x)] /B<</C/D>> >>") else {
            panic!("no dictionary");
        };
        let items = dict.get("A").and_then(Object::array).unwrap();
        assert_eq!(items, [Object::Number(1.0), Object::Reference(2), text(b"x").unwrap()]);
        assert!(dict.get("B").and_then(Object::dict).unwrap().is("C", "D"));
    }

    #[test]
    fn what_has_no_end_is_none() {
        for broken in ["(a", "<41", "[1 2", "<</A 1", "[1 endobj", "", "]", "%"] {
            assert_eq!(value(broken), None, "{broken}");
        }
        assert_eq!(value(&"[".repeat(100_000)), None);
        assert_eq!(value(&format!("[{}]", "1 ".repeat(MAX_ITEMS + 1))), None);
        assert!(value(&("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH))).is_some());
    }

    #[test]
    fn operators_are_words() {
        let mut lexer = Lexer::new(b"1 0 0 rg(x)Tj T*", 0);
        let mut words = Vec::new();
        while let Some(token) = lexer.next(false) {
            if let Token::Word(word) = token {
                words.push(String::from_utf8_lossy(word).into_owned());
            }
        }
        assert_eq!(words, ["rg", "Tj", "T*"]);
    }
}

//! Tables from codes to text, as fonts have them.

use super::lexer::{Lexer, Token};
use super::object::Object;

/// How many entries a table may have.
const MAX_ENTRIES: usize = 200_000;

/// A table from codes of one to four bytes to text.
#[derive(Debug, Default)]
pub(super) struct CMap {
    /// How many bytes codes have, by the ranges that were declared: length, first, last.
    spaces: Vec<(usize, u32, u32)>,
    /// First and last code, and the text of the first in UTF-16.
    ranges: Vec<(u32, u32, Box<[u16]>)>,
}

impl CMap {
    pub(super) fn read(data: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(data, 0);
        // What stood before the last word.
        let mut stack: Vec<Object> = Vec::new();
        while let Some(token) = lexer.next(false) {
            match token {
                Token::Value(value) => {
                    stack.push(value);
                    if stack.len() > MAX_ENTRIES * 3 {
                        break;
                    }
                    continue;
                }
                Token::Word(b"endcodespacerange") => map.add_spaces(&stack),
                Token::Word(b"endbfchar") => map.add_chars(&stack),
                Token::Word(b"endbfrange") => map.add_ranges(&stack),
                Token::Word(_) => {}
            }
            stack.clear();
        }
        // Stable, and the last one that fits is taken: later entries count.
        map.ranges.sort_by_key(|(first, ..)| *first);
        map
    }

    fn add_spaces(&mut self, stack: &[Object]) {
        for pair in stack.chunks_exact(2) {
            if let [Object::Text(first), Object::Text(last)] = pair
                && self.spaces.len() < 256
                && let Some(range) = code(first).zip(code(last))
            {
                self.spaces.push((first.len(), range.0, range.1));
            }
        }
    }

    fn add_chars(&mut self, stack: &[Object]) {
        for pair in stack.chunks_exact(2) {
            if let [Object::Text(from), Object::Text(to)] = pair
                && let Some(from) = code(from)
            {
                self.add(from, from, to);
            }
        }
    }

    fn add_ranges(&mut self, stack: &[Object]) {
        for triple in stack.chunks_exact(3) {
            let [Object::Text(first), Object::Text(last), to] = triple else { continue };
            let (Some(first), Some(last)) = (code(first), code(last)) else { continue };
            match to {
                Object::Text(to) => self.add(first, last, to),
                Object::Array(items) => {
                    for (code, item) in (first..=last).zip(items.iter()) {
                        if let Object::Text(to) = item {
                            self.add(code, code, to);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, first: u32, last: u32, to: &[u8]) {
        if self.ranges.len() < MAX_ENTRIES && to.len() <= 128 {
            let unit = |pair: &[u8]| match pair {
                [a, b] => u16::from_be_bytes([*a, *b]),
                [a] => u16::from(*a),
                _ => 0,
            };
            self.ranges.push((first, last, to.chunks(2).map(unit).collect()));
        }
    }

    /// The text of a code; none when the table doesn't have it.
    pub(super) fn text(&self, code: u32) -> Option<String> {
        let after = self.ranges.partition_point(|(first, ..)| *first <= code);
        // Ranges may overlap; not many are looked at.
        let near = self.ranges.get(after.saturating_sub(8)..after)?;
        let (first, _, to) = near.iter().rev().find(|(_, last, _)| code <= *last)?;
        let mut units = to.to_vec();
        if let Some(last) = units.last_mut() {
            *last = last.wrapping_add(u16::try_from(code - first).ok()?);
        }
        Some(String::from_utf16_lossy(&units))
    }

    /// How many bytes the code at the start of `bytes` has; none when the table doesn't say.
    pub(super) fn code_len(&self, bytes: &[u8]) -> Option<usize> {
        let (len, ..) = self.spaces.iter().find(|(len, first, last)| {
            let code = bytes.get(..*len).and_then(code);
            code.is_some_and(|code| (*first..=*last).contains(&code))
        })?;
        Some(*len)
    }
}

/// Bytes as a code, the most significant one first.
pub(super) fn code(bytes: &[u8]) -> Option<u32> {
    (1..=4)
        .contains(&bytes.len())
        .then(|| bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn codes_are_looked_up() {
        let map = CMap::read(
            b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <00> <7F> <8000> <FFFF>\n\
              endcodespacerange 2 beginbfchar <01> <0041> <02> <D83DDE00> endbfchar\n\
              3 beginbfrange <10> <12> <0061> <8140> <8141> [<0066006C> <4E00>] <20> <10> <0000>\n\
              endbfrange",
        );
        for (code, expected) in [
            (1, Some("A")),
            (2, Some("😀")),
            (0x10, Some("a")),
            (0x12, Some("c")),
            (0x13, None),
            (0x8140, Some("fl")),
            (0x8141, Some("一")),
            (0x20, None),
            (0, None),
        ] {
            assert_eq!(map.text(code).as_deref(), expected, "{code}");
        }
        assert_eq!(map.code_len(b"\x01\x02"), Some(1));
        assert_eq!(map.code_len(b"\x81\x02"), Some(2));
        assert_eq!(map.code_len(b"\x81"), None);
    }
}

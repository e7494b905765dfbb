//! Bytes that come in pieces as text.

/// Stands for bytes that are no UTF-8.
const REPLACEMENT: &str = "\u{FFFD}";

/// Bytes of text with replaced parts that are given out at once, or a little more.
const PIECE: usize = 16 * 1024;

/// Decodes UTF-8 that comes in pieces: a character may be split between two. Each malformed
/// sequence becomes U+FFFD, as with [`String::from_utf8_lossy`].
///
/// ```
/// let mut decoder = hermes_terminal::Decoder::default();
/// let mut text = String::new();
/// for piece in [b"caf\xc3" as &[u8], b"\xa9 \xff"] {
///     decoder.push(piece, &mut |part| text.push_str(part));
/// }
/// assert_eq!(text, "café \u{FFFD}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// The beginning of a character, at most 3 bytes.
    held: Vec<u8>,
}

impl Decoder {
    /// Decodes the next bytes and gives `out` what is complete.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        let mut bytes = bytes;
        while !self.held.is_empty()
            && let Some((first, rest)) = bytes.split_first()
        {
            bytes = rest;
            self.held.push(*first);
            let held = std::mem::take(&mut self.held);
            self.decode(&held, out);
        }
        self.decode(bytes, out);
    }

    /// Gives `out` what was left incomplete at the end.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        if !self.held.is_empty() {
            self.held.clear();
            out(REPLACEMENT);
        }
    }

    fn decode(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        let mut rest = bytes;
        // What isn't text comes out in large pieces too: a program may print an archive.
        let mut mended = String::new();
        while !rest.is_empty() {
            let error = match std::str::from_utf8(rest) {
                Ok(text) if mended.is_empty() => return out(text),
                Ok(text) => {
                    mended.push_str(text);
                    break;
                }
                Err(error) => error,
            };
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            mended.push_str(std::str::from_utf8(valid).unwrap_or_default());
            let Some(length) = error.error_len() else {
                self.held.extend_from_slice(invalid);
                break;
            };
            mended.push_str(REPLACEMENT);
            rest = invalid.get(length..).unwrap_or_default();
            if mended.len() >= PIECE {
                out(&mended);
                mended.clear();
            }
        }
        if !mended.is_empty() {
            out(&mended);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for piece in pieces {
            decoder.push(piece, &mut |part| text.push_str(part));
        }
        decoder.finish(&mut |part| text.push_str(part));
        text
    }

    #[test]
    fn incomplete_characters() {
        assert_eq!(pieces([b"\xe6\x97" as &[u8]]), "\u{FFFD}");
        assert_eq!(pieces([b"\xe6" as &[u8], b"\x97", b"\xa5x"]), "日x");
        assert_eq!(pieces([b"\xe6" as &[u8], b"x"]), "\u{FFFD}x");
        assert_eq!(pieces([b"\xe6\x97" as &[u8], b"\xe6\x97\xa5"]), "\u{FFFD}日");
        assert_eq!(pieces([b"\xff\xfe ok" as &[u8]]), "\u{FFFD}\u{FFFD} ok");
    }

    proptest! {
        #[test]
        fn as_the_standard_library(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), Just(0xe6), Just(0x97), Just(0xf0), Just(0x9f)], 0..60),
            size in 1usize..9,
        ) {
            prop_assert_eq!(pieces(bytes.chunks(size)), String::from_utf8_lossy(&bytes));
        }
    }
}

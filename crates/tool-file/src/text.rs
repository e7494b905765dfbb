//! Bytes on disk as text and back: encodings, byte order marks, line endings.

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use hermes_edit::lines::to_lf;

use crate::detect::{Detector, leads_back};

/// How a file's bytes stand for characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    Utf16Le,
    Utf16Be,
    /// One that was guessed. Where no guess fits it is windows-1252, in which each byte is a
    /// character and back, so that what isn't edited survives.
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// The name in results.
    pub(crate) fn name(self) -> String {
        let encoding = match self {
            Self::Utf8 => UTF_8,
            Self::Utf16Le => UTF_16LE,
            Self::Utf16Be => UTF_16BE,
            Self::Legacy(encoding) => encoding,
        };
        encoding.name().to_ascii_lowercase()
    }

    const fn bom(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"\xEF\xBB\xBF",
            Self::Utf16Le => b"\xFF\xFE",
            Self::Utf16Be => b"\xFE\xFF",
            Self::Legacy(_) => b"",
        }
    }

    /// The encoding that a byte order mark at the start of `head` tells, and the mark's length.
    pub(crate) fn of_bom(head: &[u8]) -> Option<(Self, usize)> {
        [Self::Utf8, Self::Utf16Le, Self::Utf16Be]
            .into_iter()
            .find(|encoding| head.starts_with(encoding.bom()))
            .map(|encoding| (encoding, encoding.bom().len()))
    }
}

/// How a file is written: what to keep when it is written again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) encoding: Encoding,
    pub(crate) bom: bool,
}

/// Why bytes aren't text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotText {
    /// There is a NUL byte, and no byte order mark that would explain it.
    Nul,
    /// The bytes break the rules of the encoding that their byte order mark tells.
    Malformed,
}

/// Decodes a whole file, so that [`encode`] gives back the same bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Cow<'_, str>, Format), NotText> {
    let marked = Encoding::of_bom(bytes);
    let (encoding, skip) = marked.unwrap_or_default();
    let format = Format { encoding, bom: marked.is_some() };
    let body = bytes.get(skip..).unwrap_or_default();
    let text = match encoding {
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let codec = if encoding == Encoding::Utf16Le { UTF_16LE } else { UTF_16BE };
            codec
                .decode_without_bom_handling_and_without_replacement(body)
                .ok_or(NotText::Malformed)?
        }
        _ if memchr::memchr(0, body).is_some() => return Err(NotText::Nul),
        _ => match std::str::from_utf8(body) {
            Ok(text) => Cow::Borrowed(text),
            // A UTF-8 mark before bytes of another encoding: the mark is part of the data.
            Err(_) => {
                let encoding = if marked.is_some() { WINDOWS_1252 } else { legacy(bytes) };
                let format = Format { encoding: Encoding::Legacy(encoding), bom: false };
                return Ok((decode_legacy(bytes, encoding), format));
            }
        },
    };
    Ok((text, format))
}

/// What bytes without a mark are in that aren't UTF-8. Unlike a reader of some lines, who only
/// sees the sample, this is about all of them: if they don't all come back, none may be changed.
fn legacy(bytes: &[u8]) -> &'static encoding_rs::Encoding {
    let mut detector = Detector::default();
    detector.push(bytes);
    match detector.finish() {
        Encoding::Legacy(encoding) if leads_back(encoding, bytes) => encoding,
        _ => WINDOWS_1252,
    }
}

/// Decodes a part of a text that doesn't cut a character, such as a line.
pub(crate) fn decode_legacy<'a>(
    bytes: &'a [u8],
    encoding: &'static encoding_rs::Encoding,
) -> Cow<'a, str> {
    encoding.decode_without_bom_handling(bytes).0
}

/// Decodes bytes of an unknown encoding of single bytes.
pub(crate) fn decode_single_bytes(bytes: &[u8]) -> Cow<'_, str> {
    decode_legacy(bytes, WINDOWS_1252)
}

/// The text as bytes; none when the encoding has no sign for a character in it.
pub(crate) fn encode(text: &str, format: Format) -> Option<Vec<u8>> {
    let mut out = if format.bom { format.encoding.bom().to_vec() } else { Vec::new() };
    match format.encoding {
        Encoding::Utf8 => out.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        Encoding::Legacy(encoding) => {
            let (bytes, _, unmappable) = encoding.encode(text);
            if unmappable {
                return None;
            }
            out.extend_from_slice(&bytes);
        }
    }
    Some(out)
}

/// `text` with every line ending in CR LF.
pub(crate) fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}

/// Turns a stream of UTF-16 into UTF-8; what is malformed becomes U+FFFD.
pub(crate) struct Utf16Reader<R> {
    inner: R,
    decoder: Decoder,
    input: Vec<u8>,
    used: usize,
    filled: usize,
    ended: bool,
    // A decoder must not be asked again after its last piece.
    finished: bool,
}

impl<R: Read> Utf16Reader<R> {
    /// Reads from `inner`, which stands behind the byte order mark.
    pub(crate) fn new(inner: R, encoding: Encoding) -> Self {
        let codec = if encoding == Encoding::Utf16Be { UTF_16BE } else { UTF_16LE };
        Self {
            inner,
            decoder: codec.new_decoder_without_bom_handling(),
            input: vec![0; 32 * 1024],
            used: 0,
            filled: 0,
            ended: false,
            finished: false,
        }
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    /// `out` must have room for a few characters.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.finished {
            if self.used == self.filled && !self.ended {
                self.filled = self.inner.read(&mut self.input)?;
                self.used = 0;
                self.ended = self.filled == 0;
            }
            let input = self.input.get(self.used..self.filled).unwrap_or_default();
            let (result, read, written, _) = self.decoder.decode_to_utf8(input, out, self.ended);
            self.used += read;
            self.finished = self.ended && result == CoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
            if result == CoderResult::OutputFull {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn utf16(text: &str, encoding: Encoding) -> Vec<u8> {
        encode(text, Format { encoding, bom: true }).unwrap()
    }

    #[test]
    fn decoding_and_encoding_give_back_the_same_bytes() {
        for (bytes, text, encoding) in [
            (b"a\n".to_vec(), "a\n", Encoding::Utf8),
            (b"\xEF\xBB\xBFa".to_vec(), "a", Encoding::Utf8),
            (b"caf\xE9 \x81".to_vec(), "caf\u{e9} \u{81}", Encoding::Legacy(WINDOWS_1252)),
            (b"\xEF\xBB\xBF\xE9".to_vec(), "ï»¿é", Encoding::Legacy(WINDOWS_1252)),
            (utf16("ä\n😀", Encoding::Utf16Le), "ä\n😀", Encoding::Utf16Le),
            (utf16("ä\n😀", Encoding::Utf16Be), "ä\n😀", Encoding::Utf16Be),
        ] {
            let (decoded, format) = decode(&bytes).unwrap();
            assert_eq!((decoded.as_ref(), format.encoding), (text, encoding));
            assert_eq!(encode(&decoded, format).unwrap(), bytes);
        }
        let all: Vec<u8> = (1..=255).collect();
        let (decoded, format) = decode(&all).unwrap();
        assert_eq!(encode(&decoded, format).unwrap(), all);
    }

    #[test]
    fn what_is_no_text() {
        assert_eq!(decode(b"a\0b").unwrap_err(), NotText::Nul);
        assert_eq!(decode(b"\xFF\xFEa").unwrap_err(), NotText::Malformed);
        assert_eq!(decode(b"\xFF\xFE\x00\xD8a\0").unwrap_err(), NotText::Malformed);
        let latin = Format { encoding: Encoding::Legacy(WINDOWS_1252), bom: false };
        assert_eq!(encode("日", latin), None);
    }

    #[test]
    fn a_stream_of_utf16_is_read_whatever_the_buffer() {
        let text = "aä日😀\n".repeat(20_000);
        let bytes = utf16(&text, Encoding::Utf16Be);
        let mut reader = Utf16Reader::new(&bytes[2..], Encoding::Utf16Be);
        let (mut out, mut piece) = (Vec::new(), [0; 61]);
        loop {
            match reader.read(&mut piece).unwrap() {
                0 => break,
                read => out.extend_from_slice(&piece[..read]),
            }
        }
        assert!(out == text.as_bytes());
        assert!(reader.read(&mut piece[..1]).is_ok_and(|read| read == 0));
    }

    #[test]
    fn line_endings() {
        assert_eq!(to_crlf("a\nb\r\nc\rd"), "a\r\nb\r\nc\rd");
    }
}

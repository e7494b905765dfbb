//! Which encoding bytes without a mark are in: UTF-8 if they can be, else a guess.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::WINDOWS_1252;

use crate::text::Encoding;

/// How many bytes the guess is made from, those around the first that isn't UTF-8.
const SAMPLE: usize = 64 * 1024;
/// How far the sample may begin before that byte.
const CONTEXT: usize = 256;
/// Bytes below are characters of their own in every encoding that is guessed: a sample that begins
/// behind one doesn't begin within a character.
const FIRST_IN_PAIRS: u8 = 0x30;
/// The longest start of a character of UTF-8 that may be cut off.
const MAX_OPEN: usize = 3;

/// Looks at a stream of bytes, whatever the pieces it comes in: the same stream always gives the
/// same answer.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// How many bytes there were.
    seen: usize,
    /// The start of a character that the last piece cut off.
    open: Vec<u8>,
    /// The last bytes before the piece to come.
    tail: Vec<u8>,
    /// From the first bytes on that aren't UTF-8; none as long as all were.
    sample: Option<Vec<u8>>,
}

impl Detector {
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if let Some(sample) = &mut self.sample {
            let room = SAMPLE.saturating_sub(sample.len());
            sample.extend_from_slice(piece.get(..room).unwrap_or(piece));
            return;
        }
        if let Some(at) = self.break_in(piece) {
            self.begin_sample(at, piece);
            return;
        }
        self.seen += piece.len();
        let keep = piece.len().min(CONTEXT + MAX_OPEN);
        self.tail.extend_from_slice(piece.get(piece.len() - keep..).unwrap_or_default());
        let extra = self.tail.len().saturating_sub(CONTEXT + MAX_OPEN);
        self.tail.drain(..extra);
    }

    /// Where in the whole stream the first bytes are that aren't UTF-8.
    fn break_in(&mut self, mut piece: &[u8]) -> Option<usize> {
        let mut at = self.seen;
        while !self.open.is_empty() {
            let (&byte, rest) = piece.split_first()?;
            let start = at - self.open.len();
            self.open.push(byte);
            (piece, at) = (rest, at + 1);
            match std::str::from_utf8(&self.open) {
                Ok(_) => self.open.clear(),
                Err(err) if err.error_len().is_some() => return Some(start),
                Err(_) => {}
            }
        }
        let err = std::str::from_utf8(piece).err()?;
        if err.error_len().is_some() {
            return Some(at + err.valid_up_to());
        }
        self.open.extend_from_slice(piece.get(err.valid_up_to()..).unwrap_or_default());
        None
    }

    fn begin_sample(&mut self, at: usize, piece: &[u8]) {
        // The tail ends where the piece begins.
        let first = self.seen - self.tail.len();
        let near = at - first;
        let known = self.tail.len();
        let byte = |index: usize| match index.checked_sub(known) {
            Some(index) => piece.get(index).copied(),
            None => self.tail.get(index).copied(),
        };
        let context = near.saturating_sub(CONTEXT)..near;
        let start = context.rev().find(|&index| byte(index).is_some_and(|b| b < FIRST_IN_PAIRS));
        // At the beginning of the stream nothing is cut either.
        let start = match start {
            Some(index) => index + 1,
            None if at <= CONTEXT => 0,
            None => near,
        };
        let mut sample = self.tail.get(start.min(known)..).unwrap_or_default().to_vec();
        let from = start.saturating_sub(known);
        sample.extend(piece.iter().skip(from).take(SAMPLE - sample.len()));
        self.sample = Some(sample);
    }

    /// The answer for all that was pushed.
    pub(crate) fn finish(mut self) -> Encoding {
        if self.sample.is_none() && !self.open.is_empty() {
            let at = self.seen - self.open.len();
            self.begin_sample(at, &[]);
        }
        self.sample.map_or(Encoding::Utf8, |sample| Encoding::Legacy(guess(&sample)))
    }
}

/// The encoding of bytes that aren't UTF-8. One that doesn't lead from these bytes to text and
/// back is of no use; windows-1252 always does.
fn guess(sample: &[u8]) -> &'static encoding_rs::Encoding {
    // The last character of a full sample may be cut.
    let is_end = |&byte: &u8| byte < FIRST_IN_PAIRS;
    let whole = match sample.iter().rposition(is_end) {
        Some(end) if sample.len() == SAMPLE => sample.get(..=end).unwrap_or(sample),
        _ => sample,
    };
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(whole, true);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    if leads_back(guessed, whole) { guessed } else { WINDOWS_1252 }
}

/// Whether an encoding leads from bytes to text and from there to the same bytes.
pub(crate) fn leads_back(encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> bool {
    encoding
        .decode_without_bom_handling_and_without_replacement(bytes)
        .is_some_and(|text| *encoding.encode(&text).0 == *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, EUC_KR, GBK, KOI8_U, SHIFT_JIS, WINDOWS_1251};
    use pretty_assertions::assert_eq;

    fn detect(bytes: &[u8], piece: usize) -> Encoding {
        let mut detector = Detector::default();
        bytes.chunks(piece).for_each(|piece| detector.push(piece));
        detector.finish()
    }

    #[test]
    fn utf8_is_told_however_it_is_cut() {
        for (bytes, expected) in [
            ("aä日😀b".as_bytes(), true),
            (b"a\xE9b", false),
            (b"a\xF0\x9F\x98", false),
            (b"\xED\xA0\x80", false),
            (b"", true),
        ] {
            for size in 1..=bytes.len().max(1) {
                let utf8 = detect(bytes, size) == Encoding::Utf8;
                assert_eq!(utf8, expected, "{bytes:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn languages_are_told_by_their_bytes() {
        for (encoding, text) in [
            (SHIFT_JIS, "これは日本語の文章です。\nファイルを読み込みます。\n"),
            (GBK, "这是一个中文文本文件。\n请读取这个文件的内容。\n"),
            (BIG5, "這是一個繁體中文的文字檔案。\n請讀取這個檔案的內容。\n"),
            (EUC_KR, "이것은 한국어 텍스트 파일입니다.\n파일을 읽어 주세요.\n"),
            (WINDOWS_1251, "Это русский текст в старой кодировке.\nВторая строка.\n"),
            // It has all that KOI8-R has but some frames of boxes, and is never told from it.
            (KOI8_U, "Это русский текст в старой кодировке.\nВторая строка.\n"),
            (WINDOWS_1252, "Größe und Maße: ça va très bien.\n"),
        ] {
            let bytes = encoding.encode(text).0;
            for text in
                [bytes.to_vec(), [&b"plain text before it\n".repeat(9000)[..], &bytes].concat()]
            {
                assert_eq!(detect(&text, 64 * 1024), Encoding::Legacy(encoding), "{encoding:?}");
            }
        }
    }

    #[test]
    fn the_pieces_do_not_matter() {
        let text = GBK.encode("一些文字 and more 的内容\n").0.repeat(40);
        for before in ["", "plain ", &"ä日".repeat(200), &"ü ".repeat(300)] {
            let bytes = [before.as_bytes(), &text].concat();
            let expected = detect(&bytes, bytes.len());
            for size in [1, 2, 3, 5, 7, 64, 259, 1000] {
                assert_eq!(detect(&bytes, size), expected, "{size} {before:.9}");
            }
        }
    }

    #[test]
    fn what_does_not_lead_back_is_not_guessed() {
        let noise: Vec<u8> = (0..5000_u32).map(|n| (n * n % 251 + 4) as u8).collect();
        let Encoding::Legacy(encoding) = detect(&noise, 100) else { panic!("noise isn't UTF-8") };
        assert!(leads_back(encoding, &noise));
    }
}

//! The parts of a package: a zip archive, of which only what is asked for is inflated.

use std::collections::HashMap;

use crate::document::ExtractError;
use crate::inflate::{Inflated, inflate};

/// How much is inflated of one package, in bytes.
const MAX_INFLATED: usize = 64 * 1024 * 1024;
/// How many parts a package may have.
const MAX_PARTS: usize = 20_000;

const NO_ARCHIVE: ExtractError = ExtractError::Malformed("it isn't a whole zip archive");
const BOMB: ExtractError =
    ExtractError::TooLarge("it inflates to more than 64 MiB, or to 200 times its size");

/// An opened archive.
pub(super) struct Package<'a> {
    bytes: &'a [u8],
    /// By name in lower case and with slashes: names of parts go without regard to case.
    parts: HashMap<String, Part>,
    budget: usize,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    encrypted: bool,
    method: u16,
    checksum: u32,
    packed: usize,
    /// Where its local header is.
    start: usize,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let end = end_record(bytes).ok_or(NO_ARCHIVE)?;
        let record = Fields(bytes.get(end..).unwrap_or_default());
        let (count, size, offset) = (record.u16(10)?, record.u32(12)?, record.u32(16)?);
        // Something may stand before the archive; its offsets don't count that.
        let directory = end.checked_sub(size).ok_or(NO_ARCHIVE)?;
        let before = directory.checked_sub(offset).ok_or(NO_ARCHIVE)?;
        if usize::from(count) > MAX_PARTS {
            return Err(ExtractError::TooLarge("it has more than 20,000 parts"));
        }
        let mut parts = HashMap::new();
        let mut rest = bytes.get(directory..end).unwrap_or_default();
        for _ in 0..count {
            let (name, part, len) = entry(rest, before)?;
            parts.entry(name).or_insert(part);
            rest = rest.get(len..).unwrap_or_default();
        }
        Ok(Self { bytes, parts, budget: MAX_INFLATED })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(&normal(name))
    }

    /// The text of a part; none when there isn't one of that name.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        let Some(&part) = self.parts.get(&normal(name)) else { return Ok(None) };
        if part.encrypted {
            return Err(ExtractError::Encrypted);
        }
        let header = Fields(self.bytes.get(part.start..).ok_or(NO_ARCHIVE)?);
        if !header.0.starts_with(b"PK\x03\x04") {
            return Err(NO_ARCHIVE);
        }
        let data = 30 + usize::from(header.u16(26)?) + usize::from(header.u16(28)?);
        let end = data.checked_add(part.packed).ok_or(NO_ARCHIVE)?;
        let packed = header.0.get(data..end).ok_or(NO_ARCHIVE)?;
        let bytes = match part.method {
            0 if packed.len() > self.budget => return Err(BOMB),
            0 => {
                self.budget -= packed.len();
                packed.to_vec()
            }
            8 => match inflate(packed, false, &mut self.budget) {
                Inflated::Whole(bytes) => bytes,
                Inflated::Damaged(_) => return Err(NO_ARCHIVE),
                Inflated::TooLarge => return Err(BOMB),
            },
            _ => return Err(ExtractError::Malformed("it is compressed in an unusual way")),
        };
        let mut sum = flate2::Crc::new();
        sum.update(&bytes);
        if sum.sum() != part.checksum {
            return Err(NO_ARCHIVE);
        }
        Ok(Some(decode(bytes)))
    }

    /// The same, of a part that must be there.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, ExtractError> {
        self.part(name)?
            .ok_or(ExtractError::Malformed("the part with its text is missing from the archive"))
    }
}

fn normal(name: &str) -> String {
    name.trim_start_matches('/').replace('\\', "/").to_ascii_lowercase()
}

/// Where the record at the end of an archive begins. A comment may follow it.
fn end_record(bytes: &[u8]) -> Option<usize> {
    const LEN: usize = 22;
    let last = bytes.len().checked_sub(LEN)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    (first..=last).rev().find(|&at| bytes.get(at..).is_some_and(|it| it.starts_with(b"PK\x05\x06")))
}

/// An entry of the directory: its name, what it says, and its length.
fn entry(bytes: &[u8], before: usize) -> Result<(String, Part, usize), ExtractError> {
    if !bytes.starts_with(b"PK\x01\x02") {
        return Err(NO_ARCHIVE);
    }
    let fields = Fields(bytes);
    let lens = [28, 30, 32].map(|at| fields.u16(at).map(usize::from));
    let [name_len, extra_len, comment_len] = lens;
    let name_end = 46 + name_len?;
    let extra_end = name_end + extra_len?;
    let name = String::from_utf8_lossy(bytes.get(46..name_end).ok_or(NO_ARCHIVE)?);
    let extra = bytes.get(name_end..extra_end).ok_or(NO_ARCHIVE)?;
    let mut sizes = [fields.u32(24)?, fields.u32(20)?, fields.u32(42)?];
    long_sizes(extra, &mut sizes);
    let [_, packed, start] = sizes;
    let part = Part {
        encrypted: fields.u16(8)? & 1 == 1,
        method: fields.u16(10)?,
        checksum: u32::try_from(fields.u32(16)?).unwrap_or_default(),
        packed,
        start: start.checked_add(before).ok_or(NO_ARCHIVE)?,
    };
    Ok((normal(&name), part, extra_end + comment_len?))
}

/// Replaces the sizes that say that they are in an extra field.
fn long_sizes(mut extra: &[u8], sizes: &mut [usize; 3]) {
    while let (Ok(id), Ok(len)) = (Fields(extra).u16(0), Fields(extra).u16(2)) {
        let len = usize::from(len);
        if id == 1 {
            let mut field = extra.get(4..4 + len).unwrap_or_default();
            for size in sizes.iter_mut().filter(|size| **size == u32::MAX as usize) {
                let Some((long, rest)) = field.split_first_chunk() else { return };
                *size = usize::try_from(u64::from_le_bytes(*long)).unwrap_or(usize::MAX);
                field = rest;
            }
            return;
        }
        extra = extra.get(4 + len..).unwrap_or_default();
    }
}

/// Numbers at fixed places, least significant byte first.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(&self, at: usize) -> Result<u16, ExtractError> {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk).ok_or(NO_ARCHIVE)?;
        Ok(u16::from_le_bytes(*bytes))
    }

    fn u32(&self, at: usize) -> Result<usize, ExtractError> {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk).ok_or(NO_ARCHIVE)?;
        usize::try_from(u32::from_le_bytes(*bytes)).map_err(|_| NO_ARCHIVE)
    }
}

/// XML is UTF-8, or UTF-16 with a byte order mark.
fn decode(bytes: Vec<u8>) -> String {
    let wide = |body: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = body.chunks_exact(2).map(|pair| match pair {
            [a, b] => unit([*a, *b]),
            _ => 0,
        });
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes.as_slice() {
        [0xFF, 0xFE, body @ ..] => wide(body, u16::from_le_bytes),
        [0xFE, 0xFF, body @ ..] => wide(body, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, body @ ..] => String::from_utf8_lossy(body).into_owned(),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::office::zip::{Method, Zip};
    use pretty_assertions::assert_eq;

    #[test]
    fn parts_are_found_whatever_their_case() {
        let archive = Zip::new()
            .part("Word/Document.xml", "ä")
            .stored("b\\c.xml", b"\xFF\xFE\xE4\0")
            .finish();
        let mut package = Package::open(&archive).unwrap();
        assert_eq!(package.part("/word/document.xml").unwrap().as_deref(), Some("ä"));
        assert_eq!(package.part("b/c.xml").unwrap().as_deref(), Some("ä"));
        assert_eq!(package.part("d").unwrap(), None);
        let mut shifted = b"before".to_vec();
        shifted.extend_from_slice(&archive);
        shifted.extend_from_slice(b"");
        assert!(Package::open(&shifted).unwrap().part("b/c.xml").unwrap().is_some());
    }

    #[test]
    fn damage_is_noticed() {
        let archive = Zip::new().part("a", &"text ".repeat(100)).finish();
        for len in 0..archive.len() {
            assert!(Package::open(&archive[..len]).is_err(), "{len}");
        }
        for at in 0..archive.len() {
            let mut broken = archive.clone();
            broken[at] ^= 0xFF;
            if let Ok(mut package) = Package::open(&broken) {
                let _ = package.part("a");
            }
        }
        let mut broken = archive;
        broken[35] ^= 1;
        assert!(Package::open(&broken).unwrap().part("a").is_err());
    }

    #[test]
    fn bombs_are_refused() {
        let blanks = vec![b' '; 3 * 1024 * 1024];
        let one = Zip::new().add("a", &blanks, Method::Deflate).finish();
        assert_eq!(Package::open(&one).unwrap().part("a"), Err(BOMB));
        // Not by a single part but by their sum.
        let archive =
            Zip::new().stored("0", b"12345").stored("1", b"12345").part("2", "1").finish();
        let mut package = Package::open(&archive).unwrap();
        package.budget = 9;
        let refused = ["0", "1", "2", "0"].map(|name| package.part(name).is_err());
        assert_eq!(refused, [false, true, false, true]);
    }

    #[test]
    fn encrypted_parts_are_called_so() {
        let mut archive = Zip::new().part("a", "text").finish();
        let directory = archive.windows(4).position(|it| it == b"PK\x01\x02").unwrap();
        archive[directory + 8] |= 1;
        assert_eq!(Package::open(&archive).unwrap().part("a"), Err(ExtractError::Encrypted));
    }
}

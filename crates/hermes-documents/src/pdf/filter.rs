//! The filters of streams.

use std::rc::Rc;

use super::object::{Dict, Object};
use crate::inflate::{Inflated, inflate};

/// What came of a stream.
#[derive(Debug, PartialEq)]
pub(super) enum Decoded {
    Data(Vec<u8>),
    /// An image, or something else that isn't read.
    Unknown,
    /// It is larger than the budget allows.
    TooLarge,
}

/// How many filters a stream may have.
const MAX_FILTERS: usize = 6;

/// Takes filters off, the first one first.
pub(super) fn decode(data: &[u8], filters: &[(Rc<[u8]>, Rc<Dict>)], budget: &mut usize) -> Decoded {
    if filters.len() > MAX_FILTERS {
        return Decoded::Unknown;
    }
    let mut data = data.to_vec();
    for (name, parameters) in filters {
        let decoded = match &**name {
            b"FlateDecode" | b"Fl" => flate(&data, budget),
            b"LZWDecode" | b"LZW" => lzw(&data, parameters, budget),
            b"ASCII85Decode" | b"A85" => Some(ascii85(&data)),
            b"ASCIIHexDecode" | b"AHx" => Some(ascii_hex(&data)),
            b"RunLengthDecode" | b"RL" => run_length(&data, budget),
            b"Crypt" => continue,
            _ => return Decoded::Unknown,
        };
        let Some(decoded) = decoded else { return Decoded::TooLarge };
        data = match &**name {
            b"FlateDecode" | b"Fl" | b"LZWDecode" | b"LZW" => unpredict(decoded, parameters),
            _ => decoded,
        };
    }
    Decoded::Data(data)
}

/// As much as can be inflated, with a header or, since some files lack it, without.
fn flate(data: &[u8], budget: &mut usize) -> Option<Vec<u8>> {
    let first = match inflate(data, true, budget) {
        Inflated::Whole(data) => return Some(data),
        Inflated::Damaged(data) if !data.is_empty() => return Some(data),
        Inflated::Damaged(data) => data,
        Inflated::TooLarge => return None,
    };
    match inflate(data, false, budget) {
        Inflated::Whole(data) => Some(data),
        Inflated::Damaged(_) => Some(first),
        Inflated::TooLarge => None,
    }
}

fn lzw(data: &[u8], parameters: &Dict, budget: &mut usize) -> Option<Vec<u8>> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const MAX_CODES: usize = 4096;
    let early = parameters.get("EarlyChange").and_then(Object::integer).unwrap_or(1).min(1);
    let mut out: Vec<u8> = Vec::new();
    // Each code from 258 on stands for a passage of what was put out: where it is and its length.
    let mut codes: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut bits, mut count, mut width) = (0_usize, 0, 9);
    for &byte in data {
        bits = (bits << 8 | usize::from(byte)) & 0xFF_FFFF;
        count += 8;
        if count < width {
            continue;
        }
        count -= width;
        let code = bits >> count & ((1 << width) - 1);
        if code == END {
            break;
        }
        if code == CLEAR {
            codes.clear();
            previous = None;
            width = 9;
            continue;
        }
        let start = out.len();
        let known = codes.get(code.wrapping_sub(258)).copied();
        match (code, known, previous) {
            (0..CLEAR, ..) => out.push(u8::try_from(code).unwrap_or_default()),
            (_, Some((from, len)), _) => {
                if out.len() + len > *budget {
                    return None;
                }
                out.extend_from_within(from..from + len);
            }
            // The passage that is being defined: the one before and its first byte again.
            (_, None, Some((from, len))) if code == codes.len() + 258 => {
                if out.len() + len > *budget {
                    return None;
                }
                out.extend_from_within(from..from + len);
                out.extend_from_within(from..from + 1);
            }
            _ => break,
        }
        if let Some((from, len)) = previous.filter(|_| codes.len() + 258 < MAX_CODES) {
            // It is followed by the first byte of this one, which stands right behind it.
            codes.push((from, len + 1));
        }
        previous = Some((start, out.len() - start));
        width = match codes.len() + 258 + 1 + early {
            0..=512 => 9,
            513..=1024 => 10,
            1025..=2048 => 11,
            _ => 12,
        };
    }
    *budget = budget.saturating_sub(out.len());
    Some(out)
}

fn ascii85(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() / 5 * 4);
    let mut group: Vec<u32> = Vec::with_capacity(5);
    for &byte in data {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => out.extend_from_slice(&[0; 4]),
            b'!'..=b'u' => group.push(u32::from(byte - b'!')),
            _ => continue,
        }
        if group.len() == 5 {
            out.extend_from_slice(&word(&group));
            group.clear();
        }
    }
    if group.len() > 1 {
        let len = group.len() - 1;
        group.resize(5, 84);
        out.extend_from_slice(word(&group).get(..len).unwrap_or_default());
    }
    out
}

fn word(group: &[u32]) -> [u8; 4] {
    let number = group.iter().fold(0_u32, |n, digit| n.wrapping_mul(85).wrapping_add(*digit));
    number.to_be_bytes()
}

fn ascii_hex(data: &[u8]) -> Vec<u8> {
    let digits: Vec<u32> = data
        .iter()
        .take_while(|&&byte| byte != b'>')
        .filter_map(|&byte| char::from(byte).to_digit(16))
        .collect();
    let byte = |pair: &[u32]| match pair {
        [a, b] => a * 16 + b,
        [a] => a * 16,
        _ => 0,
    };
    digits.chunks(2).map(|pair| u8::try_from(byte(pair)).unwrap_or_default()).collect()
}

fn run_length(mut data: &[u8], budget: &mut usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while let Some((&len, rest)) = data.split_first() {
        if out.len() > *budget {
            return None;
        }
        match usize::from(len) {
            128 => break,
            len @ 0..128 => {
                let (run, after) = rest.split_at(rest.len().min(len + 1));
                out.extend_from_slice(run);
                data = after;
            }
            len => {
                let Some((&byte, after)) = rest.split_first() else { break };
                out.resize(out.len() + 257 - len, byte);
                data = after;
            }
        }
    }
    *budget = budget.saturating_sub(out.len());
    Some(out)
}

/// Takes back what was done to make rows of bytes compress better.
fn unpredict(data: Vec<u8>, parameters: &Dict) -> Vec<u8> {
    let number = |key, default| parameters.get(key).and_then(Object::integer).unwrap_or(default);
    let predictor = number("Predictor", 1);
    if predictor < 2 {
        return data;
    }
    let (colors, bits) =
        (number("Colors", 1).clamp(1, 32), number("BitsPerComponent", 8).clamp(1, 16));
    let columns = number("Columns", 1).clamp(1, 1 << 24);
    let pixel = (colors * bits).div_ceil(8);
    let row_len = (colors * bits * columns).div_ceil(8);
    if predictor == 2 {
        return if bits == 8 { untiff(data, row_len, pixel) } else { data };
    }
    let mut out: Vec<u8> = Vec::with_capacity(data.len());
    let mut above = vec![0; row_len];
    for coded in data.chunks(row_len + 1) {
        let Some((&kind, coded)) = coded.split_first() else { break };
        let mut row: Vec<u8> = Vec::with_capacity(row_len);
        for (at, &byte) in coded.iter().enumerate() {
            let before = |from: &[u8]| {
                at.checked_sub(pixel).and_then(|at| from.get(at).copied()).unwrap_or_default()
            };
            let (left, corner) = (before(&row), before(&above));
            let up = above.get(at).copied().unwrap_or_default();
            row.push(byte.wrapping_add(match kind {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, corner),
                _ => 0,
            }));
        }
        out.extend_from_slice(&row);
        row.resize(row_len, 0);
        above = row;
    }
    out
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i32::from);
    let [a, b, c] = [(b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs()];
    if a <= b && a <= c {
        left
    } else if b <= c {
        up
    } else {
        corner
    }
}

fn untiff(mut data: Vec<u8>, row_len: usize, pixel: usize) -> Vec<u8> {
    for row in data.chunks_mut(row_len) {
        for at in pixel..row.len() {
            let left = row.get(at - pixel).copied().unwrap_or_default();
            if let Some(byte) = row.get_mut(at) {
                *byte = byte.wrapping_add(left);
            }
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};
    use pretty_assertions::assert_eq;
    use std::io::Write;

    fn run(name: &str, data: &[u8], parameters: &str) -> Decoded {
        let Some(Object::Dict(parameters)) =
            super::super::lexer::Lexer::new(parameters.as_bytes(), 0).value()
        else {
            panic!("no parameters");
        };
        decode(data, &[(name.as_bytes().into(), parameters)], &mut 10_000_000)
    }

    fn check(name: &str, data: &[u8], expected: &[u8]) {
        assert_eq!(run(name, data, "<<>>"), Decoded::Data(expected.to_vec()), "{name}");
    }

    #[test]
    fn filters_are_taken_off() {
        check("ASCIIHexDecode", b"48 65 6C6c 6F7>zz", b"Hellop");
        check("ASCII85Decode", b"87cURD]i,\"Ebo80~>", b"Hello World!");
        check("A85", b"z!!~>", b"\0\0\0\0\0");
        check("RunLengthDecode", b"\x02abc\xFEx\x80zz", b"abcxxx");
        // The example of the specification.
        check("LZWDecode", b"\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01", b"-----A---B");
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"text text text").unwrap();
        let zlib = encoder.finish().unwrap();
        check("FlateDecode", &zlib, b"text text text");
        // The sum at the end may be missing or wrong.
        check("Fl", &zlib[..zlib.len() - 3], b"text text text");
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"bare").unwrap();
        check("Fl", &encoder.finish().unwrap(), b"bare");
        assert_eq!(run("DCTDecode", b"", "<<>>"), Decoded::Unknown);
    }

    #[test]
    fn predictions_are_taken_back() {
        let encoded = |rows: &[u8]| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(rows).unwrap();
            encoder.finish().unwrap()
        };
        let rows = encoded(&[0, 1, 2, 3, 1, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 4, 1, 1, 1]);
        assert_eq!(
            run("FlateDecode", &rows, "<</Predictor 12/Columns 3>>"),
            Decoded::Data(vec![1, 2, 3, 1, 2, 3, 2, 3, 4, 2, 3, 4, 3, 4, 5])
        );
        let rows = encoded(&[1, 1, 1, 5, 1, 1]);
        assert_eq!(
            run("FlateDecode", &rows, "<</Predictor 2/Columns 3>>"),
            Decoded::Data(vec![1, 2, 3, 5, 6, 7])
        );
    }

    #[test]
    fn a_budget_ends_them() {
        let filter = |name: &str| [(name.as_bytes().into(), Rc::default())];
        let runs = b"\x81x".repeat(100);
        assert_eq!(decode(&runs, &filter("RL"), &mut 1000), Decoded::TooLarge);
        let mut budget = 100_000;
        assert!(matches!(decode(&runs, &filter("RL"), &mut budget), Decoded::Data(_)));
        assert_eq!(budget, 100_000 - 12_800);
    }
}

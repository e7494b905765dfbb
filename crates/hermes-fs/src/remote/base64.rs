//! Bytes as letters, so that they survive whatever carries them.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// How many digits a line has.
const LINE: usize = 76;

/// Bytes as lines of digits.
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 3 * 4 + bytes.len() / 57 + 8);
    for line in bytes.chunks(LINE / 4 * 3) {
        for group in line.chunks(3) {
            let at = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
            let bits = at(0) << 16 | at(1) << 8 | at(2);
            for digit in 0..4_usize {
                let value = bits >> (18 - 6 * digit) & 63;
                let shown = DIGITS.get(value as usize).copied().unwrap_or(b'=');
                out.push(if digit <= group.len() { shown } else { b'=' });
            }
        }
        out.push(b'\n');
    }
    out
}

/// The bytes that digits stand for. Line ends are passed over; none when there is anything else.
pub(super) fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let (mut bits, mut count, mut ended) = (0_u32, 0, false);
    for &digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                ended = true;
                continue;
            }
            b'\n' | b'\r' => continue,
            _ => return None,
        };
        if ended {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            let [_, bytes @ ..] = bits.to_be_bytes();
            out.extend_from_slice(&bytes);
            (bits, count) = (0, 0);
        }
    }
    let [_, first, second, _] = (bits << (6 * (4 - count))).to_be_bytes();
    match count {
        0 => {}
        2 => out.push(first),
        3 => out.extend_from_slice(&[first, second]),
        _ => return None,
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits() {
        for (bytes, digits) in
            [("", ""), ("f", "Zg==\n"), ("fo", "Zm8=\n"), ("foo", "Zm9v\n"), ("foob", "Zm9vYg==\n")]
        {
            assert_eq!(encode(bytes.as_bytes()), digits.as_bytes());
        }
        assert_eq!(encode(&[0; 58]).iter().filter(|&&byte| byte == b'\n').count(), 2);
        assert_eq!(decode(b"Zm9v\r\nYg==\r\n").unwrap(), b"foob");
        for slip in ["Z", "Zm9v Yg==", "Zg==Zg==", "Z@==", "Zm9vY"] {
            assert_eq!(decode(slip.as_bytes()), None, "{slip}");
        }
    }

    proptest! {
        #[test]
        fn all_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}

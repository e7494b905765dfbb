//! Characters written with a backslash.

/// Which escapes count.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Escapes {
    /// `$'..'`.
    Ansi,
    /// `echo -e` and `printf %b`: `\0NNN`, `\c`.
    Echo,
    /// The format of `printf`.
    Format,
}

/// Undoes escapes.
pub(crate) fn unescape(text: &str, escapes: Escapes) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let digits = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix, most| {
            let mut value = None;
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = Some(value.unwrap_or(0_u32).wrapping_mul(radix).wrapping_add(digit));
                chars.next();
            }
            value
        };
        let Some(escaped) = chars.next() else {
            bytes.push(b'\\');
            break;
        };
        match escaped {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            'c' if escapes == Escapes::Ansi => {
                bytes.extend(chars.next().map(|c| (c.to_ascii_uppercase() as u8) ^ 64));
            }
            'c' if escapes == Escapes::Echo => break,
            '\\' => bytes.push(b'\\'),
            '\'' | '"' | '?' if escapes != Escapes::Echo => bytes.push(escaped as u8),
            'x' => match digits(&mut chars, 16, 2) {
                Some(value) => bytes.push(value as u8),
                None => bytes.extend_from_slice(b"\\x"),
            },
            'u' | 'U' => {
                let most = if escaped == 'u' { 4 } else { 8 };
                match digits(&mut chars, 16, most).and_then(char::from_u32) {
                    Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
                    None => bytes.extend_from_slice(&[b'\\', escaped as u8]),
                }
            }
            '0'..='7' => {
                let first = escaped.to_digit(8).unwrap_or(0);
                let most = if escaped == '0' && escapes == Escapes::Echo { 3 } else { 2 };
                let mut value = first;
                for _ in 0..most {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                bytes.push(value as u8);
            }
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned());
    text.retain(|c| c != '\0');
    text
}

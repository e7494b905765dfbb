//! The frames that messages travel in: a header with a length, a blank line, JSON.

use std::io::{self, BufRead, Read as _};

use serde_json::Value;

/// The longest header line that is read.
const MAX_HEADER: u64 = 1024;

/// How many header lines a message may have; the protocol knows two.
const MAX_HEADERS: usize = 16;

/// The longest message that is read, in bytes.
pub(crate) const MAX_MESSAGE: u64 = 16 * 1024 * 1024;

/// Why a stream can't be read further.
#[derive(Debug)]
pub(crate) enum WireFault {
    /// It is no frame, or no JSON is in it.
    Rubbish(&'static str),
    /// The stream broke.
    Broken(io::Error),
}

impl std::fmt::Display for WireFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rubbish(what) => write!(f, "it talks rubbish: {what}"),
            Self::Broken(error) => write!(f, "its output broke: {error}"),
        }
    }
}

/// The next message and its size in bytes; none at the end of the stream.
pub(crate) fn read(stream: &mut impl BufRead) -> Result<Option<(Value, u64)>, WireFault> {
    let Some(length) = content_length(stream)? else { return Ok(None) };
    if length > MAX_MESSAGE {
        return Err(WireFault::Rubbish("a message is too long"));
    }
    // No room is made beforehand: the length is only a claim.
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body).map_err(WireFault::Broken)?;
    if (body.len() as u64) < length {
        return Err(WireFault::Rubbish("a message ends too early"));
    }
    match serde_json::from_slice(&body) {
        Ok(message) => Ok(Some((message, length))),
        Err(_) => Err(WireFault::Rubbish("a message is no JSON")),
    }
}

/// The length in the header; none if the stream ends before it.
fn content_length(stream: &mut impl BufRead) -> Result<Option<u64>, WireFault> {
    let mut length = None;
    for nth in 0..MAX_HEADERS {
        let mut line = Vec::new();
        stream.take(MAX_HEADER).read_until(b'\n', &mut line).map_err(WireFault::Broken)?;
        if line.is_empty() && nth == 0 {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            return Err(WireFault::Rubbish("a header line has no end"));
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            return match length {
                Some(length) => Ok(Some(length)),
                None => Err(WireFault::Rubbish("a header tells no length")),
            };
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
            return Err(WireFault::Rubbish("a header line is none"));
        };
        if name.trim_ascii().eq_ignore_ascii_case(b"content-length") {
            let number = std::str::from_utf8(value.trim_ascii()).ok();
            let number = number.and_then(|text| text.parse().ok());
            length = Some(number.ok_or(WireFault::Rubbish("a length is no number"))?);
        }
    }
    Err(WireFault::Rubbish("a header has too many lines"))
}

/// A message in its frame.
pub(crate) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body.as_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn all(mut bytes: &[u8]) -> Result<Vec<Value>, String> {
        let mut messages = Vec::new();
        while let Some((message, _)) = read(&mut bytes).map_err(|fault| fault.to_string())? {
            messages.push(message);
        }
        Ok(messages)
    }

    #[test]
    fn frames_come_back() {
        let messages = [json!({"method": "a", "params": "ä\u{1f600}"}), json!([]), json!(null)];
        let bytes: Vec<u8> = messages.iter().flat_map(frame).collect();
        assert_eq!(all(&bytes), Ok(messages.to_vec()));
        let odd = "content-type: x; charset=utf-8\ncontent-LENGTH :  2 \n\n{}";
        assert_eq!(all(odd.as_bytes()), Ok(vec![json!({})]));
    }

    #[test]
    fn rubbish_is_told_apart() {
        let cases: &[(&str, &str)] = &[
            ("Content-Length: 3\r\n\r\n{}", "ends too early"),
            ("Content-Length: 1\r\n\r\n{}", "is no JSON"),
            ("Content-Length: 99999999999\r\n\r\n", "too long"),
            ("Content-Length: 99999999999999999999999\r\n\r\n", "is no number"),
            ("Content-Length: -1\r\n\r\n", "is no number"),
            ("Content-Length: 2\r\n", "has no end"),
            ("Content-Type: x\r\n\r\n{}", "tells no length"),
            ("Starting server...\n", "is none"),
            ("{\"jsonrpc\": \"2.0\"", "has no end"),
        ];
        for (text, expected) in cases {
            let fault = all(text.as_bytes()).unwrap_err();
            assert!(fault.contains(expected), "{text:?}: {fault}");
        }
        let endless = "x".repeat(2000);
        assert!(all(endless.as_bytes()).unwrap_err().contains("no end"));
        let headers = "A: b\r\n".repeat(20);
        assert!(all(headers.as_bytes()).unwrap_err().contains("too many lines"));
        let deep = "[".repeat(100_000);
        let deep = format!("Content-Length: {}\r\n\r\n{deep}", deep.len());
        assert!(all(deep.as_bytes()).unwrap_err().contains("no JSON"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in any::<Vec<u8>>()) {
            let _ = all(&bytes);
            let _ = all(&[b"Content-Length: 5\r\n\r\n".as_slice(), &bytes].concat());
        }
    }
}

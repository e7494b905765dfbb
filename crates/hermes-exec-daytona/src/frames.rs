//! What the lines of a log say.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

/// How long a line may be, in bytes. The script writes lines of 33,000 at most.
const LONGEST: usize = 256 * 1024;

/// What a line of the script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The command wrote this to stdout.
    Output(Bytes),
    /// The command wrote this to stderr.
    Errors(Bytes),
    /// It ended with this code.
    Exit(i32),
    /// Nobody can write any more.
    End,
}

/// Reads lines out of a log that comes in pieces, and from its beginning after each break.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Bytes of the log that were read, by all readers before and this one.
    read: u64,
    /// Bytes of the log that came since the last break.
    came: u64,
    line: Vec<u8>,
}

impl Frames {
    /// The log begins anew.
    pub(crate) fn restart(&mut self) {
        self.came = 0;
    }

    /// The frames that a piece completes.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<Frame> {
        let before = self.came;
        self.came += piece.len() as u64;
        let known = usize::try_from(self.read.saturating_sub(before)).unwrap_or(usize::MAX);
        let new = piece.get(known..).unwrap_or_default();
        self.read = self.read.max(self.came);
        let mut frames = Vec::new();
        for part in new.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.ends_with(b"\n") {
                frames.extend(frame(&self.line));
                self.line.clear();
            } else if self.line.len() > LONGEST {
                // None of the script's.
                self.line.clear();
            }
        }
        frames
    }
}

/// What a line says, if it is one of the script's. Marks of streams come before it, and between
/// lines where a log has several writers.
fn frame(line: &[u8]) -> Option<Frame> {
    let start = line.iter().position(|byte| !matches!(byte, 1 | 2))?;
    let (kind, rest) = line.get(start..)?.trim_ascii_end().split_first()?;
    match kind {
        b'o' => Some(Frame::Output(STANDARD.decode(rest).ok()?.into())),
        b'e' => Some(Frame::Errors(STANDARD.decode(rest).ok()?.into())),
        b'O' => Some(Frame::Output(hex(rest)?.into())),
        b'E' => Some(Frame::Errors(hex(rest)?.into())),
        b'x' => Some(Frame::Exit(std::str::from_utf8(rest).ok()?.parse().ok()?)),
        b'z' if rest.is_empty() => Some(Frame::End),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: &u8| char::from(*digit).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(value(high)? << 4 | value(low)?),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    const LOG: &[u8] = b"\x01\x01\x01oaGk=\n\x02\x02\x02noise\n\x01\x01\x01E00ff\n0:echo\n\
        \x01\x01\x01x7\n\x01\x01\x01e??\nz1\n\x01\x01\x01z\n";

    fn expected() -> [Frame; 4] {
        let bytes = Bytes::from_static;
        [Frame::Output(bytes(b"hi")), Frame::Errors(bytes(b"\0\xff")), Frame::Exit(7), Frame::End]
    }

    #[test]
    fn frames_are_read() {
        assert_eq!(Frames::default().push(LOG), expected());
        let plain: Vec<u8> = LOG.iter().copied().filter(|byte| *byte > 2).collect();
        assert_eq!(Frames::default().push(&plain), expected());
    }

    proptest! {
        #[test]
        fn breaks_lose_and_repeat_nothing(
            breaks in proptest::collection::vec(0..=LOG.len(), 0..5),
            size in 1..20_usize,
        ) {
            let mut frames = Frames::default();
            let mut read = Vec::new();
            for end in breaks.into_iter().chain([LOG.len()]) {
                frames.restart();
                for piece in LOG[..end].chunks(size) {
                    read.extend(frames.push(piece));
                }
            }
            prop_assert_eq!(read, expected());
        }

        #[test]
        fn anything_is_read(bytes: Vec<u8>) {
            Frames::default().push(&bytes);
        }
    }
}

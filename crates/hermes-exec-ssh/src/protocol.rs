//! What is said over the connection, in both directions: frames of a type (one letter), the number
//! of a command and the length of the rest (four bytes each, the high one first), and the rest.
//!
//! The far side is `relay.pl`. Output flows on credit: it reads of a stream as much as it was
//! allowed to, so that whoever doesn't read a command's output holds up nobody but that command.
//! Input likewise, the other way round.

use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use hermes_exec::environment::{Dialect, Size, Start, Stdin};

/// Bytes of a stream that may be on the way, in either direction.
pub(crate) const WINDOW: u32 = 512 * 1024;

/// Bytes of a frame before its rest.
const HEAD: usize = 9;

/// Bytes that a frame of the relay has at most; it doesn't send any as long.
const LONGEST: usize = 4 * 1024 * 1024;

/// One of the two streams that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Errors,
}

impl Stream {
    fn letter(self) -> u8 {
        match self {
            Self::Output => b'o',
            Self::Errors => b'e',
        }
    }
}

/// What the relay is told about a command.
#[derive(Debug)]
pub(crate) enum Request<'a> {
    Start(&'a Start),
    Input(&'a [u8]),
    InputEnd,
    /// So many bytes more may be sent.
    Credit(Stream, u32),
    /// Nobody reads this any more.
    Close(Stream),
    /// End it and all that it started, kindly for so long.
    Terminate(Duration),
    Resize(Size),
    /// It goes on without us; what it writes is of no interest.
    Release,
    /// Say something. (Of no command.)
    Ping,
    /// End everything and yourself. (Of no command.)
    Quit,
}

impl Request<'_> {
    pub(crate) fn encode(&self, id: u32) -> Vec<u8> {
        let (kind, rest) = match self {
            Self::Start(start) => (b'S', self::start(start)),
            Self::Input(bytes) => (b'I', bytes.to_vec()),
            Self::InputEnd => (b'E', Vec::new()),
            Self::Credit(stream, count) => {
                (b'C', [&[stream.letter()][..], &count.to_be_bytes()].concat())
            }
            Self::Close(stream) => (b'X', vec![stream.letter()]),
            Self::Terminate(grace) => {
                let millis = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
                (b'T', millis.to_be_bytes().to_vec())
            }
            Self::Resize(size) => {
                (b'Z', [size.rows.to_be_bytes(), size.cols.to_be_bytes()].concat())
            }
            Self::Release => (b'R', Vec::new()),
            Self::Ping => (b'P', Vec::new()),
            Self::Quit => (b'Q', Vec::new()),
        };
        let mut frame = Vec::with_capacity(HEAD + rest.len());
        frame.push(kind);
        frame.extend_from_slice(&id.to_be_bytes());
        put_text(&mut frame, &rest);
        frame
    }
}

/// A list of texts with their lengths: how, lines, columns, window, script, variables.
fn start(start: &Start) -> Vec<u8> {
    let mut how = String::new();
    match start.dialect {
        Dialect::Bash => {}
        Dialect::BashLogin => how.push('l'),
        Dialect::Posix => how.push('p'),
    }
    let flags = [
        (start.bare, 'b'),
        (start.stdin != Stdin::Null, 'i'),
        (start.errors_apart && start.terminal.is_none(), 'e'),
        (start.terminal.is_some(), 't'),
    ];
    how.extend(flags.into_iter().filter_map(|(is_set, letter)| is_set.then_some(letter)));
    let size = start.terminal.unwrap_or_default();
    let mut list = Vec::with_capacity(start.script.len() + 128);
    put_text(&mut list, how.as_bytes());
    for number in [u32::from(size.rows), u32::from(size.cols), WINDOW] {
        put_text(&mut list, number.to_string().as_bytes());
    }
    put_text(&mut list, start.script.as_bytes());
    for (name, value) in &start.env {
        put_text(&mut list, format!("{name}={value}").as_bytes());
    }
    list
}

fn put_text(list: &mut Vec<u8>, text: &[u8]) {
    // Texts of more than 4 GiB don't come so far.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    list.extend_from_slice(&length.to_be_bytes());
    list.extend_from_slice(text);
}

/// What the relay says about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The relay is ready. (Of no command.)
    Hello(Hello),
    /// It was asked to say something. (Of no command.)
    Pong,
    /// The shell runs, under this number.
    Started(u32),
    /// It could not be started; whether that may be different next time.
    Failed(String, bool),
    Data(Stream, Bytes),
    /// Nobody holds the other side of the stream any more.
    End(Stream),
    /// So many bytes of the input were taken.
    Taken(u32),
    /// The command reads no more.
    InputClosed,
    Exit(i32),
    /// The process that watches over it was killed.
    Lost,
    /// What was to be ended is gone, or as good as.
    Terminated,
    /// Nothing is left of it, and nothing more will be said.
    Gone,
}

/// What the host has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) home: String,
    pub(crate) temp_dir: String,
    pub(crate) has_bash: bool,
    pub(crate) has_terminals: bool,
}

/// Something came that the relay doesn't say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Takes the first frame off what has come, if it is there as a whole.
pub(crate) fn decode(come: &mut BytesMut) -> Result<Option<(u32, Event)>, Malformed> {
    let mut head = come.get(..HEAD).unwrap_or_default();
    if head.is_empty() {
        return Ok(None);
    }
    let (kind, id, length) = (head.get_u8(), head.get_u32(), head.get_u32() as usize);
    if length > LONGEST {
        return Err(Malformed);
    }
    if come.len() < HEAD + length {
        come.reserve(HEAD + length - come.len());
        return Ok(None);
    }
    come.advance(HEAD);
    let mut rest = come.split_to(length).freeze();
    let event = match kind {
        b'H' => Event::Hello(hello(rest)?),
        b'P' => Event::Pong,
        b's' => Event::Started(rest.try_get_u32().map_err(|_| Malformed)?),
        b'f' => Event::Failed(text(&rest), true),
        b'F' => Event::Failed(text(&rest), false),
        b'o' => Event::Data(Stream::Output, rest),
        b'e' => Event::Data(Stream::Errors, rest),
        b'O' => Event::End(Stream::Output),
        b'L' => Event::End(Stream::Errors),
        b'c' => Event::Taken(rest.try_get_u32().map_err(|_| Malformed)?),
        b'b' => Event::InputClosed,
        b'x' => Event::Exit(rest.try_get_i32().map_err(|_| Malformed)?),
        b'l' => Event::Lost,
        b't' => Event::Terminated,
        b'g' => Event::Gone,
        _ => return Err(Malformed),
    };
    Ok(Some((id, event)))
}

fn hello(mut rest: Bytes) -> Result<Hello, Malformed> {
    let mut next = || {
        let length = rest.try_get_u32().map_err(|_| Malformed)? as usize;
        if length > rest.len() {
            return Err(Malformed);
        }
        Ok(text(&rest.split_to(length)))
    };
    Ok(Hello {
        home: next()?,
        temp_dir: next()?,
        has_bash: !next()?.is_empty(),
        has_terminals: next()? == "1",
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn frame(kind: u8, id: u32, rest: &[u8]) -> Vec<u8> {
        let mut frame = vec![kind];
        frame.extend_from_slice(&id.to_be_bytes());
        put_text(&mut frame, rest);
        frame
    }

    #[test]
    fn frames_come_in_pieces() {
        let bytes = [frame(b'o', 7, b"a\0b"), frame(b'x', 7, &3_i32.to_be_bytes())].concat();
        let mut come = BytesMut::new();
        let mut events = Vec::new();
        for byte in bytes {
            come.extend_from_slice(&[byte]);
            events.extend(decode(&mut come).unwrap());
        }
        let data = Event::Data(Stream::Output, Bytes::from_static(b"a\0b"));
        assert_eq!(events, [(7, data), (7, Event::Exit(3))]);
    }

    #[test]
    fn a_request_has_a_head_and_a_rest() {
        assert_eq!(Request::Credit(Stream::Errors, 5).encode(2), frame(b'C', 2, b"e\0\0\0\x05"));
        assert_eq!(Request::Ping.encode(0), frame(b'P', 0, b""));
        let size = Size { rows: 2, cols: 300 };
        assert_eq!(Request::Resize(size).encode(1), frame(b'Z', 1, &[0, 2, 1, 44]));
    }

    #[test]
    fn a_start_is_a_list() {
        let mut command = Start::new("x");
        command.env.push(("A".to_owned(), "1\n=".to_owned()));
        command.stdin = Stdin::Open;
        command.bare = true;
        let mut list = Vec::new();
        for text in ["bi", "30", "120", "524288", "x", "A=1\n="] {
            put_text(&mut list, text.as_bytes());
        }
        assert_eq!(start(&command), list);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut come = BytesMut::from(&bytes[..]);
            while let Ok(Some(_)) = decode(&mut come) {}
        }
    }
}

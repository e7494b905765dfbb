//! The frames in which an engine sends two streams as one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadBuf};

/// Bytes before each frame: the stream's number, three zeros, and the length.
const HEADER: usize = 8;

/// The number of stderr.
const ERRORS: u8 = 2;

/// What is in the frames, whatever stream it belongs to.
#[derive(Debug)]
pub(super) struct Frames<R> {
    inner: R,
    header: [u8; HEADER],
    /// Bytes of the header that are there.
    filled: usize,
    /// Bytes of the frame that are still to come.
    left: usize,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, header: [0; HEADER], filled: 0, left: 0 }
    }

    /// Whether what was read at last belongs to stderr.
    fn is_errors(&self) -> bool {
        matches!(self.header, [ERRORS, ..])
    }

    /// Reads a header, unless a frame is under way. False at the end.
    fn poll_header(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        while self.left == 0 {
            let Some(room) = self.header.get_mut(self.filled..) else {
                return Poll::Ready(Ok(false));
            };
            let mut room = ReadBuf::new(room);
            ready!(Pin::new(&mut self.inner).poll_read(cx, &mut room))?;
            let count = room.filled().len();
            if count == 0 {
                let is_whole = self.filled == 0;
                return Poll::Ready(if is_whole {
                    Ok(false)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                });
            }
            self.filled += count;
            if self.filled == HEADER {
                self.filled = 0;
                let [_, _, _, _, length @ ..] = self.header;
                self.left = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            }
        }
        Poll::Ready(Ok(true))
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Frames<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !ready!(self.poll_header(cx))? {
            return Poll::Ready(Ok(()));
        }
        let this = &mut *self;
        let asked = this.left.min(buf.remaining());
        let mut room = ReadBuf::new(buf.initialize_unfilled_to(asked));
        ready!(Pin::new(&mut this.inner).poll_read(cx, &mut room))?;
        let count = room.filled().len();
        if count == 0 && asked > 0 {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        buf.advance(count);
        this.left -= count;
        Poll::Ready(Ok(()))
    }
}

/// Moves the streams in the frames to a pipe each, until the end or until nobody reads either.
pub(super) async fn part<R: AsyncRead + Unpin>(
    mut frames: Frames<R>,
    output: DuplexStream,
    errors: DuplexStream,
) {
    let (mut output, mut errors) = (Some(output), Some(errors));
    let mut chunk = vec![0; 32 * 1024];
    while let Ok(count @ 1..) = frames.read(&mut chunk).await {
        let piece = chunk.get(..count).unwrap_or_default();
        let to = if frames.is_errors() { &mut errors } else { &mut output };
        if let Some(writer) = to
            && writer.write_all(piece).await.is_err()
        {
            *to = None;
        }
        if output.is_none() && errors.is_none() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use tokio::io::duplex;

    fn frame(stream: u8, text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap().to_be_bytes();
        [&[stream, 0, 0, 0], &length[..], text.as_bytes()].concat()
    }

    #[tokio::test]
    async fn frames_are_one_stream() {
        let bytes = [frame(1, "ab"), frame(2, ""), frame(2, "c"), frame(1, "def")].concat();
        // In pieces that are shorter than anything.
        for size in [1, 3, 64] {
            let (mut to, from) = duplex(size);
            let text = bytes.clone();
            let write = async move { to.write_all(&text).await };
            let mut out = String::new();
            let mut frames = Frames::new(from);
            let (written, read) = tokio::join!(write, frames.read_to_string(&mut out));
            written.unwrap();
            read.unwrap();
            assert_eq!(out, "abcdef");
        }
    }

    #[tokio::test]
    async fn a_torn_frame_is_an_error() {
        let whole = frame(1, "abc");
        for cut in 1..whole.len() {
            let mut frames = Frames::new(&whole[..cut]);
            assert!(frames.read_to_end(&mut Vec::new()).await.is_err(), "{cut}");
        }
    }

    #[tokio::test]
    async fn streams_are_parted() {
        let bytes = [frame(1, "ab"), frame(2, "x"), frame(1, "c"), frame(2, "y")].concat();
        let ((to_out, mut out), (to_err, mut err)) = (duplex(64), duplex(64));
        part(Frames::new(&bytes[..]), to_out, to_err).await;
        let (mut o, mut e) = (String::new(), String::new());
        out.read_to_string(&mut o).await.unwrap();
        err.read_to_string(&mut e).await.unwrap();
        assert_eq!((o.as_str(), e.as_str()), ("abc", "xy"));
    }
}

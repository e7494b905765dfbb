//! A stream that a command writes, as it has come.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, ReadBuf};

use crate::command::Command;
use crate::protocol::{Request, Stream, WINDOW};

/// What has come of a stream and was not read yet. The window bounds it.
#[derive(Debug, Default)]
pub(crate) struct Received {
    // One text and not the pieces: a small piece would hold the whole buffer that it came in.
    bytes: BytesMut,
    has_ended: bool,
    waker: Option<Waker>,
}

impl Received {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.has_ended {
            self.bytes.extend_from_slice(bytes);
            self.wake();
        }
    }

    pub(crate) fn end(&mut self) {
        self.has_ended = true;
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Moves what fits. Returns how much that was; none means that there is none.
    fn take(&mut self, into: &mut ReadBuf<'_>) -> usize {
        let count = self.bytes.len().min(into.remaining());
        into.put_slice(self.bytes.get(..count).unwrap_or_default());
        self.bytes.advance(count);
        count
    }
}

/// Reads a stream, and lets more of it come as it goes.
pub(crate) struct OutputReader {
    command: Arc<Command>,
    stream: Stream,
    /// Bytes that were read and not yet allowed to come again.
    taken: u32,
}

impl OutputReader {
    pub(crate) fn of(command: Arc<Command>, stream: Stream) -> Self {
        Self { command, stream, taken: 0 }
    }
}

impl AsyncRead for OutputReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut received = this.command.stream(this.stream);
        let count = received.take(into);
        if count == 0 {
            if received.has_ended || into.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            received.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let has_ended = received.has_ended;
        drop(received);
        this.taken += u32::try_from(count).unwrap_or(u32::MAX);
        // Rarely, for each time costs a frame; early enough that the other side need not wait.
        if this.taken >= WINDOW / 4 && !has_ended {
            this.command.say(&Request::Credit(this.stream, this.taken));
            this.taken = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for OutputReader {
    fn drop(&mut self) {
        let has_ended = {
            let mut received = self.command.stream(self.stream);
            received.bytes = BytesMut::new();
            std::mem::replace(&mut received.has_ended, true)
        };
        if !has_ended {
            self.command.say(&Request::Close(self.stream));
        }
    }
}

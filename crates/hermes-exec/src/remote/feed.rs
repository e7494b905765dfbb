//! A stream that a task fills.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use hermes_task::Tracked;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use crate::environment::Reader;

/// How many pieces wait for a slow reader. Pieces come as the protocol has them: some KiB as a rule.
/// It is about what a pipe holds, and more: who reads two streams reads one after the other.
const WAITING: usize = 64;

/// The side that fills the stream.
#[derive(Clone, Debug)]
pub struct Feed {
    pieces: mpsc::Sender<io::Result<Bytes>>,
}

impl Feed {
    /// Hands a piece on, as soon as there is room. Whether anybody reads at all.
    pub async fn send(&self, piece: Bytes) -> bool {
        piece.is_empty() || self.pieces.send(Ok(piece)).await.is_ok()
    }

    /// Ends the stream with an error, so that what is missing isn't taken for nothing.
    pub async fn fail(&self, error: impl Into<String>) {
        let _ = self.pieces.send(Err(io::Error::other(error.into()))).await;
    }
}

/// A stream that is filled from another side.
#[must_use]
pub fn feed() -> (Feed, Fed) {
    let (pieces, fed) = mpsc::channel(WAITING);
    (Feed { pieces }, Fed { fed, piece: Bytes::new(), task: None })
}

/// A stream, and the task that fills it by `work`. The task ends when both are dropped; the stream
/// ends when `work` has dropped all its [`Feed`]s.
pub fn pumped<F>(work: impl FnOnce(Feed) -> F) -> (Reader, Arc<Tracked<()>>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (feed, fed) = feed();
    let task = Arc::new(hermes_task::spawn(work(feed)));
    (fed.filled_by(Arc::clone(&task)), task)
}

/// The side that reads.
#[derive(Debug)]
pub struct Fed {
    fed: mpsc::Receiver<io::Result<Bytes>>,
    piece: Bytes,
    task: Option<Arc<Tracked<()>>>,
}

impl Fed {
    /// The stream; as long as it is there the task that fills it goes on.
    #[must_use]
    pub fn filled_by(mut self, task: Arc<Tracked<()>>) -> Reader {
        self.task = Some(task);
        Box::pin(self)
    }
}

impl AsyncRead for Fed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.piece.is_empty() {
            match ready!(self.fed.poll_recv(cx)) {
                Some(piece) => self.piece = piece?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = self.piece.len().min(buf.remaining());
        buf.put_slice(&self.piece.split_to(count));
        debug_assert!(!self.piece.has_remaining() || buf.remaining() == 0);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn pieces_come_as_they_are_and_errors_after_them() {
        let (mut stream, _task) = pumped(|feed| async move {
            assert!(feed.send(Bytes::new()).await);
            assert!(feed.send(Bytes::from_static(b"abc")).await);
            assert!(feed.send(Bytes::from_static(b"de")).await);
            feed.fail("broken").await;
        });
        let mut two = [0; 2];
        stream.read_exact(&mut two).await.unwrap();
        assert_eq!(&two, b"ab");
        let mut rest = Vec::new();
        let error = stream.read_to_end(&mut rest).await.unwrap_err();
        assert_eq!((&*rest, error.to_string().as_str()), (&b"cde"[..], "broken"));
    }
}

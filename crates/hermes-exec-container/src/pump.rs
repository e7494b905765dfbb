//! Moving a command's output on, without the marks in it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hermes_exec::environment::{Exit, Handle, Reader};
use hermes_task::Tracked;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadBuf, duplex};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::marks::{Found, Mark, Marks};
use crate::transport::{Fate, Transport};

/// Bytes that are taken before somebody reads them. What a command wrote at last must fit, or its
/// end isn't seen before that is read.
const WAITING: usize = 512 * 1024;

/// When a container is looked at again after a command ended without a word.
const LOOKS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(300)];

/// Bytes read at once.
pub(crate) const CHUNK: usize = 64 * 1024;

/// A command that began, as its way gives it.
pub(crate) struct Begun {
    pub(crate) raw: Arc<dyn Handle>,
    pub(crate) output: Reader,
    pub(crate) marks: Marks,
    /// What was read together with the beginning.
    pub(crate) text: Vec<u8>,
    pub(crate) found: Vec<Found>,
    pub(crate) transport: Arc<dyn Transport>,
    /// We are ending it.
    pub(crate) is_ending: Arc<AtomicBool>,
}

/// What moves the output on. Goes on until all of it was moved, or nobody has this any more.
pub(crate) type Pump = Arc<Tracked<()>>;

/// Moves the output on to the reader; how the shell ends is told by the other.
pub(crate) fn start(begun: Begun) -> (Reader, watch::Receiver<Option<Exit>>, Pump) {
    let (ours, theirs) = duplex(WAITING);
    let (told, exit) = watch::channel(None);
    let pump = Arc::new(hermes_task::spawn(begun.run(ours, told)));
    let output = Output { text: theirs, _pump: Arc::clone(&pump) };
    (Box::pin(output), exit, pump)
}

impl Begun {
    async fn run(mut self, to: DuplexStream, told: watch::Sender<Option<Exit>>) {
        let mut to = Some(to);
        let mut chunk = vec![0; CHUNK];
        loop {
            if let Some(writer) = &mut to
                && !self.text.is_empty()
                && writer.write_all(&self.text).await.is_err()
            {
                // Nobody reads any more; the end is still of interest.
                to = None;
            }
            self.text.clear();
            // After what came before it, so that whoever hears of the end has all of that.
            for found in self.found.drain(..) {
                if let Mark::Exit(code) = found.mark {
                    told.send_replace(Some(Exit::Code(code)));
                }
            }
            // An error is the end of what can be had.
            match self.output.read(&mut chunk).await {
                Ok(count @ 1..) => {
                    let piece = chunk.get(..count).unwrap_or_default();
                    self.marks.feed(piece, &mut self.text, &mut self.found);
                }
                Ok(0) | Err(_) => break,
            }
        }
        if let Some(mut writer) = to {
            let _ = writer.write_all(&self.marks.rest()).await;
        }
        if told.borrow().is_none() {
            let exit = self.raw.wait().await;
            let is_ours = self.is_ending.load(Ordering::Acquire);
            let exit = settled(exit, &self.transport, is_ours).await;
            told.send_replace(Some(exit));
        }
    }
}

/// How a command ended that couldn't say so itself: it was killed, or its container is gone. Where
/// nobody here killed it, a container that still runs is looked at again: it may just be going.
pub(crate) async fn settled(exit: Exit, transport: &Arc<dyn Transport>, is_ours: bool) -> Exit {
    let mut fate = transport.fate().await;
    for pause in LOOKS {
        if is_ours || !matches!(fate, Fate::Running) {
            break;
        }
        sleep(pause).await;
        fate = transport.fate().await;
    }
    match (fate, exit) {
        (Fate::Gone(how), _) => Exit::Lost(how),
        (Fate::Unknown(why), Exit::Lost(how)) => Exit::Lost(format!("{how}; {why}")),
        (_, exit) => exit,
    }
}

/// The output of a command, which keeps it moving.
struct Output {
    text: DuplexStream,
    _pump: Pump,
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.text).poll_read(cx, buf)
    }
}

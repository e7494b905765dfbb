//! A command as seen from here.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Exit, Handle, Pid, Size, StartFailure};
use hermes_task::Tracked;
use tokio::io::AsyncWrite;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::connection::{Connection, Outgoing};
use crate::output::Received;
use crate::protocol::{Event, Request, Stream, WINDOW};

/// How long the relay may take to report that everything is ended, after the time given to the
/// command. It gives up by itself three seconds after that time.
const REPORT: Duration = Duration::from_secs(5);

/// Bytes of input that one frame carries.
const CHUNK: usize = 32 * 1024;

/// What is known of a command.
pub(crate) struct Command {
    id: u32,
    outgoing: Outgoing,
    progress: watch::Sender<Progress>,
    output: Mutex<Received>,
    errors: Mutex<Received>,
    input: Mutex<Input>,
    has_terminal: bool,
    /// Writes what was given as stdin.
    feed: Mutex<Option<Tracked<()>>>,
}

/// How far it has come.
#[derive(Debug, Default)]
struct Progress {
    started: Option<Result<u32, StartFailure>>,
    exit: Option<Exit>,
    /// How often everything of it was reported to have ended.
    terminated: u32,
    is_gone: bool,
}

#[derive(Debug)]
struct Input {
    credit: u32,
    is_closed: bool,
    waker: Option<Waker>,
}

impl Command {
    pub(crate) fn new(id: u32, outgoing: Outgoing, has_terminal: bool) -> Self {
        Self {
            id,
            outgoing,
            progress: watch::Sender::default(),
            output: Mutex::default(),
            errors: Mutex::default(),
            input: Mutex::new(Input { credit: WINDOW, is_closed: false, waker: None }),
            has_terminal,
            feed: Mutex::default(),
        }
    }

    /// Keeps a writer of its input for as long as it may be read.
    pub(crate) fn feed(&self, feed: Tracked<()>) {
        *self.feed.lock().unwrap_or_else(PoisonError::into_inner) = Some(feed);
    }

    pub(crate) fn stream(&self, stream: Stream) -> MutexGuard<'_, Received> {
        let stream = match stream {
            Stream::Output => &self.output,
            Stream::Errors => &self.errors,
        };
        stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn input(&self) -> MutexGuard<'_, Input> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something to the relay, which may be gone.
    pub(crate) fn say(&self, request: &Request<'_>) {
        self.outgoing.say(self.id, request);
    }

    /// Takes note of what the relay says.
    pub(crate) fn note(&self, event: Event) {
        match event {
            Event::Data(stream, bytes) => self.stream(stream).push(&bytes),
            Event::End(stream) => self.stream(stream).end(),
            Event::Taken(count) => self.change_input(|input| {
                input.credit = input.credit.saturating_add(count);
            }),
            Event::InputClosed => self.change_input(|input| input.is_closed = true),
            Event::Started(pid) => self.change(|progress| progress.started = Some(Ok(pid))),
            Event::Failed(message, may_pass) => {
                let failure = if may_pass { StartFailure::passing } else { StartFailure::new };
                self.change(|progress| progress.started = Some(Err(failure(message))));
                self.close();
            }
            Event::Exit(code) => self.change(|progress| progress.exit = Some(Exit::Code(code))),
            Event::Lost => self.lose("the process that watched over it on the host was killed"),
            Event::Terminated => self.change(|progress| progress.terminated += 1),
            Event::Gone => {
                self.change(|progress| progress.is_gone = true);
                self.close();
            }
            // Of no command.
            Event::Hello(_) | Event::Pong => {}
        }
    }

    /// Nobody knows what becomes of it.
    pub(crate) fn lose(&self, reason: &str) {
        self.change(|progress| {
            progress.exit.get_or_insert_with(|| Exit::Lost(reason.to_owned()));
        });
    }

    /// Nothing more will be heard of it.
    pub(crate) fn cut(&self, reason: &str) {
        self.lose(reason);
        self.change(|progress| {
            progress.is_gone = true;
            progress.started.get_or_insert_with(|| {
                // It may have run: whoever tries again must know that.
                Err(StartFailure::new(format!("{reason}; the command may have been started")))
            });
        });
        self.close();
    }

    fn close(&self) {
        self.stream(Stream::Output).end();
        self.stream(Stream::Errors).end();
        self.change_input(|input| input.is_closed = true);
        drop(self.feed.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    fn change_input(&self, change: impl FnOnce(&mut Input)) {
        let waker = {
            let mut input = self.input();
            change(&mut input);
            input.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until there is something to tell.
    async fn until<T>(&self, mut tell: impl FnMut(&Progress) -> Option<T>) -> T {
        let mut told = None;
        let mut progress = self.progress.subscribe();
        // The sender lives as long as we do.
        let _ = progress
            .wait_for(|progress| {
                told = tell(progress);
                told.is_some()
            })
            .await;
        match told {
            Some(told) => told,
            None => std::future::pending().await,
        }
    }

    /// Waits until it runs.
    pub(crate) async fn started(&self) -> Result<(), StartFailure> {
        self.until(|progress| progress.started.clone()).await.map(drop)
    }
}

/// Control over a command of a connection, which it holds open.
pub(crate) struct RemoteHandle {
    pub(crate) command: Arc<Command>,
    /// Ends with its last holder, and everything with it.
    pub(crate) _connection: Arc<Connection>,
    pub(crate) is_released: AtomicBool,
}

impl Handle for RemoteHandle {
    fn pid(&self) -> Option<Pid> {
        let progress = self.command.progress.borrow();
        progress.started.as_ref()?.as_ref().ok().map(|pid| Pid::Inside(*pid))
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        Box::pin(self.command.until(|progress| progress.exit.clone()))
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let before = self.command.progress.borrow().terminated;
            self.command.say(&Request::Terminate(grace));
            let is_done = |progress: &Progress| {
                (progress.is_gone || progress.terminated != before).then_some(())
            };
            if timeout(grace + REPORT, self.command.until(is_done)).await.is_err() {
                self.command.lose("the host doesn't say what became of it");
            }
        })
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        if !self.command.has_terminal {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it runs without a terminal"));
        }
        if self.command.progress.borrow().is_gone {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the terminal is gone"));
        }
        self.command.say(&Request::Resize(size));
        Ok(())
    }

    fn release(&self) {
        self.is_released.store(true, Ordering::Release);
        self.command.say(&Request::Release);
    }
}

impl Drop for RemoteHandle {
    fn drop(&mut self) {
        if !self.is_released.load(Ordering::Acquire) && !self.command.progress.borrow().is_gone {
            self.command.say(&Request::Terminate(Duration::ZERO));
        }
    }
}

/// What a command reads.
pub(crate) struct InputWriter {
    command: Arc<Command>,
    has_ended: bool,
}

impl InputWriter {
    pub(crate) fn of(command: Arc<Command>) -> Self {
        Self { command, has_ended: false }
    }

    fn end(&mut self) {
        // A terminal has no end; there the character for it is written.
        if !self.has_ended && !self.command.has_terminal {
            self.command.say(&Request::InputEnd);
        }
        self.has_ended = true;
    }
}

impl AsyncWrite for InputWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut input = self.command.input();
        if input.is_closed || self.has_ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = usize::try_from(input.credit).unwrap_or(usize::MAX).min(CHUNK);
        let sent = bytes.get(..room).unwrap_or(bytes);
        if sent.is_empty() {
            input.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        input.credit -= u32::try_from(sent.len()).unwrap_or(input.credit);
        drop(input);
        self.command.say(&Request::Input(sent));
        Poll::Ready(Ok(sent.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}

impl Drop for InputWriter {
    fn drop(&mut self) {
        self.end();
    }
}

//! The two threads of a server. One writes what others put into a queue, and ends the process; the
//! other reads. Nobody else ever waits for the process.

use std::io::{BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_exec::program::Companion;
use serde_json::Value;

use crate::conversation::{Conversation, Phase};
use crate::protocol;
use crate::wire;

/// How many bytes may wait for a server to read them.
pub(crate) const MAX_QUEUED: usize = 32 * 1024 * 1024;

/// How long a server may take to answer that it is told to end, and again to end.
pub(crate) const FAREWELL: Duration = Duration::from_millis(1000);

/// The shortest time between two looks at whether a server is idle.
const LOOK: Duration = Duration::from_millis(20);

/// What the threads of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) conversation: Mutex<Conversation>,
    /// Told of everything that changes.
    pub(crate) changed: Condvar,
    /// How many bytes wait to be written.
    pub(crate) queued: AtomicUsize,
}

/// What the writing thread is given.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Message(Vec<u8>),
    /// Tell the server to end.
    Close,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for news until `end`, or until `done` is true.
    pub(crate) fn wait_until(&self, end: Instant, done: impl Fn(&Conversation) -> bool) -> bool {
        let mut talk = self.lock();
        loop {
            if done(&talk) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            talk = self
                .changed
                .wait_timeout(talk, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(talk, _)| talk);
        }
    }

    /// The server is not to be spoken to any more, nor started again.
    pub(crate) fn fail(&self, why: String) {
        let mut talk = self.lock();
        if talk.is_open() {
            tracing::info!("a language server is given up: {why}");
            talk.fault = Some(why);
            talk.phase = Phase::Over;
        }
        drop(talk);
        self.changed.notify_all();
    }
}

/// The thread that writes.
pub(crate) struct Keeper {
    pub(crate) shared: Arc<Shared>,
    pub(crate) companion: Arc<Companion>,
    pub(crate) inbox: Receiver<Outgoing>,
    pub(crate) start_limit: Duration,
    pub(crate) idle_limit: Duration,
}

impl Keeper {
    pub(crate) fn keep(self, mut stdin: ChildStdin, hello: &[u8]) {
        if self.begin(&mut stdin, hello) && self.pass_on(&mut stdin) {
            self.say_farewell(&mut stdin);
        }
        drop(stdin);
        self.companion.kill();
        self.companion.wait(FAREWELL);
        let mut talk = self.shared.lock();
        talk.phase = Phase::Over;
        talk.is_collected = true;
        talk.documents.clear();
        drop(talk);
        self.shared.changed.notify_all();
    }

    /// Starts the conversation. Whether it goes on.
    fn begin(&self, stdin: &mut ChildStdin, hello: &[u8]) -> bool {
        let limit = Instant::now() + self.start_limit;
        let started = stdin.write_all(hello).is_ok()
            && self.shared.wait_until(limit, |talk| talk.phase != Phase::Starting);
        if !started {
            self.shared.fail("it doesn't answer at the start".to_owned());
        }
        let phase = self.shared.lock().phase;
        let initialized = protocol::notification("initialized", serde_json::json!({}));
        match phase {
            Phase::Ready => stdin.write_all(&wire::frame(&initialized)).is_ok(),
            // It may be told to end before it has begun.
            Phase::Closing => true,
            Phase::Starting | Phase::Over => false,
        }
    }

    /// Writes what there is to write. Whether the end of it is one in peace.
    fn pass_on(&self, stdin: &mut ChildStdin) -> bool {
        loop {
            let idle = self.shared.lock().used.elapsed();
            let left = self.idle_limit.saturating_sub(idle).max(LOOK);
            match self.inbox.recv_timeout(left) {
                Ok(Outgoing::Message(frame)) => {
                    self.shared.queued.fetch_sub(frame.len(), Ordering::Relaxed);
                    if stdin.write_all(&frame).and_then(|()| stdin.flush()).is_err() {
                        self.shared.fail("it closed its input".to_owned());
                        return false;
                    }
                }
                Ok(Outgoing::Close) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let mut talk = self.shared.lock();
                    if talk.is_open() && talk.is_idle(self.idle_limit) {
                        talk.phase = Phase::Closing;
                    }
                }
            }
            match self.shared.lock().phase {
                Phase::Closing => break,
                Phase::Over => return false,
                Phase::Starting | Phase::Ready => {}
            }
        }
        let mut talk = self.shared.lock();
        if talk.is_open() {
            talk.phase = Phase::Closing;
        }
        talk.phase == Phase::Closing
    }

    fn say_farewell(&self, stdin: &mut ChildStdin) {
        let id = self.shared.lock().ask();
        let shutdown = wire::frame(&protocol::request(id, "shutdown", Value::Null));
        if stdin.write_all(&shutdown).is_err() {
            return;
        }
        self.shared.wait_until(Instant::now() + FAREWELL, |talk| {
            talk.is_answered(id) || talk.phase == Phase::Over
        });
        let exit = wire::frame(&protocol::notification("exit", Value::Null));
        if stdin.write_all(&exit).is_ok() {
            self.companion.wait(FAREWELL);
        }
    }
}

/// The thread that reads.
pub(crate) struct Listener {
    pub(crate) shared: Arc<Shared>,
    pub(crate) companion: Arc<Companion>,
    pub(crate) outbox: Sender<Outgoing>,
}

impl Listener {
    pub(crate) fn listen(self, stdout: ChildStdout) {
        let mut stream = BufReader::with_capacity(64 * 1024, stdout);
        let fault = loop {
            let (message, size) = match wire::read(&mut stream) {
                Ok(Some(message)) => message,
                Ok(None) => break "it ended".to_owned(),
                Err(fault) => break fault.to_string(),
            };
            let heard = self.shared.lock().hear(message, size);
            match heard {
                Ok(None) => {}
                Ok(Some(reply)) => {
                    let frame = wire::frame(&reply);
                    let length = frame.len();
                    if self.shared.queued.fetch_add(length, Ordering::Relaxed) > MAX_QUEUED {
                        break "it doesn't read".to_owned();
                    }
                    // Nobody receives if it is being ended.
                    let _ = self.outbox.send(Outgoing::Message(frame));
                }
                Err(fault) => break fault,
            }
            self.shared.changed.notify_all();
        };
        {
            let mut talk = self.shared.lock();
            if talk.phase == Phase::Closing {
                talk.phase = Phase::Over;
            }
        }
        self.shared.fail(fault);
        self.companion.kill();
        // Wakes the writing thread, if it is still there.
        let _ = self.outbox.send(Outgoing::Close);
    }
}

//! Control over a live program.

use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_task::Tracked;
use rustix::process::Signal;
use tokio::time::{Instant, sleep, timeout_at};

use super::exit::{ExitWatch, gone, look};
use super::terminal::Terminal;
use super::tree::Tree;
use crate::environment::{BoxFuture, Exit, Handle, Pid, Size};

/// How often those who were told to end are looked at, at first and in the end.
const LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];

/// How long the end of those who were killed is waited for. Only what hangs in the kernel takes
/// longer.
const KILLED: Duration = Duration::from_secs(2);

/// How often those of a dropped program are killed.
const ROUNDS: u32 = 40;

/// A program that is the leader of its session. Its number is its own until this is dropped.
#[derive(Debug)]
pub(super) struct LiveHandle {
    child: Mutex<Option<Child>>,
    pid: rustix::process::Pid,
    tag: Option<Vec<u8>>,
    /// Whether nothing more is to be ended: it was let go, or all of it is gone.
    is_released: AtomicBool,
    pub(super) watch: Option<ExitWatch>,
    /// Writes what was given as stdin.
    pub(super) feed: Option<Tracked<()>>,
    pub(super) terminal: Option<Terminal>,
}

impl LiveHandle {
    pub(super) fn of(child: Child, tag: Option<Vec<u8>>) -> Self {
        let pid = rustix::process::Pid::from_child(&child);
        Self {
            child: Mutex::new(Some(child)),
            pid,
            tag,
            is_released: AtomicBool::new(false),
            watch: None,
            feed: None,
            terminal: None,
        }
    }

    pub(super) fn id(&self) -> rustix::process::Pid {
        self.pid
    }

    /// Signals the program, and all that it started as far as it can be found.
    async fn signal(&self, signal: Signal) {
        Tree::found(self.pid, self.tag.as_deref()).await.signal(signal);
    }

    async fn end(&self, grace: Duration) {
        if !grace.is_zero() {
            let give_up = Instant::now() + grace;
            self.signal(Signal::TERM).await;
            if self.are_gone(give_up).await {
                return self.release();
            }
        }
        let give_up = Instant::now() + KILLED;
        // Again until nobody is left: who was just being started may have been overlooked.
        while Instant::now() < give_up {
            self.signal(Signal::KILL).await;
            if self.are_gone(Instant::now() + Duration::from_millis(100)).await {
                return self.release();
            }
        }
    }

    /// Whether all of them have ended, or did before `give_up`.
    async fn are_gone(&self, give_up: Instant) -> bool {
        let [mut pause, longest] = LOOKS;
        let mut is_first = true;
        loop {
            let alive = Tree::alive(self.pid, self.tag.as_deref()).await;
            if alive.is_empty() {
                return true;
            }
            // Looking again is only of use when one of them has gone, and takes a while where very
            // many commands are ended at once.
            let ends = async {
                for pid in alive {
                    gone(pid, longest).await;
                }
            };
            if timeout_at(give_up, ends).await.is_err() {
                return Tree::alive(self.pid, self.tag.as_deref()).await.is_empty();
            }
            // Others may have been started in the meantime, again and again.
            if !is_first {
                sleep(pause).await;
            }
            is_first = false;
            pause = (pause * 2).min(longest);
        }
    }
}

impl Handle for LiveHandle {
    fn pid(&self) -> Option<Pid> {
        u32::try_from(self.pid.as_raw_nonzero().get()).ok().map(Pid::Host)
    }

    fn tag(&self) -> Option<&[u8]> {
        self.tag.as_deref()
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        Box::pin(async {
            match &self.watch {
                Some(watch) => watch.ended().await,
                None => Exit::Lost("the process can't be watched".to_owned()),
            }
        })
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.end(grace))
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        match &self.terminal {
            Some(terminal) => terminal.resize(size),
            None => Err(io::Error::new(io::ErrorKind::Unsupported, "it runs without a terminal")),
        }
    }

    fn release(&self) {
        self.is_released.store(true, Ordering::Release);
    }
}

impl Drop for LiveHandle {
    fn drop(&mut self) {
        let is_over = self.is_released.load(Ordering::Acquire);
        let has_ended = look(self.pid).is_some();
        if !is_over {
            // At once, since this program may be about to end.
            Tree::nearest(self.pid).kill();
        }
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut child) = child else { return };
        if has_ended {
            if !is_over {
                // Whoever is left lost its parent, and is found by what it inherited.
                Tree::of(self.pid, self.tag.as_deref()).kill();
            }
            let _ = child.wait();
            return;
        }
        // It ends in a moment, or was let go and may take for ever; either way somebody must collect
        // it, and waiting or looking for the others here would hold up the runtime.
        let (pid, tag) = (self.pid, self.tag.take());
        let collect = move || {
            // Again until nobody is left: who was just being started may have been overlooked.
            let mut rounds = if is_over { 0 } else { ROUNDS };
            while rounds > 0 && Tree::of(pid, tag.as_deref()).kill() {
                std::thread::sleep(LOOKS[1]);
                rounds -= 1;
            }
            drop(child.wait());
        };
        let _ = std::thread::Builder::new().name("collect".to_owned()).spawn(collect);
    }
}

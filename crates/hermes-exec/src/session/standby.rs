//! A shell that waits for the next command of its session.
//!
//! Starting a shell and restoring the state takes longer than most commands. Between two commands
//! of an agent there is time for both: the shell is started then, has the state and reads the rest
//! of its script when there is a command. It is used once. Where none waits, or the state is another
//! one by then, a command starts a shell of its own.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hermes_task::Tracked;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{sleep, timeout};

use super::quote::quote;
use super::slots::Slot;
use super::wrapper::LAST;
use crate::environment::{Environment, Pid, Running, Start, Stdin};
use crate::program::TAG;

/// How long a session is idle before a shell is started. Commands that follow at once aren't held up
/// by it, and a program that ends after one command starts none.
const PAUSE: Duration = Duration::from_millis(3);

/// How long such a shell may take to read its script. Somebody may have stopped it.
const READING: Duration = Duration::from_secs(2);

/// The shell of a session that waits, or is on its way.
#[derive(Default)]
pub(super) struct Standby {
    waiting: Arc<Mutex<Option<Waiting>>>,
    starting: Mutex<Option<Tracked<()>>>,
}

struct Waiting {
    running: Running,
    state: Slot,
}

impl Standby {
    /// Starts one that has the state in the file `path`, in a moment.
    pub(super) fn prepare(
        &self,
        environment: Arc<dyn Environment>,
        id: String,
        state: Slot,
        path: &str,
    ) {
        if lock(&self.waiting).as_ref().is_some_and(|it| Arc::ptr_eq(&it.state, &state)) {
            return;
        }
        let script = format!("builtin . {} 2>/dev/null\nbuiltin . /dev/stdin\n{LAST}", quote(path));
        let start = Start {
            env: vec![(TAG.to_owned(), id)],
            stdin: Stdin::Open,
            bare: true,
            // No file, which would be left when the program ends just then.
            is_public: true,
            ..Start::new(script)
        };
        let waiting = Arc::clone(&self.waiting);
        let work = async move {
            sleep(PAUSE).await;
            if let Ok(running) = environment.start(start).await {
                *lock(&waiting) = Some(Waiting { running, state });
            }
        };
        *lock(&self.starting) = Some(hermes_task::spawn(work));
    }

    /// Gives the rest of a script to the shell that waits with this state. None where there is none,
    /// and nothing was run then.
    pub(super) async fn run(&self, state: &Slot, script: &str) -> Option<Running> {
        drop(lock(&self.starting).take());
        let waiting = lock(&self.waiting).take()?;
        if !Arc::ptr_eq(&waiting.state, state) {
            return None;
        }
        let mut waiting = waiting.running;
        if has_ended(&waiting) || is_stopped(&waiting) {
            return None;
        }
        let mut stdin = waiting.stdin.take()?;
        // Named after its input, so that it goes before it when this is given up: it must not take
        // a part of the script for all of it.
        let running = waiting;
        let give = async {
            stdin.write_all(script.as_bytes()).await?;
            stdin.shutdown().await
        };
        // It reads all of it before it runs anything: one that doesn't, or is gone, has run nothing.
        timeout(READING, give).await.ok()?.ok()?;
        Some(running)
    }
}

fn has_ended(running: &Running) -> bool {
    let mut wait = pin!(running.handle.wait());
    wait.as_mut().poll(&mut Context::from_waker(Waker::noop())) != Poll::Pending
}

/// Whether somebody has stopped it: a short script it would take all the same, and not run.
fn is_stopped(running: &Running) -> bool {
    let Some(Pid::Host(pid)) = running.handle.pid() else { return false };
    // After the name in brackets, which may hold anything.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

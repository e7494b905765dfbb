//! A shell that waits for the next command of its session.
//!
//! Starting a shell and restoring the state takes longer than most commands. When the session has
//! been idle for a moment a shell is started and given the state; with the next command it reads the
//! rest of its script. Where commands follow at once, the shell for the next one is started beside
//! the one that runs. It is used once. Where none waits, or it has another state by then, a command
//! starts a shell of its own.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hermes_task::Tracked;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{sleep, timeout};

use super::slots::Slot;
use super::wrapper::LAST;
use crate::environment::{Environment, Pid, Running, Start, Stdin};
use crate::program::TAG;

/// How long a session is idle before its state is given to a shell. Commands that follow at once
/// aren't held up by it, and a program that ends after one command starts none.
const PAUSE: Duration = Duration::from_millis(3);

/// How long such a shell may take to read its script. Somebody may have stopped it.
const READING: Duration = Duration::from_secs(2);

/// What the shell does first: it waits for the path of a state, which ends in a NUL, and then for
/// the script of the command.
const WAITING: &str = "IFS= builtin read -r -d '' __hermes_state
builtin . \"$__hermes_state\" 2>/dev/null && builtin unset __hermes_state
builtin . /dev/stdin
";

/// The shell of a session that waits, or is on its way.
#[derive(Default)]
pub(super) struct Standby {
    next: Arc<Mutex<Option<Next>>>,
    loading: Mutex<Option<Tracked<()>>>,
    /// Whether there was a command. Who runs one only starts no second shell.
    is_warm: AtomicBool,
}

/// The shell for the next command.
struct Next {
    /// None where it could not be started.
    shell: Pin<Box<dyn Future<Output = Option<Running>> + Send>>,
    /// The state that it was given.
    state: Option<Slot>,
}

impl Next {
    fn start(environment: Arc<dyn Environment>, id: String) -> Self {
        let start = Start {
            env: vec![(TAG.to_owned(), id)],
            stdin: Stdin::Open,
            bare: true,
            // No file, which would be left when the program ends just then.
            is_public: true,
            ..Start::new(format!("{WAITING}{LAST}"))
        };
        let started = hermes_task::spawn(async move { environment.start(start).await });
        Self { shell: Box::pin(async { started.await.ok()?.ok() }), state: None }
    }
}

impl Standby {
    /// Has a shell wait that has the state in the file `path`, in a moment.
    pub(super) fn prepare(
        &self,
        environment: Arc<dyn Environment>,
        id: String,
        state: Slot,
        path: String,
    ) {
        let has_state = |it: &Next| it.state.as_ref().is_some_and(|it| Arc::ptr_eq(it, &state));
        if lock(&self.next).as_ref().is_some_and(has_state) {
            return;
        }
        let next = Arc::clone(&self.next);
        let work = async move {
            sleep(PAUSE).await;
            let waiting = lock(&next).take().filter(|it| it.state.is_none());
            let waiting = waiting.unwrap_or_else(|| Next::start(environment, id));
            let Some(mut shell) = waiting.shell.await else { return };
            let Some(stdin) = &mut shell.stdin else { return };
            if stdin.write_all(format!("{path}\0").as_bytes()).await.is_ok() {
                let shell = Box::pin(std::future::ready(Some(shell)));
                *lock(&next) = Some(Next { shell, state: Some(state) });
            }
        };
        *lock(&self.loading) = Some(hermes_task::spawn(work));
    }

    /// Gives the rest of a script to the shell that waits, which has the state of the file `path` or
    /// gets it. None where there is none, and nothing was run then.
    pub(super) async fn run(
        &self,
        environment: &Arc<dyn Environment>,
        id: String,
        (state, path): (&Slot, &str),
        script: &str,
    ) -> Option<Running> {
        drop(lock(&self.loading).take());
        let (waiting, has_state) = {
            let mut next = lock(&self.next);
            let waiting = next.take();
            let has_state = waiting.as_ref().is_some_and(|it| it.state.is_some());
            // There was no time since the command before, so there may be none before the next. Not
            // always: two that start at once are both slower.
            if !has_state && self.is_warm.swap(true, Ordering::Relaxed) {
                *next = Some(Next::start(Arc::clone(environment), id));
            }
            (waiting, has_state)
        };
        let waiting = waiting?;
        if waiting.state.as_ref().is_some_and(|it| !Arc::ptr_eq(it, state)) {
            return None;
        }
        let mut waiting = waiting.shell.await?;
        if has_ended(&waiting) || is_stopped(&waiting) {
            return None;
        }
        let mut stdin = waiting.stdin.take()?;
        // Named after its input, so that it goes before it when this is given up: it must not take
        // a part of the script for all of it.
        let running = waiting;
        let give = async {
            if !has_state {
                stdin.write_all(format!("{path}\0").as_bytes()).await?;
            }
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

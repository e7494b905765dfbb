//! Control over a command of the sandbox, with a terminal or without.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Exit, Handle, Pid, Size, Start, StartFailure};
use hermes_exec::remote::{LONGEST_ARGUMENT, ending, from_file, launch, told, with_env};
use hermes_task::Tracked;
use tokio::runtime::Handle as Runtime;
use tokio::sync::{mpsc, watch};

use crate::api::Fault;
use crate::toolbox::Toolbox;

/// The folder for short-lived files.
pub(crate) const TEMP_DIR: &str = "/tmp";
/// How much longer than its grace the ending of a command may take.
const ENDING: Duration = Duration::from_secs(10);

/// What is to be done for commands that nobody holds any more.
#[derive(Debug)]
pub(crate) enum Leftover {
    /// The command is to be ended, and its session closed.
    Running(String),
    /// The session is to be closed.
    Ended(String),
    /// The command is to be ended, and its terminal closed.
    BusyTerminal(String),
    /// The terminal is to be closed.
    Terminal(String),
}

/// A command of the sandbox. Its session or terminal has the same name.
pub(crate) struct Started {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) id: String,
    exit: watch::Sender<Option<Exit>>,
}

impl Started {
    pub(crate) fn new(toolbox: &Arc<Toolbox>, id: String) -> Self {
        Self { toolbox: Arc::clone(toolbox), id, exit: watch::Sender::new(None) }
    }

    /// Notes how it ended, unless that is known.
    pub(crate) fn ended(&self, exit: Exit) {
        self.exit.send_if_modified(|slot| {
            let is_first = slot.is_none();
            slot.get_or_insert(exit);
            is_first
        });
    }
}

/// A new name for a command.
pub(crate) fn new_id() -> String {
    format!("hermes-{:032x}", fastrand::u128(..))
}

/// A failure to start a command before it was asked for: nothing of it has run.
pub(crate) fn before(fault: &Fault, what: &str) -> StartFailure {
    let is_safe_to_retry = !matches!(fault.status, Some(400..=499));
    StartFailure { is_safe_to_retry, ..fault.to(what) }
}

/// The program and its arguments that run the script of `start` as the command `id`; and a file
/// that they need, where the script is too long for an argument.
pub(crate) fn argv(start: &Start, id: &str) -> (Vec<String>, Option<(String, String)>) {
    let script = with_env(start);
    if script.len() <= LONGEST_ARGUMENT {
        return (launch(start, &script, id, TEMP_DIR), None);
    }
    let file = format!("{TEMP_DIR}/.{id}.sh");
    (launch(start, &from_file(&file), id, TEMP_DIR), Some((file, script.into_owned())))
}

/// Ends a command with all that it started.
pub(crate) async fn end(toolbox: &Toolbox, id: &str, grace: Duration) {
    let longest = grace + ENDING;
    match toolbox.execute(&ending(id, grace, TEMP_DIR), longest).await {
        Ok((0, _)) => {}
        Ok((code, said)) => tracing::warn!(code, said, id, "a command isn't ended"),
        Err(fault) => tracing::warn!(%fault, id, "a command isn't ended"),
    }
}

/// Control over a command.
pub(crate) struct Control {
    started: Arc<Started>,
    has_terminal: bool,
    /// Who ends it when nobody holds it any more; nobody, once it is let go.
    leftovers: Mutex<Option<mpsc::UnboundedSender<Leftover>>>,
    /// The last change of the terminal's size; those before it don't matter.
    resizing: Mutex<Option<Tracked<()>>>,
    _tasks: (Arc<Tracked<()>>, Option<Tracked<()>>),
}

impl Control {
    /// `leftovers` hears of the command if nobody holds it any more while it runs; `tasks` end with
    /// this.
    pub(crate) fn new(
        started: Arc<Started>,
        has_terminal: bool,
        leftovers: mpsc::UnboundedSender<Leftover>,
        tasks: (Arc<Tracked<()>>, Option<Tracked<()>>),
    ) -> Self {
        let leftovers = Mutex::new(Some(leftovers));
        Self { started, has_terminal, leftovers, resizing: Mutex::default(), _tasks: tasks }
    }

    fn leftovers(&self) -> Option<mpsc::UnboundedSender<Leftover>> {
        self.leftovers.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Handle for Control {
    fn pid(&self) -> Option<Pid> {
        None
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        Box::pin(told(self.started.exit.subscribe()))
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(end(&self.started.toolbox, &self.started.id, grace))
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        if !self.has_terminal {
            let message = "the command has no terminal";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        if self.started.exit.borrow().is_some() {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the terminal is gone"));
        }
        if Runtime::try_current().is_err() {
            return Err(io::Error::other("there is no runtime to do it in"));
        }
        let started = Arc::clone(&self.started);
        let change = hermes_task::spawn(async move {
            if let Err(fault) = started.toolbox.resize_terminal(&started.id, size).await {
                tracing::debug!(%fault, "a terminal keeps its size");
            }
        });
        *self.resizing.lock().unwrap_or_else(PoisonError::into_inner) = Some(change);
        Ok(())
    }

    fn release(&self) {
        self.leftovers();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // What is left of a command that has ended belongs to nobody, as under a shell.
        if let Some(leftovers) = self.leftovers()
            && self.started.exit.borrow().is_none()
        {
            let id = self.started.id.clone();
            let leftover = match self.has_terminal {
                true => Leftover::BusyTerminal(id),
                false => Leftover::Running(id),
            };
            let _ = leftovers.send(leftover);
        }
    }
}

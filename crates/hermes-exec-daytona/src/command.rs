//! One command of a sandbox: its streams and its end.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_exec::environment::{
    BoxFuture, Exit, Handle, Pid, Running, Size, Start, StartFailure, Stdin, Writer,
};
use hermes_exec::remote::{Feed, LONGEST_ARGUMENT, ending, feed, from_file, launch, with_env};
use hermes_task::Tracked;
use tokio::io::{AsyncReadExt as _, DuplexStream};
use tokio::sync::{mpsc, watch};

use crate::frames::{Frame, Frames};
use crate::logs::Log;
use crate::terminal;
use crate::toolbox::Toolbox;
use crate::wrapper::{Input, Lines, wrapped};

/// The folder for short-lived files.
pub(crate) const TEMP_DIR: &str = "/tmp";
/// How much input travels in one line, in bytes: what the input's pipe holds, whatever they are.
const PIECE: usize = 8 * 1024;
/// How often a log is asked for again in a row, and how long is waited before the first time.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);
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

/// A command that was started. Its session has the same name.
struct Command {
    toolbox: Arc<Toolbox>,
    id: String,
    /// Its name in the session.
    name: String,
    exit: watch::Sender<Option<Exit>>,
}

impl Command {
    fn ended(&self, exit: Exit) {
        self.exit.send_if_modified(|slot| {
            let is_first = slot.is_none();
            slot.get_or_insert(exit);
            is_first
        });
    }

    /// Hands on what the log says, to its end.
    async fn follow(&self, output: Feed, errors: Option<Feed>) {
        let mut frames = Frames::default();
        let mut tries = 0;
        loop {
            frames.restart();
            let broken = match Log::follow(&self.toolbox, &self.id, &self.name).await {
                Err(fault) => Some(fault),
                Ok(mut log) => loop {
                    let piece = match log.next().await {
                        Ok(Some(piece)) => piece,
                        Ok(None) => break None,
                        Err(fault) => break Some(fault),
                    };
                    for frame in frames.push(&piece) {
                        tries = 0;
                        match frame {
                            Frame::Output(bytes) => drop(output.send(bytes).await),
                            Frame::Errors(bytes) => match &errors {
                                Some(errors) => drop(errors.send(bytes).await),
                                None => drop(output.send(bytes).await),
                            },
                            Frame::Exit(code) => self.ended(Exit::Code(code)),
                            Frame::End => return,
                        }
                    }
                },
            };
            let why = match broken {
                Some(fault) if fault.is_absent() => {
                    Some("the session is gone: the sandbox was stopped or deleted".to_owned())
                }
                Some(fault) if tries == TRIES => {
                    Some(format!("the connection to the sandbox is lost: {fault}"))
                }
                // The log has an end, but not by the script: something killed it.
                None if tries == TRIES / 2 => Some(self.why_without_end().await),
                _ => None,
            };
            if let Some(why) = why {
                self.ended(Exit::Lost(why.clone()));
                output.fail(why.clone()).await;
                if let Some(errors) = &errors {
                    errors.fail(why).await;
                }
                return;
            }
            tokio::time::sleep(PAUSE * 2_u32.pow(tries)).await;
            tries += 1;
        }
    }

    /// Why a log ended without the script saying so. If the session knows how the command ended,
    /// that is its end.
    async fn why_without_end(&self) -> String {
        match self.toolbox.exit_code(&self.id, &self.name).await {
            Ok(Some(code)) => {
                self.ended(Exit::Code(code));
                "a part of the output is lost: what handed it on was killed".to_owned()
            }
            Ok(None) => "the log of the command ended before the command".to_owned(),
            Err(fault) => format!("the session doesn't answer: {fault}"),
        }
    }

    /// Hands on what comes from the other side, and the end when that is dropped.
    async fn take(&self, mut input: DuplexStream) {
        let mut lines = Lines::default();
        let mut buffer = vec![0; PIECE];
        loop {
            let count = input.read(&mut buffer).await.unwrap_or_default();
            let line = match buffer.get(..count) {
                Some(bytes) if count > 0 => lines.line(bytes),
                _ => lines.end(),
            };
            if let Err(fault) = self.toolbox.input(&self.id, &self.name, &line).await {
                // A command need not read what it is given.
                tracing::debug!(%fault, "input isn't taken");
                return;
            }
            if count == 0 {
                return;
            }
        }
    }
}

/// Starts a shell in the sandbox. `leftovers` hears of commands that nobody holds any more.
pub(crate) async fn start(
    toolbox: &Arc<Toolbox>,
    start: Start,
    leftovers: mpsc::UnboundedSender<Leftover>,
) -> Result<Running, StartFailure> {
    if let Some(size) = start.terminal {
        return terminal::start(toolbox, start, size, leftovers).await;
    }
    let id = format!("hermes-{:032x}", fastrand::u128(..));
    let script = with_env(&start);
    let at = |name: &str| format!("{TEMP_DIR}/.{id}.{name}");
    let (script_file, input_file) = (at("sh"), at("input"));
    let mut files: Vec<(&str, &[u8])> = Vec::new();
    let argv = if script.len() > LONGEST_ARGUMENT {
        files.push((&script_file, script.as_bytes()));
        launch(&start, &from_file(&script_file), &id, TEMP_DIR)
    } else {
        launch(&start, &script, &id, TEMP_DIR)
    };
    let input = match &start.stdin {
        Stdin::Bytes(bytes) if !bytes.is_empty() => {
            files.push((&input_file, bytes));
            Input::File(input_file.clone())
        }
        Stdin::Bytes(_) | Stdin::Null => Input::Null,
        Stdin::Open => Input::Open,
    };
    let what = "starting a command in the sandbox";
    // Until the command is asked for nothing of it has run.
    let before = |fault: crate::api::Fault| {
        let failure = fault.to(what);
        let is_safe_to_retry = !matches!(fault.status, Some(400..=499));
        StartFailure { is_safe_to_retry, ..failure }
    };
    if !files.is_empty() {
        toolbox.upload(&files).await.map_err(before)?;
    }
    toolbox.open_session(&id).await.map_err(before)?;
    let text = wrapped(&at("d"), start.errors_apart, &input, &argv);
    let name = match toolbox.run(&id, &text).await {
        Ok(name) => name,
        Err(fault) => {
            // It may run, and nobody would ever know.
            let _ = leftovers.send(Leftover::Running(id));
            return Err(fault.to(what));
        }
    };
    let exit = watch::Sender::new(None);
    let command = Arc::new(Command { toolbox: Arc::clone(toolbox), id, name, exit });
    let (output, output_fed) = feed();
    let (errors, errors_fed) = if start.errors_apart {
        let (errors, fed) = feed();
        (Some(errors), Some(fed))
    } else {
        (None, None)
    };
    let following = Arc::clone(&command);
    let closing = leftovers.clone();
    let follower = Arc::new(hermes_task::spawn(async move {
        following.follow(output, errors).await;
        let _ = closing.send(Leftover::Ended(following.id.clone()));
    }));
    let mut stdin: Option<Writer> = None;
    let mut taker = None;
    if matches!(input, Input::Open) {
        let (near, far) = tokio::io::duplex(PIECE);
        stdin = Some(Box::pin(near));
        let taking = Arc::clone(&command);
        taker = Some(hermes_task::spawn(async move { taking.take(far).await }));
    }
    Ok(Running {
        output: output_fed.filled_by(Arc::clone(&follower)),
        errors: errors_fed.map(|fed| fed.filled_by(Arc::clone(&follower))),
        stdin,
        handle: Box::new(Control {
            command,
            leftovers: Mutex::new(Some(leftovers)),
            _tasks: (follower, taker),
        }),
    })
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
struct Control {
    command: Arc<Command>,
    /// Who ends it when nobody holds it any more; nobody, once it is let go.
    leftovers: Mutex<Option<mpsc::UnboundedSender<Leftover>>>,
    _tasks: (Arc<Tracked<()>>, Option<Tracked<()>>),
}

impl Control {
    fn leftovers(&self) -> Option<mpsc::UnboundedSender<Leftover>> {
        self.leftovers.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Handle for Control {
    fn pid(&self) -> Option<Pid> {
        None
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        let mut exit = self.command.exit.subscribe();
        Box::pin(async move {
            let ended = exit.wait_for(Option::is_some).await;
            let ended = ended.ok().and_then(|exit| exit.clone());
            ended.unwrap_or_else(|| Exit::Lost("nobody follows the command".to_owned()))
        })
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(end(&self.command.toolbox, &self.command.id, grace))
    }

    fn resize(&self, _: Size) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the command has no terminal"))
    }

    fn release(&self) {
        self.leftovers();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // What is left of a command that has ended belongs to nobody, as under a shell.
        if let Some(leftovers) = self.leftovers()
            && self.command.exit.borrow().is_none()
        {
            let _ = leftovers.send(Leftover::Running(self.command.id.clone()));
        }
    }
}

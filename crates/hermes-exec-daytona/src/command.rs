//! One command of a sandbox: its streams and its end.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{Exit, Running, Start, StartFailure, Stdin, Writer};
use hermes_exec::remote::{Feed, feed};
use tokio::io::{AsyncReadExt as _, DuplexStream};
use tokio::sync::mpsc;

use crate::api::Fault;
use crate::control::{Control, Leftover, Started, TEMP_DIR, argv, before, new_id};
use crate::frames::{Frame, Frames};
use crate::logs::Log;
use crate::terminal;
use crate::toolbox::Toolbox;
use crate::wrapper::{Input, Lines, wrapped};

/// How much input travels in one line, in bytes: what the input's pipe holds, whatever they are.
const PIECE: usize = 8 * 1024;
/// How often a log is asked for again in a row, and how long is waited before the first time.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// A command that was started.
struct Command {
    started: Arc<Started>,
    /// Its name in the session.
    name: String,
}

impl Command {
    /// Hands on what the log says, to its end.
    async fn follow(&self, output: Feed, errors: Option<Feed>) {
        let mut frames = Frames::default();
        let mut tries = 0;
        loop {
            frames.restart();
            let broken =
                match Log::follow(&self.started.toolbox, &self.started.id, &self.name).await {
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
                                Frame::Exit(code) => self.started.ended(Exit::Code(code)),
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
                self.started.ended(Exit::Lost(why.clone()));
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
        match self.started.toolbox.exit_code(&self.started.id, &self.name).await {
            Ok(Some(code)) => {
                self.started.ended(Exit::Code(code));
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
            if let Err(fault) =
                self.started.toolbox.input(&self.started.id, &self.name, &line).await
            {
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
    let id = new_id();
    let at = |name: &str| format!("{TEMP_DIR}/.{id}.{name}");
    let input_file = at("input");
    let (argv, file) = argv(&start, &id);
    let mut files: Vec<(&str, &[u8])> = Vec::new();
    files.extend(file.as_ref().map(|(path, script)| (&**path, script.as_bytes())));
    let input = match &start.stdin {
        Stdin::Bytes(bytes) if !bytes.is_empty() => {
            files.push((&input_file, bytes));
            Input::File(input_file.clone())
        }
        Stdin::Bytes(_) | Stdin::Null => Input::Null,
        Stdin::Open => Input::Open,
    };
    let what = "starting a command in the sandbox";
    let before = |fault: Fault| before(&fault, what);
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
    let started = Arc::new(Started::new(toolbox, id));
    let command = Arc::new(Command { started: Arc::clone(&started), name });
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
        let _ = closing.send(Leftover::Ended(following.started.id.clone()));
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
        handle: Box::new(Control::new(started, false, leftovers, (follower, taker))),
    })
}

//! Starting commands in a container.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hermes_exec::environment::{Running, Start, StartFailure};
use hermes_exec::program::TAG;
use tokio::io::AsyncReadExt as _;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::census::Doomed;
use crate::handle::CommandHandle;
use crate::marks::{Mark, Marks};
use crate::names::unique;
use crate::pump::{self, Begun, CHUNK};
use crate::reaper::Reaper;
use crate::transport::{Exec, Fate, Transport};
use crate::upload::upload;
use crate::wrapper::{ARGUMENT, from_file, wrapped};

/// How long the beginning of a command is waited for.
const BEGINNING: Duration = Duration::from_secs(60);

/// Bytes kept of what is said in place of a beginning.
const SAID: usize = 8 * 1024;

/// The commands of one container.
pub struct Commands {
    transport: Arc<dyn Transport>,
    reaper: Arc<Reaper>,
    temp_dir: String,
}

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands").field("temp_dir", &self.temp_dir).finish_non_exhaustive()
    }
}

impl Commands {
    /// The commands that are run by `transport`. `temp_dir` is a folder of the container for long
    /// scripts.
    pub fn new(transport: Arc<dyn Transport>, temp_dir: impl Into<String>) -> Self {
        let reaper = Arc::new(Reaper::new(Arc::clone(&transport)));
        Self { transport, reaper, temp_dir: temp_dir.into() }
    }

    /// Starts a shell, and returns when it runs. What the container has by itself of variables it
    /// always has: `bare` means nothing here.
    ///
    /// # Errors
    /// It didn't begin: the container is gone, has no such shell, or said something else.
    pub async fn start(&self, start: Start) -> Result<Running, StartFailure> {
        let given = start.env.iter().rev().find(|(key, _)| key == TAG).map(|(_, tag)| tag);
        // Some shells see no ends between variables, so it has one: no tag begins with another.
        let tag = format!("{}.", given.cloned().unwrap_or_else(unique));
        let script = if start.script.len() > ARGUMENT {
            from_file(&upload(&*self.transport, &self.temp_dir, start.script).await?)
        } else {
            start.script
        };
        let name = unique();
        let apart = start.errors_apart && start.terminal.is_none();
        let mut env = start.env;
        env.retain(|(name, _)| name != TAG);
        env.push((TAG.to_owned(), tag.clone()));
        let exec = Exec {
            argv: wrapped(&name, apart, start.dialect, script),
            env,
            stdin: start.stdin,
            errors_apart: apart,
            terminal: start.terminal,
            user: None,
        };
        let mut unborn = Unborn {
            reaper: Arc::clone(&self.reaper),
            doomed: Some(Doomed { leader: None, tag: tag.clone() }),
        };
        let running = self.transport.exec(exec).await;
        if running.is_err() {
            unborn.doomed = None;
        }
        let Running { output, errors, stdin, handle } = running?;
        let mut begun = Begun {
            raw: Arc::from(handle),
            output,
            marks: Marks::new(&name),
            text: Vec::new(),
            found: Vec::new(),
            transport: Arc::clone(&self.transport),
            is_ending: Arc::new(AtomicBool::new(false)),
        };
        let beginning = timeout(BEGINNING, begin(&mut begun)).await;
        let mark = beginning.map_err(|_| {
            StartFailure::new("the command didn't begin: the container is too slow")
        })?;
        // From here on it is known whether there is something to be ended.
        unborn.doomed = None;
        let leader = match mark {
            Some(Mark::Start(leader)) => leader,
            Some(Mark::NoBash) => {
                return Err(StartFailure::new(
                    "there is no bash in this container: use an image that has it",
                ));
            }
            Some(Mark::Exit(_)) | None => return Err(self.why(begun).await),
        };
        let (raw, is_ending) = (Arc::clone(&begun.raw), Arc::clone(&begun.is_ending));
        let (output, exit, pump) = pump::start(begun);
        let handle = CommandHandle {
            doomed: Doomed { leader: Some(leader), tag },
            exit,
            raw,
            reaper: Arc::clone(&self.reaper),
            is_ending,
            is_dead: watch::Sender::new(false),
            is_over: AtomicBool::new(false),
            _pump: pump,
        };
        Ok(Running { output, errors, stdin, handle: Box::new(handle) })
    }

    /// Waits until the commands that were dropped have ended.
    pub async fn settle(&self) {
        self.reaper.settle().await;
    }

    /// Why something ended before it began.
    async fn why(&self, begun: Begun) -> StartFailure {
        let said = String::from_utf8_lossy(&begun.text).trim().to_owned();
        match self.transport.fate().await {
            Fate::Gone(how) => StartFailure::gone(how),
            Fate::Running | Fate::Unknown(_) if said.is_empty() => {
                StartFailure::passing("the command didn't begin, and nothing was said about it")
            }
            Fate::Running | Fate::Unknown(_) => {
                StartFailure::new(format!("the command didn't begin: {said}"))
            }
        }
    }
}

/// Reads until the shell says that it begins, or can't. None when it ends
/// without a word.
async fn begin(begun: &mut Begun) -> Option<Mark> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = begun.output.read(&mut chunk).await.unwrap_or_default();
        if count == 0 {
            let rest = begun.marks.rest();
            begun.text.extend(rest);
            return None;
        }
        let piece = chunk.get(..count).unwrap_or_default();
        begun.marks.feed(piece, &mut begun.text, &mut begun.found);
        if begun.found.is_empty() {
            begun.text.truncate(SAID);
            continue;
        }
        let first = begun.found.remove(0);
        // What came before is the client's or the engine's.
        begun.text.drain(..first.at);
        return Some(first.mark);
    }
}

/// A command of which nobody knows yet whether it began. Dropping it ends the command.
struct Unborn {
    reaper: Arc<Reaper>,
    doomed: Option<Doomed>,
}

impl Drop for Unborn {
    fn drop(&mut self) {
        if let Some(doomed) = self.doomed.take() {
            self.reaper.end(doomed);
        }
    }
}

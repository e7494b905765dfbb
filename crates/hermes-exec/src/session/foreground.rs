//! One command of a session, from start to end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};

use super::Session;
use super::marker::Marked;
use super::slots::Slot;
use super::wrapper::{
    CHANGED, GONE, NOT_ENTERED, Report, SAME, STAYED, Save, UNKEPT, WHOLE, Wrapper,
};
use crate::environment::{Dialect, Exit, Running, Start, StartFailure, Stdin};

/// How long the start-up files of a session may take.
pub(super) const OPENING: Duration = Duration::from_secs(30);

/// How long those who are told to end may take before they are killed.
const GRACE: Duration = Duration::from_secs(1);

/// A command has ended and something that it started holds its output: how long it may be silent
/// before nobody listens any more. What the command wrote itself is there already.
const QUIET: Duration = Duration::from_millis(100);

/// How long such a thing is listened to when it isn't silent.
const TALK: Duration = Duration::from_millis(500);

/// Bytes read at once.
const CHUNK: usize = 128 * 1024;

/// A command that is waited for.
#[derive(Clone, Debug)]
pub struct Foreground {
    /// The command.
    pub command: String,
    /// Where it starts; may begin with `~`.
    pub cwd: String,
    /// What it reads; never [`Open`](Stdin::Open).
    pub stdin: Stdin,
    /// Its own variables, which the session doesn't keep.
    pub env: Vec<(String, String)>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

impl Foreground {
    /// A command that reads nothing and may take as long as it likes.
    #[must_use]
    pub fn new(command: impl Into<String>, cwd: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            cwd: cwd.into(),
            stdin: Stdin::Null,
            env: Vec::new(),
            timeout: None,
        }
    }
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// The folder that it ended in, without links; none when it could not tell: it was killed, or
    /// replaced its shell by another program.
    pub cwd: Option<String>,
    /// Whether that is another folder than the one that it started in.
    pub has_moved: bool,
    /// Whether the folder that it was to start in could be entered. If not, nothing ran.
    pub is_entered: bool,
    /// Whether what it set is there for later commands.
    pub is_kept: bool,
    /// Whether what earlier commands had set was gone from the machine, so that it began anew.
    pub is_new: bool,
}

/// What became of trying to run a command.
pub(super) enum Once {
    /// It has run.
    Finished(Finished),
    /// It has not, since the file of this state is gone.
    Gone(Slot),
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code; 128 + n when signal n killed it.
    Exited(i32),
    /// It took too long.
    TimedOut,
    /// It was not to go on.
    Interrupted,
    /// Nobody knows: its machine or the way there is gone.
    Lost(String),
}

impl Session {
    /// Runs a command to its end. What it writes goes to `output` as it comes. When `stop` is
    /// ready first, the command and everything that it started are ended; they are as well when
    /// the future is dropped.
    ///
    /// Something that the command leaves running when it ends by itself goes on, and isn't waited
    /// for.
    ///
    /// # Errors
    /// It could not be started.
    pub async fn run(
        &self,
        command: Foreground,
        output: &mut (dyn FnMut(&[u8]) + Send),
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Finished, StartFailure> {
        self.ready().await?;
        let mut stop = std::pin::pin!(stop);
        let finished = match self.once(&command, Dialect::Bash, output, stop.as_mut()).await? {
            Once::Finished(finished) => finished,
            Once::Gone(state) => {
                self.renew(&state).await?;
                match self.once(&command, Dialect::Bash, output, stop).await? {
                    Once::Finished(finished) => Finished { is_new: true, ..finished },
                    Once::Gone(_) => {
                        let message =
                            "the session's files are removed from the machine again and again";
                        return Err(StartFailure::new(message));
                    }
                }
            }
        };
        self.stand_by();
        Ok(finished)
    }

    pub(super) async fn once(
        &self,
        command: &Foreground,
        dialect: Dialect,
        output: &mut (dyn FnMut(&[u8]) + Send),
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Once, StartFailure> {
        let is_new = self.restore()?;
        let (state, next) = {
            let mut slots = self.slots();
            (slots.current(), slots.free())
        };
        let report = self.report(next.number());
        let names = self.names(&command.env);
        let wrapper = Wrapper {
            command: &command.command,
            cwd: &command.cwd,
            state: state.as_ref().map(|slot| self.path(slot.number())),
            is_bare: self.environment.shares_files(),
            names: &names,
            save: Some(Save { state: self.path(next.number()), report: report.clone() }),
        };
        let waiting = match &state {
            Some(state) if self.environment.keeps_standby() && command.stdin == Stdin::Null => {
                match wrapper.continuation(&command.env) {
                    Some(script) => {
                        let (id, path) = (self.next_id(), self.path(state.number()));
                        self.standby.run(&self.environment, id, (state, &path), &script).await
                    }
                    None => None,
                }
            }
            _ => None,
        };
        let running = match waiting {
            Some(running) => running,
            None => {
                let start = Start {
                    dialect,
                    cwd: Some(command.cwd.clone()),
                    env: self.tagged(command.env.clone()),
                    bare: state.is_some(),
                    stdin: command.stdin.clone(),
                    ..Start::new(wrapper.script())
                };
                self.environment.start(start).await?
            }
        };
        let (ended, report, text) = match report {
            Report::File(file) => {
                let ended = follow(running, command.timeout, output, stop).await;
                let (report, text) = self.reported(&file, state.as_ref(), &next).unzip();
                (ended, report, text)
            }
            Report::Marker(marker) => {
                let mut marked = Marked::new(&marker);
                let mut pass = |bytes: &[u8]| marked.push(bytes, output);
                let ended = follow(running, command.timeout, &mut pass, stop).await;
                (ended, marked.end(output), None)
            }
        };
        let mut finished = Finished {
            ended,
            cwd: None,
            has_moved: false,
            is_entered: true,
            is_kept: false,
            is_new,
        };
        let report = report.as_deref().and_then(|report| report.split_at_checked(2));
        match (report, state) {
            (Some((NOT_ENTERED, _)), _) => finished.is_entered = false,
            (Some((GONE, _)), Some(state)) => return Ok(Once::Gone(state)),
            (Some((how, cwd)), _) if how.starts_with([CHANGED, SAME, UNKEPT]) => {
                finished.is_kept = !how.starts_with(UNKEPT);
                if finished.is_kept {
                    self.slots().adopt(next, !how.starts_with(SAME), text);
                }
                finished.has_moved = !how.ends_with(STAYED);
                finished.cwd = cwd.starts_with('/').then(|| cwd.to_owned());
            }
            // None, or not by the wrapper.
            _ => {}
        }
        Ok(Once::Finished(finished))
    }

    /// Has a shell started for the next command.
    fn stand_by(&self) {
        let state = self.slots().current();
        if let Some(state) = state.filter(|_| self.environment.keeps_standby()) {
            let path = self.path(state.number());
            self.standby.prepare(Arc::clone(&self.environment), self.next_id(), state, path);
        }
    }

    /// The report in a file, and the state that it speaks of, if that is whole; whether it is
    /// another one than before is found out here.
    fn reported(&self, file: &str, old: Option<&Slot>, new: &Slot) -> Option<(String, Vec<u8>)> {
        let mut report = std::fs::read_to_string(file).ok()?;
        if report.ends_with('\n') {
            report.pop();
        }
        // For the next command that uses the slot: it may not come to writing its own.
        let _ = std::fs::remove_file(file);
        if report.starts_with(NOT_ENTERED) {
            return Some((report, Vec::new()));
        }
        let read = |slot: &Slot| std::fs::read(self.path(slot.number())).ok();
        let state = read(new)?;
        if !state.trim_ascii_end().ends_with(WHOLE.as_bytes()) {
            return None;
        }
        let is_same = old.and_then(read).is_some_and(|old| old == state);
        let cwd = report.get(1..)?;
        let report = if is_same { format!("{SAME}{cwd}") } else { report };
        Some((report, state))
    }
}

/// Listens to a command until it has ended, and lets what it leaves behind go on.
async fn follow(
    mut running: Running,
    limit: Option<Duration>,
    output: &mut (dyn FnMut(&[u8]) + Send),
    stop: impl Future<Output = ()> + Send,
) -> Ended {
    let mut chunk = vec![0; CHUNK];
    let mut is_open = true;
    let give_up = limit.and_then(|limit| Instant::now().checked_add(limit));
    let late = async {
        match give_up {
            Some(instant) => sleep_until(instant).await,
            None => std::future::pending().await,
        }
    };
    let ended = {
        let handle = &running.handle;
        let reader = &mut running.output;
        let (mut exit, mut late, mut stop) =
            (std::pin::pin!(handle.wait()), std::pin::pin!(late), std::pin::pin!(stop));
        loop {
            tokio::select! {
                exit = &mut exit => break Ok(exit),
                () = &mut late => break Err(Ended::TimedOut),
                () = &mut stop => break Err(Ended::Interrupted),
                read = reader.read(&mut chunk), if is_open => match read {
                    Ok(count @ 1..) => {
                        output(chunk.get(..count).unwrap_or_default());
                        // Looking through it takes a while, and others want to go on too.
                        yield_now().await;
                    }
                    // An error is the end of what can be had.
                    _ => is_open = false,
                },
            }
        }
    };
    let ended = match ended {
        Ok(Exit::Code(code)) => Ended::Exited(code),
        Ok(Exit::Lost(why)) => Ended::Lost(why),
        Err(ended) => {
            let Running { output: reader, handle, .. } = &mut running;
            let mut end = std::pin::pin!(handle.terminate(GRACE));
            loop {
                tokio::select! {
                    () = &mut end => break,
                    read = reader.read(&mut chunk), if is_open => match read {
                        Ok(count @ 1..) => output(chunk.get(..count).unwrap_or_default()),
                        _ => is_open = false,
                    },
                }
            }
            ended
        }
    };
    let give_up = Instant::now() + TALK;
    while is_open && Instant::now() < give_up {
        match timeout(QUIET, running.output.read(&mut chunk)).await {
            Ok(Ok(count @ 1..)) => output(chunk.get(..count).unwrap_or_default()),
            _ => is_open = false,
        }
    }
    if matches!(ended, Ended::Exited(_)) {
        running.handle.release();
    }
    ended
}

//! One process.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hermes_environments::Lease;
use hermes_exec::environment::{Handle, Pid, Size, Writer};
use hermes_exec::program::Stranger;
use hermes_terminal::{Cursor, News, Page, Ring, Watch};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;

use crate::checkpoint::{Routing, Saved};
use crate::screen::Screen;
use crate::spool::Spool;
use crate::state::{Ended, Reason, Source};
#[cfg(target_os = "linux")]
use crate::tagged;

/// How long typing into a process may take. One that reads nothing fills its pipe some day.
const TYPING: Duration = Duration::from_secs(10);

/// How long it may take until the end of one that was killed is told. An engine that is just removing
/// the container may need a while to say so.
const TOLD: Duration = Duration::from_secs(20);

/// The character that is the end of the input when it is typed on an empty line.
const END: u8 = 4;

/// A process that goes on beside a conversation.
pub struct Process {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) cwd: String,
    pub(crate) task: String,
    pub(crate) session_key: String,
    pub(crate) routing: Routing,
    pub(crate) patterns: Vec<String>,
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    pub(crate) pid: Option<Pid>,
    /// The same as one of this machine, told from later ones.
    pub(crate) stranger: Option<Stranger>,
    /// What all that it starts inherits, as a process of this machine.
    pub(crate) tag: Option<Vec<u8>>,
    /// Whether it is one of an earlier run of the program.
    pub(crate) is_detached: bool,
    pub(crate) is_terminal: bool,
    pub(crate) notify: AtomicBool,
    /// Whether whoever would be told of its end knows already.
    pub(crate) is_consumed: AtomicBool,
    pub(crate) grace: Duration,
    pub(crate) handle: Mutex<Option<Arc<dyn Handle>>>,
    /// Keeps its environment.
    pub(crate) lease: Mutex<Option<Lease>>,
    pub(crate) stdin: tokio::sync::Mutex<Option<Writer>>,
    pub(crate) output: Mutex<Output>,
    /// Who is ending it.
    pub(crate) killer: Mutex<Option<Source>>,
    pub(crate) ended: watch::Sender<Option<Ended>>,
}

/// What a process wrote.
pub(crate) struct Output {
    pub(crate) ring: Ring,
    pub(crate) cursor: Cursor,
    pub(crate) watch: Watch,
    pub(crate) screen: Option<Screen>,
    pub(crate) spool: Option<Spool>,
}

/// What became of the wait for an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It has ended.
    Ended(Ended),
    /// Not in time.
    TimedOut,
    /// The wait was given up.
    Interrupted,
}

/// What became of the wish to end a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Killed {
    /// It is ended now.
    Killed(Ended),
    /// It had ended before.
    AlreadyExited(Ended),
    /// It had ended before, and so many processes that it had left running are ended now.
    LeftBehind(Ended, usize),
    /// It can't be ended from here; the text says why.
    Failed(String),
}

/// Why nothing could be typed.
#[derive(Debug)]
pub enum InputError {
    /// The process has ended.
    Ended(Ended),
    /// Its input is closed, or was never there.
    Closed,
    /// It belongs to an earlier run of the program, and so does its input.
    Detached,
    /// It takes no input at the moment; so many bytes were taken.
    Full(usize),
    /// The system refused.
    Io(io::Error),
}

impl Process {
    /// The id: `proc_` and 12 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The command as it was given.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The folder that it was started in.
    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// The task that it belongs to.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// The conversation that it belongs to.
    #[must_use]
    pub fn session_key(&self) -> &str {
        &self.session_key
    }

    /// What it is watched for.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> Option<Pid> {
        self.pid
    }

    /// When it was started.
    #[must_use]
    pub fn started_at(&self) -> SystemTime {
        self.started_at
    }

    /// For how long it has run, or ran.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        match self.ended() {
            Some(ended) => ended.at.saturating_duration_since(self.started),
            None => self.started.elapsed(),
        }
    }

    /// Whether its end is told.
    #[must_use]
    pub fn notifies(&self) -> bool {
        self.notify.load(Ordering::Acquire)
    }

    /// Whether it is one of an earlier run of the program: it can be looked at and ended, and that
    /// is all.
    #[must_use]
    pub fn is_detached(&self) -> bool {
        self.is_detached
    }

    /// Whether it runs on a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// How it ended; none while it runs.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        if self.is_detached
            && self.ended.borrow().is_none()
            && !self.stranger.is_some_and(|it| it.is_alive())
        {
            let mut ended = Ended::new(None, Reason::Exited, Source::Itself);
            ended.note = Some("it ended unseen, so its exit code is unknown".to_owned());
            self.end(ended);
        }
        self.ended.borrow().clone()
    }

    /// The last characters of what it wrote.
    #[must_use]
    pub fn preview(&self, chars: usize) -> String {
        self.output().ring.preview(chars)
    }

    /// The last characters of what it wrote, with what `mask` hides in it. That sees some of what
    /// comes before too: the end of a secret doesn't look like one.
    #[must_use]
    pub fn masked_preview(&self, chars: usize, mask: impl FnOnce(&str) -> String) -> String {
        let text = self.output().ring.preview(chars.saturating_add(hermes_terminal::CONTEXT));
        let mut text = mask(&text);
        let surplus = text.chars().count().saturating_sub(chars);
        text.drain(..text.char_indices().nth(surplus).map_or(text.len(), |(at, _)| at));
        text
    }

    /// How many characters it wrote.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.output().ring.total_chars()
    }

    /// What it wrote since this was called last.
    #[must_use]
    pub fn new_output(&self) -> News {
        let mut output = self.output();
        let Output { ring, cursor, .. } = &mut *output;
        ring.read_new(cursor)
    }

    /// Lines of what it wrote: the last `limit` ones without an offset, from the line `offset` on,
    /// or from so many lines before the end.
    #[must_use]
    pub fn page(&self, offset: Option<i64>, limit: usize) -> Page {
        self.output().ring.page(offset, limit)
    }

    /// The file with all that it wrote, if there is one.
    #[must_use]
    pub fn log(&self) -> Option<std::path::PathBuf> {
        self.output().spool.as_ref().map(|spool| spool.path().to_owned())
    }

    /// The screen of its terminal, and where the cursor is. None without a terminal.
    #[must_use]
    pub fn screen(&self) -> Option<(String, (u16, u16), bool)> {
        let output = self.output();
        output.screen.as_ref().map(|it| (it.text(), it.cursor(), it.is_full()))
    }

    /// How often a pattern was found.
    #[must_use]
    pub fn watch_hits(&self) -> u64 {
        self.output().watch.hits()
    }

    /// Waits for its end, for so long or until `stop`. Whoever sees it so need not be told.
    pub async fn wait(&self, limit: Duration, stop: impl Future<Output = ()>) -> Waited {
        let mut ended = self.ended.subscribe();
        let ending = async {
            loop {
                // One of an earlier run says nothing when it ends.
                if let Some(ended) = self.ended() {
                    return ended;
                }
                let look = Duration::from_secs(if self.is_detached { 1 } else { 3600 });
                let _ = tokio::time::timeout(look, ended.changed()).await;
            }
        };
        let waited = tokio::select! {
            biased;
            ended = ending => Waited::Ended(ended),
            () = stop => Waited::Interrupted,
            () = tokio::time::sleep(limit) => Waited::TimedOut,
        };
        if matches!(waited, Waited::Ended(_)) {
            self.consume();
        }
        waited
    }

    /// Notes that its end need not be told any more.
    pub fn consume(&self) {
        self.is_consumed.store(true, Ordering::Release);
    }

    /// Ends it and everything that it started, also what it left running when it ended itself.
    pub async fn kill(self: &Arc<Self>, source: Source) -> Killed {
        if let Some(ended) = self.ended() {
            return match Self::end_leftovers_of(std::slice::from_ref(self), self.grace).await {
                0 => Killed::AlreadyExited(ended),
                count => Killed::LeftBehind(ended, count),
            };
        }
        lock(&self.killer).get_or_insert(source);
        if self.is_detached {
            return self.kill_stranger(source).await;
        }
        let handle = lock(&self.handle).clone();
        let mut ended = self.ended.subscribe();
        if let Some(handle) = handle {
            handle.terminate(self.grace).await;
        }
        // Its end is told by whoever listens to it, once all of its output is there.
        let told = tokio::time::timeout(TOLD, ended.wait_for(Option::is_some)).await;
        let told = told.ok().and_then(|it| it.ok().and_then(|it| it.clone()));
        match told {
            Some(ended) if ended.reason == Reason::Killed => Killed::Killed(ended),
            Some(ended) => Killed::AlreadyExited(ended),
            None => Killed::Failed("it doesn't end although it was killed".to_owned()),
        }
    }

    /// How many processes it left running on this machine when it ended.
    pub async fn leftovers(&self) -> usize {
        #[cfg(target_os = "linux")]
        if let Some(tag) = self.tag.clone().filter(|_| self.ended().is_some()) {
            return tagged::all().await.iter().filter(|it| it.tag == tag).count();
        }
        0
    }

    /// Ends what processes left running on this machine; how many processes those were.
    pub(crate) async fn end_leftovers_of(ended: &[Arc<Self>], grace: Duration) -> usize {
        #[cfg(target_os = "linux")]
        {
            let tags: Vec<_> = ended.iter().filter_map(|it| it.tag.as_deref()).collect();
            if !tags.is_empty() {
                let all = tagged::all().await;
                return tagged::end(all.iter().filter(|it| tags.contains(&&*it.tag)), grace).await;
            }
        }
        0
    }

    async fn kill_stranger(&self, source: Source) -> Killed {
        let Some(stranger) = self.stranger else {
            return Killed::Failed("its number on this machine isn't known".to_owned());
        };
        stranger.terminate(self.grace).await;
        if stranger.is_alive() {
            return Killed::Failed("it doesn't end although it was killed".to_owned());
        }
        let ended = Ended::new(Some(KILLED), Reason::Killed, source);
        self.end(ended.clone());
        Killed::Killed(ended)
    }

    /// Types bytes. Returns how many.
    ///
    /// # Errors
    /// Nothing, or not all, could be typed.
    pub async fn write(&self, bytes: &[u8]) -> Result<usize, InputError> {
        let mut stdin = self.stdin.lock().await;
        let writer = self.writer(&mut stdin)?;
        let mut written = 0;
        let typing = async {
            while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
                match writer.write(rest).await? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    count => written += count,
                }
            }
            writer.flush().await
        };
        match tokio::time::timeout(TYPING, typing).await {
            Ok(Ok(())) => Ok(bytes.len()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                *stdin = None;
                Err(self.ended().map_or(InputError::Closed, InputError::Ended))
            }
            Ok(Err(error)) => Err(InputError::Io(error)),
            Err(_) => Err(InputError::Full(written)),
        }
    }

    /// Ends its input.
    ///
    /// # Errors
    /// It has none any more.
    pub async fn close_input(&self) -> Result<(), InputError> {
        if self.is_terminal {
            return self.write(&[END]).await.map(|_| ());
        }
        let mut stdin = self.stdin.lock().await;
        let writer = self.writer(&mut stdin)?;
        // An error means that the other side is closed already.
        let _ = tokio::time::timeout(TYPING, writer.shutdown()).await;
        *stdin = None;
        Ok(())
    }

    fn writer<'w>(&self, stdin: &'w mut Option<Writer>) -> Result<&'w mut Writer, InputError> {
        if let Some(ended) = self.ended() {
            return Err(InputError::Ended(ended));
        }
        let closed = if self.is_detached { InputError::Detached } else { InputError::Closed };
        stdin.as_mut().ok_or(closed)
    }

    /// Makes its terminal another size.
    ///
    /// # Errors
    /// It has none, or it is gone.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let handle = lock(&self.handle).clone();
        let handle = handle.ok_or_else(|| io::Error::other("the process has ended"))?;
        handle.resize(size)?;
        if let Some(screen) = &mut self.output().screen {
            screen.resize(size);
        }
        Ok(())
    }

    /// Goes over to the other state; whether this was the first to say so.
    pub(crate) fn end(&self, ended: Ended) -> bool {
        let is_first = self.ended.send_if_modified(|state| {
            let is_first = state.is_none();
            if is_first {
                *state = Some(ended);
            }
            is_first
        });
        if is_first {
            *lock(&self.lease) = None;
        }
        is_first
    }

    pub(crate) fn output(&self) -> MutexGuard<'_, Output> {
        lock(&self.output)
    }

    /// How it is remembered for the next run of the program.
    pub(crate) fn saved(&self, mask: &dyn Fn(&str) -> Cow<'_, str>) -> Saved {
        let since = self.started_at.duration_since(SystemTime::UNIX_EPOCH);
        Saved {
            session_id: self.id.clone(),
            command: mask(&self.command).into_owned(),
            pid: self.pid.map_or(0, Pid::number),
            pid_scope: match self.pid {
                Some(Pid::Host(_)) => "host".to_owned(),
                _ => "sandbox".to_owned(),
            },
            host_start_time: self.stranger.map(|it| it.started()),
            cwd: self.cwd.clone(),
            started_at: since.unwrap_or_default().as_secs_f64(),
            task_id: self.task.clone(),
            session_key: self.session_key.clone(),
            routing: self.routing.clone(),
            notify_on_complete: self.notifies(),
            watch_patterns: self.patterns.clone(),
            ..Saved::default()
        }
    }
}

/// The exit code of what was killed by request.
pub(crate) const KILLED: i32 = -15;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process")
            .field("id", &self.id)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

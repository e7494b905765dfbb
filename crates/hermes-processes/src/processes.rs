//! The processes of a program, by id.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hermes_environments::Lease;
use hermes_exec::environment::{Handle, Pid, Running, Size};
use hermes_exec::program::Stranger;
use hermes_task::Tracked;
use hermes_terminal::{Breaker, Cursor, DEFAULT_RING, Ring, Watch};
use tokio::sync::watch;

use crate::checkpoint::{Checkpoint, Routing};
use crate::events::{Event, Queue, Recipient};
use crate::job::{Killed, Output, Process, lock};
use crate::pump::pump;
use crate::recovered;
use crate::screen::Screen;
use crate::spool::{self, Spool};
use crate::state::Source;

/// Most processes that are known, of which those that ended longest ago go first.
const MOST: usize = 64;

/// How long a process that has ended is known.
const KEPT: Duration = Duration::from_secs(30 * 60);

/// Masks the secrets in what a command wrote: the command, and the text.
pub type Mask = dyn Fn(&str, &str) -> String + Send + Sync;

/// What processes are set up with.
pub struct Options {
    /// The home folder, for the list of running processes and their output. Without one nothing is
    /// kept on disk.
    pub home: Option<PathBuf>,
    /// How long those who are told to end may take before they are killed; zero for no time.
    pub grace: Duration,
    /// Masks secrets.
    pub mask: Arc<Mask>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            home: None,
            grace: Duration::from_secs(2),
            mask: Arc::new(|_, text| text.to_owned()),
        }
    }
}

/// A command that was started, and whose it is.
pub struct Spawn {
    /// It, running.
    pub running: Running,
    /// The use of its environment.
    pub lease: Option<Lease>,
    /// The command.
    pub command: String,
    /// Where it was started.
    pub cwd: String,
    /// The task that it belongs to.
    pub task: String,
    /// The conversation that it belongs to.
    pub session_key: String,
    /// Where news of it go.
    pub routing: Routing,
    /// The size of its terminal, if it has one.
    pub terminal: Option<Size>,
    /// Whether its end is to be told.
    pub notify: bool,
    /// What is to be looked for in its output.
    pub patterns: Vec<String>,
}

/// The processes of a program.
pub struct Processes {
    shared: Arc<Shared>,
    pumps: Mutex<BTreeMap<String, Tracked<()>>>,
}

/// What the processes share.
pub(crate) struct Shared {
    pub(crate) known: Mutex<BTreeMap<String, Arc<Process>>>,
    pub(crate) events: Queue,
    pub(crate) breaker: Mutex<Breaker>,
    pub(crate) mask: Arc<Mask>,
    checkpoint: Option<Checkpoint>,
    list: List,
    #[cfg(target_os = "linux")]
    home: Option<PathBuf>,
    folder: Option<PathBuf>,
    grace: Duration,
    begin: Instant,
}

/// How far the list of running processes is written.
#[derive(Default)]
struct List {
    /// How often it was to be written.
    wanted: AtomicU64,
    /// How many of these times are done with.
    written: watch::Sender<u64>,
    /// Whether somebody writes it.
    is_busy: AtomicBool,
    writer: Mutex<Option<Tracked<()>>>,
}

impl Processes {
    /// No processes yet.
    #[must_use]
    pub fn new(options: Options) -> Arc<Self> {
        let shared = Shared {
            known: Mutex::default(),
            events: Queue::default(),
            breaker: Mutex::default(),
            mask: options.mask,
            checkpoint: options.home.as_deref().map(Checkpoint::of),
            list: List::default(),
            folder: options.home.as_deref().map(|home| home.join("processes")),
            #[cfg(target_os = "linux")]
            home: options.home,
            grace: options.grace,
            begin: Instant::now(),
        };
        Arc::new(Self { shared: Arc::new(shared), pumps: Mutex::default() })
    }

    /// Finds the processes of this machine that earlier runs of the program left running. Output
    /// of others that is a day old is removed.
    ///
    /// Returns those that somebody looks after regularly, for whoever does so.
    pub fn recover(&self) -> Vec<Arc<Process>> {
        let Some(checkpoint) = &self.shared.checkpoint else { return Vec::new() };
        // A list that can't be read or written costs no more than itself.
        let saved = checkpoint.adopt().unwrap_or_default();
        let folder = self.shared.folder.as_deref();
        if let Some(folder) = folder {
            spool::remove_old(folder);
        }
        let mut watched = Vec::new();
        for saved in saved {
            let Some(process) = recovered::process(saved, folder, self.shared.grace) else {
                continue;
            };
            let process = Arc::new(process);
            if process.routing.interval > 0 {
                watched.push(Arc::clone(&process));
            }
            lock(&self.shared.known).insert(process.id.clone(), process);
        }
        self.shared.write();
        watched
    }

    /// The home folder, if there is one.
    #[cfg(target_os = "linux")]
    pub(crate) fn home(&self) -> Option<&std::path::Path> {
        self.shared.home.as_deref()
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn grace(&self) -> Duration {
        self.shared.grace
    }

    /// The processes of this machine on the list, whoever looks after them.
    #[cfg(target_os = "linux")]
    pub(crate) fn recorded(&self) -> Vec<Stranger> {
        self.shared.checkpoint.as_ref().map(Checkpoint::strangers).unwrap_or_default()
    }

    /// Takes a command over. Returns when it is on the list by which a later run of the program finds
    /// it.
    pub async fn take(&self, spawn: Spawn) -> Arc<Process> {
        let Spawn { running, terminal, .. } = spawn;
        let Running { output, stdin, handle, .. } = running;
        let handle: Arc<dyn Handle> = Arc::from(handle);
        let id = new_id();
        let pid = handle.pid();
        let spool = self.shared.folder.as_deref().and_then(|it| Spool::create(it, &id).ok());
        let process = Arc::new(Process {
            command: spawn.command,
            cwd: spawn.cwd,
            task: spawn.task,
            session_key: spawn.session_key,
            routing: spawn.routing,
            started: Instant::now(),
            started_at: SystemTime::now(),
            stranger: match pid {
                Some(Pid::Host(number)) => Stranger::now(number),
                _ => None,
            },
            tag: handle.tag().map(<[u8]>::to_vec),
            pid,
            is_detached: false,
            is_terminal: terminal.is_some(),
            notify: AtomicBool::new(spawn.notify),
            is_consumed: AtomicBool::new(false),
            grace: self.shared.grace,
            handle: Mutex::new(Some(Arc::clone(&handle))),
            lease: Mutex::new(spawn.lease),
            stdin: tokio::sync::Mutex::new(stdin),
            output: Mutex::new(Output {
                ring: Ring::new(DEFAULT_RING),
                cursor: Cursor::default(),
                watch: Watch::new(&spawn.patterns),
                screen: terminal.map(Screen::new),
                spool,
            }),
            patterns: spawn.patterns,
            killer: Mutex::default(),
            ended: watch::Sender::new(None),
            id: id.clone(),
        });
        self.shared.evict();
        lock(&self.shared.known).insert(id.clone(), Arc::clone(&process));
        let pump = pump(Arc::clone(&self.shared), Arc::clone(&process), handle, output);
        {
            let mut pumps = lock(&self.pumps);
            let known = lock(&self.shared.known);
            pumps.retain(|id, _| known.contains_key(id));
            pumps.insert(id, hermes_task::spawn(pump));
        }
        self.shared.save().await;
        process
    }

    /// A process by its id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Arc<Process>> {
        self.shared.evict();
        lock(&self.shared.known).get(id).cloned()
    }

    /// All of them, the oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Process>> {
        self.shared.evict();
        let mut all: Vec<_> = lock(&self.shared.known).values().cloned().collect();
        all.sort_by_key(|process| process.started);
        all
    }

    /// Takes the events of a recipient.
    #[must_use]
    pub fn drain(&self, recipient: Recipient<'_>) -> Vec<Event> {
        self.shared.events.drain(recipient)
    }

    /// Notes that the end of a process need not be told any more.
    pub fn consume(&self, process: &Process) {
        process.consume();
        self.shared.events.consume_completion(process.id());
        if process.is_detached() {
            // Nobody listens to its end, which would take it off the list.
            drop(self.shared.save());
        }
    }

    /// Ends all running processes of a task, or all there are, and what those that have ended left
    /// running on this machine. Returns how many of the processes ran.
    pub async fn kill_all(&self, task: Option<&str>) -> usize {
        let all = self.all().into_iter();
        let theirs = all.filter(|it| task.is_none_or(|task| it.task == task) && !it.is_detached);
        let (ended, running): (Vec<_>, Vec<_>) = theirs.partition(|it| it.ended().is_some());
        let killing: Vec<_> = running
            .into_iter()
            .map(|it| hermes_task::spawn(async move { it.kill(Source::KillAll).await }))
            .collect();
        let mut count = 0;
        for killing in killing {
            count += usize::from(matches!(killing.await, Ok(Killed::Killed(_))));
        }
        Process::end_leftovers_of(&ended, self.shared.grace).await;
        self.shared.save().await;
        count
    }

    /// Whether a process of a task runs that is younger than `age`: one that is older doesn't keep
    /// a conversation from being begun anew.
    #[must_use]
    pub fn is_busy(&self, task: &str, age: Duration) -> bool {
        self.all().iter().any(|it| it.task == task && it.ended().is_none() && it.uptime() < age)
    }
}

impl Shared {
    /// The time that patterns are counted by.
    pub(crate) fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Has the list of running processes written, whether the returned future is waited for or not;
    /// it is ready when a list is written that was made after this call. One thread writes at a
    /// time, and what changes meanwhile is written together.
    ///
    /// Must be called within a runtime.
    pub(crate) fn save(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let mut written = self.list.written.subscribe();
        let wanted = self.list.wanted.fetch_add(1, Ordering::AcqRel) + 1;
        if self.checkpoint.is_some() && !self.list.is_busy.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(self);
            let writer = hermes_task::spawn_blocking(move || shared.write_wanted());
            // Not dropped, which might keep it from beginning. The one before is at its end.
            *lock(&self.list.writer) = Some(writer);
        }
        let has_list = self.checkpoint.is_some();
        async move {
            if has_list {
                // The sender lives as long as the one who writes.
                let _ = written.wait_for(|written| *written >= wanted).await;
            }
        }
    }

    fn write_wanted(&self) {
        loop {
            let wanted = self.list.wanted.load(Ordering::Acquire);
            self.write();
            self.list.written.send_replace(wanted);
            self.list.is_busy.store(false, Ordering::Release);
            // Who wanted it a moment ago saw that somebody was at it.
            if self.list.wanted.load(Ordering::Acquire) == wanted
                || self.list.is_busy.swap(true, Ordering::AcqRel)
            {
                return;
            }
        }
    }

    /// Writes the list of running processes. One that can't be written costs no more than the
    /// recovery.
    fn write(&self) {
        let Some(checkpoint) = &self.checkpoint else { return };
        let all: Vec<_> = lock(&self.known).values().cloned().collect();
        let mask = |command: &str| -> Cow<'_, str> { (self.mask)(command, command).into() };
        let running = all.iter().filter(|it| it.ended.borrow().is_none());
        let _ = checkpoint
            .save(running.map(|it| it.saved(&|text| mask(text).into_owned().into())).collect());
    }

    /// Forgets those that ended long ago, and the ones that ended first when there are too many.
    fn evict(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended: Vec<(Instant, String)> = known
            .values()
            .filter_map(|it| it.ended.borrow().as_ref().map(|ended| (ended.at, it.id.clone())))
            .collect();
        ended.sort();
        let too_many = (known.len() + 1).saturating_sub(MOST);
        for (place, (at, id)) in ended.into_iter().enumerate() {
            if place < too_many || at.elapsed() >= KEPT {
                known.remove(&id);
                if let Some(folder) = &self.folder {
                    let _ = std::fs::remove_file(spool::path(folder, &id));
                }
            }
        }
    }
}

fn new_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let number = RandomState::new().hash_one(Instant::now()) & 0xffff_ffff_ffff;
    format!("proc_{number:012x}")
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processes")
            .field("known", &lock(&self.shared.known).len())
            .finish_non_exhaustive()
    }
}

//! One running server: its process, its two threads, and what is said to it.
//!
//! One thread writes what others put into a queue, and ends the process; the other reads. Nobody
//! else ever waits for the process.

use std::collections::HashSet;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_exec::program::{Companion, Pipes, Program};
use serde_json::Value;

use crate::config::LspConfig;
use crate::conversation::{Conversation, Document, Phase};
use crate::file::{self, Content};
use crate::place::Candidate;
use crate::protocol::{self, FileChange};
use crate::wire;

/// How many bytes may wait for a server to read them.
const MAX_QUEUED: usize = 32 * 1024 * 1024;

/// How many files are open in a server.
const MAX_OPEN: usize = 32;

/// How long a server may take to answer that it is told to end, and again to end.
const FAREWELL: Duration = Duration::from_millis(1000);

/// The shortest time between two looks at whether a server is idle.
const LOOK: Duration = Duration::from_millis(20);

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    root: PathBuf,
    shared: Arc<Shared>,
    outbox: Sender<Outgoing>,
    companion: Arc<Companion>,
    /// Files that were about to be written and were not there.
    expected: Mutex<HashSet<PathBuf>>,
}

/// What the threads of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    conversation: Mutex<Conversation>,
    pub(crate) changed: Condvar,
    queued: AtomicUsize,
}

/// What the writing thread is given.
#[derive(Debug)]
enum Outgoing {
    Message(Vec<u8>),
    /// Tell the server to end.
    Close,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for news until `end`, or until `done` is true.
    fn wait_until(&self, end: Instant, done: impl Fn(&Conversation) -> bool) -> bool {
        let mut talk = self.lock();
        loop {
            if done(&talk) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            talk = self
                .changed
                .wait_timeout(talk, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(talk, _)| talk);
        }
    }

    /// The server is not to be spoken to any more, nor started again.
    fn fail(&self, why: String) {
        let mut talk = self.lock();
        if talk.is_open() {
            tracing::info!("a language server is given up: {why}");
            talk.fault = Some(why);
            talk.phase = Phase::Over;
        }
        drop(talk);
        self.changed.notify_all();
    }
}

impl Server {
    /// Starts the program; what it is told waits until it is ready.
    pub(crate) fn start(candidate: &Candidate, config: &LspConfig) -> Result<Self, String> {
        let said = config.server(candidate.known.id);
        let mut options = (candidate.known.options)(&candidate.root);
        protocol::merge(&mut options, &said.initialization_options);
        let env = config.env.iter().chain(&said.env);
        let program = Program::new(candidate.argv.iter().cloned())
            .cwd(&candidate.root)
            .env(env.map(|(name, value)| (name.clone(), value.clone())));
        let (companion, pipes) = program.companion().map_err(|error| error.to_string())?;
        let Pipes { stdin, stdout } = pipes;
        let companion = Arc::new(companion);
        let hello = wire::frame(&protocol::initialize(&candidate.root, &options));
        let is_loading = candidate.known.reports_status;
        let shared = Arc::new(Shared {
            conversation: Mutex::new(Conversation::new(&candidate.root, options, is_loading)),
            changed: Condvar::new(),
            queued: AtomicUsize::new(0),
        });
        let (outbox, inbox) = channel();
        let keeper = Keeper {
            shared: Arc::clone(&shared),
            companion: Arc::clone(&companion),
            inbox,
            start_limit: config.start_timeout,
            idle_limit: config.idle_timeout,
        };
        let listener = Listener {
            shared: Arc::clone(&shared),
            companion: Arc::clone(&companion),
            outbox: outbox.clone(),
        };
        // Without either thread the process ends with the last of what was started.
        let thread = |name: &str| std::thread::Builder::new().name(format!("lsp-{name}"));
        let started = thread("in")
            .spawn(move || listener.listen(stdout))
            .and_then(|_| thread("out").spawn(move || keeper.keep(stdin, &hello)));
        if let Err(error) = started {
            companion.kill();
            return Err(error.to_string());
        }
        Ok(Self {
            root: candidate.root.clone(),
            shared,
            outbox,
            companion,
            expected: Mutex::default(),
        })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it may be spoken to, as it will be now.
    pub(crate) fn claim(&self) -> bool {
        let mut talk = self.shared.lock();
        talk.used = Instant::now();
        talk.is_open()
    }

    /// Why it must not be started again, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        self.shared.lock().fault.clone()
    }

    /// When it was last needed.
    pub(crate) fn used(&self) -> Instant {
        self.shared.lock().used
    }

    /// Gives it up for good.
    pub(crate) fn fail(&self, why: &str) {
        self.shared.fail(why.to_owned());
        self.companion.kill();
    }

    /// Tells it to end. Doesn't wait.
    pub(crate) fn close(&self) {
        let mut talk = self.shared.lock();
        if talk.is_open() {
            talk.phase = Phase::Closing;
        }
        drop(talk);
        // Nobody receives if it has ended already.
        let _ = self.outbox.send(Outgoing::Close);
        self.shared.changed.notify_all();
    }

    /// Waits for its end until `end`, and kills it then.
    pub(crate) fn see_off(&self, end: Instant) {
        if !self.shared.wait_until(end, |talk| talk.is_collected) {
            self.companion.kill();
            self.shared.wait_until(Instant::now() + FAREWELL, |talk| talk.is_collected);
        }
    }

    /// Says something. `talk` is the lock that keeps messages in order.
    pub(crate) fn say(&self, talk: &mut Conversation, message: &Value) {
        let frame = wire::frame(message);
        let length = frame.len();
        if self.shared.queued.fetch_add(length, Ordering::Relaxed) + length > MAX_QUEUED {
            tracing::info!("a language server is given up: it doesn't read");
            talk.fault = Some("it doesn't read".to_owned());
            talk.phase = Phase::Over;
            self.companion.kill();
            return;
        }
        talk.speak();
        // Nobody receives if it has ended; whoever waits for an answer sees that.
        let _ = self.outbox.send(Outgoing::Message(frame));
    }

    /// Shows it the text of a file that is about to be written, or was just saved.
    pub(crate) fn show(&self, path: &Path, language: &str, text: &str, is_saved: bool) {
        let stamp = file::stamp(path);
        let mut talk = self.shared.lock();
        let now = Instant::now();
        talk.used = now;
        let version = match talk.documents.get_mut(path) {
            Some(document) if *document.text == *text => {
                document.stamp = stamp;
                None
            }
            Some(document) => {
                document.version += 1;
                document.text = text.into();
                document.stamp = stamp;
                document.published = None;
                document.shown = now;
                Some(document.version)
            }
            None => {
                self.make_room(&mut talk);
                let document =
                    Document { version: 1, text: text.into(), stamp, published: None, shown: now };
                talk.documents.insert(path.to_owned(), document);
                self.say(&mut talk, &protocol::open(path, language, 1, text));
                None
            }
        };
        if let Some(version) = version {
            self.say(&mut talk, &protocol::change(path, version, text));
        }
        if is_saved {
            let text = talk.wants_saved_text.then_some(text);
            self.say(&mut talk, &protocol::save(path, text));
        }
    }

    /// Closes the file that was shown longest ago if too many are open.
    fn make_room(&self, talk: &mut Conversation) {
        if talk.documents.len() < MAX_OPEN {
            return;
        }
        let oldest = talk.documents.iter().min_by_key(|(_, document)| document.shown);
        if let Some(path) = oldest.map(|(path, _)| path.clone()) {
            talk.documents.remove(&path);
            self.say(talk, &protocol::close(&path));
        }
    }

    /// A file that isn't there is about to be written.
    pub(crate) fn expect(&self, path: &Path) {
        self.expected().insert(path.to_owned());
    }

    fn expected(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells it what others did to the files it knows: a patch changes several, and so do commands.
    /// What is wrong with one file often depends on another.
    pub(crate) fn catch_up(&self, except: &Path, language: impl Fn(&Path) -> Option<&'static str>) {
        let mut come: Vec<PathBuf> = Vec::new();
        self.expected().retain(|path| {
            let is_there = path.exists();
            if is_there {
                come.push(path.clone());
            }
            !is_there
        });
        let known: Vec<_> = {
            let mut talk = self.shared.lock();
            for path in &come {
                self.say(&mut talk, &protocol::watched(path, FileChange::Created));
            }
            let others = talk.documents.iter().filter(|(path, _)| *path != except);
            others.map(|(path, document)| (path.clone(), document.stamp)).collect()
        };
        for (path, stamp) in known {
            if file::stamp(&path) == stamp {
                continue;
            }
            match (file::read(&path), language(&path)) {
                (Content::Text(text), Some(language)) => self.show(&path, language, &text, true),
                (content, _) => {
                    let mut talk = self.shared.lock();
                    talk.documents.remove(&path);
                    self.say(&mut talk, &protocol::close(&path));
                    if matches!(content, Content::Missing) {
                        self.say(&mut talk, &protocol::watched(&path, FileChange::Deleted));
                    }
                }
            }
        }
    }
}

/// The thread that writes.
struct Keeper {
    shared: Arc<Shared>,
    companion: Arc<Companion>,
    inbox: Receiver<Outgoing>,
    start_limit: Duration,
    idle_limit: Duration,
}

impl Keeper {
    fn keep(self, mut stdin: ChildStdin, hello: &[u8]) {
        if self.begin(&mut stdin, hello) && self.pass_on(&mut stdin) {
            self.say_farewell(&mut stdin);
        }
        drop(stdin);
        self.companion.kill();
        self.companion.wait(FAREWELL);
        let mut talk = self.shared.lock();
        talk.phase = Phase::Over;
        talk.is_collected = true;
        talk.documents.clear();
        drop(talk);
        self.shared.changed.notify_all();
    }

    /// Starts the conversation. Whether it goes on.
    fn begin(&self, stdin: &mut ChildStdin, hello: &[u8]) -> bool {
        let limit = Instant::now() + self.start_limit;
        let started = stdin.write_all(hello).is_ok()
            && self.shared.wait_until(limit, |talk| talk.phase != Phase::Starting);
        if !started {
            self.shared.fail("it doesn't answer at the start".to_owned());
        }
        let phase = self.shared.lock().phase;
        let initialized = protocol::notification("initialized", serde_json::json!({}));
        match phase {
            Phase::Ready => stdin.write_all(&wire::frame(&initialized)).is_ok(),
            // It may be told to end before it has begun.
            Phase::Closing => true,
            Phase::Starting | Phase::Over => false,
        }
    }

    /// Writes what there is to write. Whether the end of it is one in peace.
    fn pass_on(&self, stdin: &mut ChildStdin) -> bool {
        loop {
            let idle = self.shared.lock().used.elapsed();
            let left = self.idle_limit.saturating_sub(idle).max(LOOK);
            match self.inbox.recv_timeout(left) {
                Ok(Outgoing::Message(frame)) => {
                    self.shared.queued.fetch_sub(frame.len(), Ordering::Relaxed);
                    if stdin.write_all(&frame).and_then(|()| stdin.flush()).is_err() {
                        self.shared.fail("it closed its input".to_owned());
                        return false;
                    }
                }
                Ok(Outgoing::Close) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let mut talk = self.shared.lock();
                    if talk.is_open() && talk.is_idle(self.idle_limit) {
                        talk.phase = Phase::Closing;
                    }
                }
            }
            match self.shared.lock().phase {
                Phase::Closing => break,
                Phase::Over => return false,
                Phase::Starting | Phase::Ready => {}
            }
        }
        let mut talk = self.shared.lock();
        if talk.is_open() {
            talk.phase = Phase::Closing;
        }
        talk.phase == Phase::Closing
    }

    fn say_farewell(&self, stdin: &mut ChildStdin) {
        let id = self.shared.lock().ask();
        let shutdown = wire::frame(&protocol::request(id, "shutdown", Value::Null));
        if stdin.write_all(&shutdown).is_err() {
            return;
        }
        self.shared.wait_until(Instant::now() + FAREWELL, |talk| {
            talk.is_answered(id) || talk.phase == Phase::Over
        });
        let exit = wire::frame(&protocol::notification("exit", Value::Null));
        if stdin.write_all(&exit).is_ok() {
            self.companion.wait(FAREWELL);
        }
    }
}

/// The thread that reads.
struct Listener {
    shared: Arc<Shared>,
    companion: Arc<Companion>,
    outbox: Sender<Outgoing>,
}

impl Listener {
    fn listen(self, stdout: ChildStdout) {
        let mut stream = BufReader::with_capacity(64 * 1024, stdout);
        let fault = loop {
            let (message, size) = match wire::read(&mut stream) {
                Ok(Some(message)) => message,
                Ok(None) => break "it ended".to_owned(),
                Err(fault) => break fault.to_string(),
            };
            let heard = self.shared.lock().hear(message, size);
            match heard {
                Ok(None) => {}
                Ok(Some(reply)) => {
                    let frame = wire::frame(&reply);
                    let length = frame.len();
                    if self.shared.queued.fetch_add(length, Ordering::Relaxed) > MAX_QUEUED {
                        break "it doesn't read".to_owned();
                    }
                    // Nobody receives if it is being ended.
                    let _ = self.outbox.send(Outgoing::Message(frame));
                }
                Err(fault) => break fault,
            }
            self.shared.changed.notify_all();
        };
        {
            let mut talk = self.shared.lock();
            if talk.phase == Phase::Closing {
                talk.phase = Phase::Over;
            }
        }
        self.shared.fail(fault);
        self.companion.kill();
        // Wakes the writing thread, if it is still there.
        let _ = self.outbox.send(Outgoing::Close);
    }
}

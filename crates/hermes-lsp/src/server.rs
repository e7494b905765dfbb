//! One running server: what is said to it, and which files it is shown.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hermes_exec::program::{Companion, Pipes, Program};
use serde_json::Value;

use crate::config::LspConfig;
use crate::conversation::{Conversation, Document, Phase};
use crate::file::{self, Content};
use crate::place::Candidate;
use crate::protocol::{self, FileChange};
use crate::threads::{FAREWELL, Keeper, Listener, MAX_QUEUED, Outgoing, Shared};
use crate::wire;

/// How many files are open in a server.
const MAX_OPEN: usize = 32;

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

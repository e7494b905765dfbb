//! Files of this machine on a machine that doesn't share them: credentials, skills and caches are
//! there before a command, and what changed there comes back at the end.

mod back;
mod push;
mod script;
mod talk;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_exec::environment::{
    BoxFuture, Close, Environment, Running, Start, StartFailure, Stdin,
};
use hermes_exec_policy::files::{Sources, SyncState};
use tokio::sync::{Mutex, OnceCell};

use self::talk::Trouble;

/// How long all of bringing files back may take: after that the machine is given up as it is.
pub(crate) const BACK: Duration = Duration::from_secs(90);

/// How long asking for the home folder may take.
const ASK: Duration = Duration::from_secs(30);

/// Most different problems that are remembered as told.
const TOLD: usize = 200;

/// An environment on another machine, with the files of this one that its commands need.
///
/// Before a command, but at most each 5 seconds, the files that changed are sent to
/// `.hermes` in the home folder there and those that have gone are deleted. It counts as done only
/// when all of it is; what failed is tried again with the next command, which runs all the same.
/// When the environment is closed, files that its commands changed or made below `skills` and
/// `cache` come back.
///
/// Everything else is the environment's own.
pub struct Synced {
    inner: Arc<dyn Environment>,
    sources: Arc<dyn Fn() -> Sources + Send + Sync>,
    always: bool,
    /// Names our own files among those of others who send to the same machine.
    token: String,
    base: OnceCell<String>,
    progress: Arc<Mutex<Progress>>,
    pauses: Vec<Duration>,
}

/// What was sent, and what was said.
#[derive(Default)]
struct Progress {
    state: SyncState,
    /// When the last attempt began.
    attempt: Option<Instant>,
    told: BTreeSet<String>,
}

impl Progress {
    /// Says what is wrong, once.
    fn tell(&mut self, problem: &str) {
        if self.told.len() < TOLD && self.told.insert(problem.to_owned()) {
            tracing::warn!("files and the sandbox: {problem}");
        }
    }
}

impl Synced {
    /// An environment with the files that `sources` names whenever it is asked.
    #[must_use]
    pub fn new(
        inner: Arc<dyn Environment>,
        sources: impl Fn() -> Sources + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner,
            sources: Arc::new(sources),
            always: false,
            token: token(),
            base: OnceCell::new(),
            progress: Arc::default(),
            pauses: hermes_exec_policy::files::SYNC_BACK_PAUSES.to_vec(),
        }
    }

    /// Looks for changes before each command, however short ago it did.
    #[must_use]
    pub fn always(mut self, always: bool) -> Self {
        self.always = always;
        self
    }

    /// With these pauses before bringing files back is tried again.
    #[must_use]
    pub fn with_pauses(mut self, pauses: impl IntoIterator<Item = Duration>) -> Self {
        self.pauses = pauses.into_iter().collect();
        self
    }

    /// The folder for files of this program there.
    ///
    /// # Errors
    /// The machine doesn't tell its home folder.
    async fn base(&self) -> Result<&str, Trouble> {
        let base = self.base.get_or_try_init(|| async {
            let home = match self.inner.home() {
                Some(home) => home.to_owned(),
                None => self.ask_home().await?,
            };
            let home = home.trim_end_matches('/');
            if !home.is_empty() && !home.starts_with('/') || home.contains('\n') {
                return Err(Trouble::Failed(format!("`{home}` can't be a home folder")));
            }
            Ok(format!("{home}/.hermes"))
        });
        base.await.map(String::as_str)
    }

    async fn ask_home(&self) -> Result<String, Trouble> {
        let start = script::start("printf %s \"$HOME\"", Stdin::Null);
        let said = talk::ask(&*self.inner, start, ASK).await?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    /// Brings the files of the other machine up to date: if it is time, or in any case with
    /// `force`.
    ///
    /// # Errors
    /// Something of it failed. The next call begins anew.
    pub async fn sync(&self, force: bool) -> Result<(), StartFailure> {
        self.push(force).await.map_err(StartFailure::from)
    }

    async fn push(&self, force: bool) -> Result<(), Trouble> {
        let asked = Instant::now();
        let mut progress = Arc::clone(&self.progress).lock_owned().await;
        // Whoever held us up has seen what there was to see.
        let is_seen = progress.attempt.is_some_and(|attempt| attempt >= asked);
        if is_seen || !progress.state.is_due(asked, force || self.always) {
            return Ok(());
        }
        let base = self.base().await?;
        progress.attempt = Some(Instant::now());
        let pushed = push::push(self, base, progress).await;
        if let Err(trouble) = &pushed {
            let mut progress = self.progress.lock().await;
            progress.state.failed();
            if let Trouble::Failed(problem) = trouble {
                progress.tell(problem);
            }
        }
        pushed
    }

    /// Brings back what the other machine changed, with several tries.
    async fn bring_back(&self) {
        if !self.progress.lock().await.state.has_pushed() {
            return;
        }
        let work = async {
            let mut pauses = self.pauses.iter();
            loop {
                let problem = match back::bring_back(self).await {
                    Ok(()) => return None,
                    Err(back::Failure::Final(problem)) => return Some(problem),
                    Err(back::Failure::Passing(problem)) => problem,
                };
                match pauses.next() {
                    Some(pause) => tokio::time::sleep(*pause).await,
                    None => return Some(problem),
                }
            }
        };
        let problem = tokio::time::timeout(BACK, work).await;
        let problem = problem.unwrap_or_else(|_| Some("it takes too long".to_owned()));
        if let Some(problem) = problem {
            let problem = format!("what commands changed there is not brought back: {problem}");
            self.progress.lock().await.tell(&problem);
        }
    }
}

impl Environment for Synced {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn temp_dir(&self) -> &str {
        self.inner.temp_dir()
    }

    fn home(&self) -> Option<&str> {
        self.inner.home()
    }

    fn initial_cwd(&self) -> &str {
        self.inner.initial_cwd()
    }

    fn shares_files(&self) -> bool {
        self.inner.shares_files()
    }

    fn shared_folder(&self) -> Option<&Path> {
        self.inner.shared_folder()
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        self.inner.start(start)
    }

    fn prepare(&self) -> BoxFuture<'_, Result<(), StartFailure>> {
        Box::pin(async {
            self.inner.prepare().await?;
            match self.push(false).await {
                // A full disk there must not keep anybody from emptying it.
                Ok(()) | Err(Trouble::Failed(_)) => Ok(()),
                Err(Trouble::Start(failure)) => Err(failure),
            }
        })
    }

    fn close(&self, how: Close) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.bring_back().await;
            self.inner.close(how).await;
        })
    }
}

impl std::fmt::Debug for Synced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Synced")
            .field("environment", &self.inner.identity())
            .field("base", &self.base.get())
            .finish_non_exhaustive()
    }
}

/// A file of this machine that has no name, in the folder that also holds what goes into it.
fn unnamed(folder: &Path) -> io::Result<std::fs::File> {
    tempfile::tempfile_in(folder)
}

/// A word that nobody else uses.
fn token() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    format!("{:016x}", RandomState::new().hash_one(Instant::now()))
}

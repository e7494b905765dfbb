//! A session of commands on one environment: folder, variables, functions, aliases and options go
//! from one command to the next.
//!
//! Each command runs in a shell of its own. A wrapper around it restores the state of the session
//! first and saves it in an `EXIT` trap, so that `exit`, `set -e` and errors don't lose it. The
//! wrapper uses builtins of bash only: a session whose `PATH` is spoilt goes on. State is kept in
//! files on the machine itself, a new one for each command, and becomes the session's when the
//! wrapper has told that it is whole; of commands at the same time, one that changed nothing
//! doesn't undo what another one did.

mod definitions;
mod foreground;
mod marker;
mod quote;
mod slots;
mod standby;
mod wrapper;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::foreground::Once;
pub use self::foreground::{Ended, Finished, Foreground};
pub use self::quote::quote;
use self::slots::{Slot, Slots};
use self::standby::Standby;
pub(crate) use self::wrapper::LAST;
use self::wrapper::{Report, Wrapper};
use crate::environment::{Close, Dialect, Environment, Running, Size, Start, StartFailure, Stdin};
use crate::program::TAG;

/// How long removing a session's files may take on another machine.
const TIDYING: Duration = Duration::from_secs(3);

/// How the state of a session begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// Files that are sourced, silently, where they are there: `~`, `$NAME` and `${NAME}` in their
    /// paths are expanded on the machine.
    pub files: Vec<String>,
    /// Whether the first shell is a login shell.
    pub is_login: bool,
    /// Names of variables that the session never keeps, such as those that say whose it is:
    /// another session on the same machine would get them.
    pub private: Vec<String>,
}

/// A command that goes on beside the session. It starts from the session's state and leaves none.
#[derive(Clone, Debug)]
pub struct Background {
    /// The command.
    pub command: String,
    /// Where it starts.
    pub cwd: String,
    /// Its own variables.
    pub env: Vec<(String, String)>,
    /// What it reads.
    pub stdin: Stdin,
    /// Its terminal, if it is to have one.
    pub terminal: Option<Size>,
}

/// A session of commands.
pub struct Session {
    environment: Arc<dyn Environment>,
    /// Where its files are, on the machine.
    folder: String,
    /// The same folder, where this process can look into it.
    shared: Option<PathBuf>,
    slots: Mutex<Slots>,
    standby: Standby,
    opened: tokio::sync::OnceCell<()>,
    renewing: tokio::sync::Mutex<()>,
    initial: Initial,
    /// Part of the markers that nobody can guess.
    secret: String,
    commands: AtomicU64,
}

impl Session {
    /// A session on an environment. Nothing is started before the first command.
    #[must_use]
    pub fn new(environment: Arc<dyn Environment>, initial: Initial) -> Self {
        let secret = unguessable();
        let name = format!("hermes-{}", secret.get(..12).unwrap_or(&secret));
        let shared = environment.shared_folder().map(|folder| folder.join(&name));
        let folder = match &shared {
            Some(folder) => folder.to_string_lossy().into_owned(),
            None => format!("{}/{name}", environment.temp_dir().trim_end_matches('/')),
        };
        Self {
            environment,
            folder,
            shared,
            slots: Mutex::default(),
            standby: Standby::default(),
            opened: tokio::sync::OnceCell::new(),
            renewing: tokio::sync::Mutex::default(),
            initial,
            secret,
            commands: AtomicU64::new(0),
        }
    }

    /// The environment.
    #[must_use]
    pub fn environment(&self) -> &Arc<dyn Environment> {
        &self.environment
    }

    /// The folder of the session's own files on the machine. Only the user that commands run as
    /// may look into it.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Starts a command that goes on beside the session.
    ///
    /// # Errors
    /// It could not be started.
    pub async fn spawn(&self, background: Background) -> Result<Running, StartFailure> {
        self.ready().await?;
        self.restore()?;
        let state = self.slots().current();
        let names = self.names(&background.env);
        let wrapper = Wrapper {
            command: &background.command,
            cwd: &background.cwd,
            state: state.as_ref().map(|slot| self.path(slot.number())),
            is_bare: self.environment.shares_files(),
            names: &names,
            save: None,
        };
        let script = wrapper.script();
        let start = Start {
            cwd: Some(background.cwd),
            env: self.tagged(background.env),
            stdin: background.stdin,
            terminal: background.terminal,
            bare: state.is_some(),
            ..Start::new(script)
        };
        self.environment.start(start).await
    }

    /// Prepares the environment, and with the first call the session's folder and state. Commands
    /// do so by themselves.
    ///
    /// # Errors
    /// The environment can't be used.
    pub async fn ready(&self) -> Result<(), StartFailure> {
        self.environment.prepare().await?;
        self.opened.get_or_try_init(|| self.open()).await.copied()
    }

    /// Makes the folder and the first state. A state that can't be made isn't an error: commands
    /// begin with what the environment gives then.
    async fn open(&self) -> Result<(), StartFailure> {
        if let Some(folder) = &self.shared {
            make_folder(folder)?;
        }
        let ways = if self.initial.is_login || !self.initial.files.is_empty() {
            [true, false].as_slice()
        } else {
            [false].as_slice()
        };
        for has_files in ways {
            let source = if *has_files { self.initial.files.as_slice() } else { &[] };
            let command = wrapper::first(&self.folder, source);
            let dialect = if *has_files && self.initial.is_login {
                Dialect::BashLogin
            } else {
                Dialect::Bash
            };
            let first = Foreground {
                timeout: Some(foreground::OPENING),
                ..Foreground::new(command, self.environment.initial_cwd())
            };
            let once = self.once(&first, dialect, &mut |_| {}, std::future::pending()).await?;
            if self.slots().current().is_some() {
                break;
            }
            if let Once::Finished(Finished { ended: Ended::Lost(message), .. }) = once {
                return Err(StartFailure::passing(message));
            }
        }
        Ok(())
    }

    /// Makes the folder and the state once more when somebody has removed them and this process can
    /// put them back. Whether the state begins anew.
    ///
    /// # Errors
    /// The folder is somebody else's now, or can't be made.
    fn restore(&self) -> Result<bool, StartFailure> {
        let Some(folder) = &self.shared else { return Ok(false) };
        let (state, text) = {
            let slots = self.slots();
            (slots.current(), slots.text())
        };
        let Some(state) = state else { return Ok(false) };
        if !is_own(folder) {
            make_folder(folder)?;
        }
        let path = self.path(state.number());
        if Path::new(&path).exists() {
            return Ok(false);
        }
        let is_back = text.is_some_and(|text| std::fs::write(&path, text).is_ok());
        if !is_back {
            self.slots().forget();
        }
        Ok(!is_back)
    }

    /// Makes the folder and the first state anew, unless somebody has done so since `state` was
    /// found to be gone.
    async fn renew(&self, state: &Slot) -> Result<(), StartFailure> {
        let _renewing = self.renewing.lock().await;
        let is_current = |it: Slot| Arc::ptr_eq(&it, state);
        if self.slots().current().is_some_and(is_current) {
            self.slots().forget();
            self.open().await?;
        }
        Ok(())
    }

    /// Gives up the session and its environment: its files are removed, also those on a machine
    /// that this process can't look into, as far as that is still to be reached.
    pub async fn close(&self, how: Close) {
        if self.shared.is_none() && self.opened.initialized() {
            let start = Start {
                dialect: Dialect::Posix,
                ..Start::new(format!("exec rm -rf -- {}", quote(&self.folder)))
            };
            let remove = async {
                // A machine that can't be reached has lost them, or keeps them.
                if let Ok(running) = self.environment.start(start).await {
                    running.handle.wait().await;
                }
            };
            let _ = tokio::time::timeout(TIDYING, remove).await;
        }
        self.environment.close(how).await;
    }

    /// The path of a state on the machine.
    fn path(&self, slot: u32) -> String {
        format!("{}/state-{slot}", self.folder)
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Variables, and the one by which all processes of the command are found.
    fn tagged(&self, mut env: Vec<(String, String)>) -> Vec<(String, String)> {
        env.push((TAG.to_owned(), self.next_id()));
        env
    }

    /// The names of variables that are not to become the session's.
    fn names(&self, env: &[(String, String)]) -> Vec<String> {
        let own = env.iter().map(|(name, _)| name);
        own.chain(&self.initial.private).cloned().chain([TAG.to_owned()]).collect()
    }

    fn next_id(&self) -> String {
        format!("{}-{}", self.secret, self.commands.fetch_add(1, Ordering::Relaxed))
    }

    /// How a command reports, and a marker of its own if it does so in its output.
    fn report(&self, slot: u32) -> Report {
        match &self.shared {
            Some(_) => Report::File(format!("{}/report-{slot}", self.folder)),
            None => Report::Marker(format!("__HERMES_CWD_{}__", self.next_id())),
        }
    }

    /// Removes the session's files, as far as this process can.
    fn clean(&self) {
        if let Some(folder) = &self.shared {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.clean();
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("environment", &self.environment.identity())
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn make_folder(folder: &Path) -> Result<(), StartFailure> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    // Somebody who can write beside us must not have put one there.
    builder.create(folder).map_err(|error| {
        let folder = folder.display();
        StartFailure::new(format!("the session's folder {folder} can't be made: {error}"))
    })
}

/// Whether a folder is there that nobody else has put there.
fn is_own(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|found| {
        #[cfg(unix)]
        let is_mine =
            std::os::unix::fs::MetadataExt::uid(&found) == rustix::process::geteuid().as_raw();
        #[cfg(not(unix))]
        let is_mine = true;
        is_mine && found.is_dir()
    })
}

/// 24 hexadecimal digits that nobody can guess.
fn unguessable() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    // Keyed by the system's randomness, differently each time.
    let [one, two] = [RandomState::new().hash_one(0), RandomState::new().hash_one(1)];
    format!("{one:016x}{:08x}", two as u32)
}

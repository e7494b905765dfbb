//! A machine that runs commands, whatever kind it is.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

/// A future of a trait that must be an object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a command writes, or one of its two streams.
pub type Reader = Pin<Box<dyn AsyncRead + Send>>;

/// What a command reads.
pub type Writer = Pin<Box<dyn AsyncWrite + Send>>;

/// A machine that runs commands: this one, a container, a host behind ssh, a sandbox of a provider.
///
/// An environment knows how to start a shell on its machine and how to end everything that was
/// started. What makes a session of commands (folder, variables, functions) lies above it, in
/// [`Session`](crate::session::Session).
pub trait Environment: Send + Sync {
    /// The kind as in the setting `terminal.backend`: `local`, `docker`, `ssh`, ..
    fn kind(&self) -> &'static str;

    /// Names the machine: the same for as long as its files are the same.
    fn identity(&self) -> String;

    /// A folder of the machine for short-lived files, absolute: `/tmp`, as a rule.
    fn temp_dir(&self) -> &str;

    /// The home folder of the user that commands run as, if known.
    fn home(&self) -> Option<&str>;

    /// The folder that a session starts in.
    fn initial_cwd(&self) -> &str;

    /// Whether paths mean the same files here and for this process, so that scripts and state
    /// can be passed as files.
    fn shares_files(&self) -> bool {
        false
    }

    /// A folder of this process's machine in which a session may keep files of its own, where
    /// [`shares_files`](Self::shares_files) holds.
    fn shared_folder(&self) -> Option<&Path> {
        None
    }

    /// Whether a session may keep a shell that waits for its next command, so that the command need
    /// not wait for a shell. It must be told at once when such a shell has ended.
    fn keeps_standby(&self) -> bool {
        false
    }

    /// Starts a shell. Returns when it runs; what becomes of it is told by the [`Running`].
    ///
    /// # Errors
    /// It could not be started; [`StartFailure::is_safe_to_retry`] says whether it is sure that
    /// nothing of it ran.
    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>>;

    /// What must be done before a command: waking the machine, bringing files. Called before each
    /// command of a session; cheap when there is nothing to do.
    ///
    /// # Errors
    /// What failed, as a sentence; no command may run then.
    fn prepare(&self) -> BoxFuture<'_, Result<(), StartFailure>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Gives the machine up: brings files back, stops or removes what was made for it. Everything
    /// that still runs there is ended, unless the machine is kept by its settings.
    fn close(&self, how: Close) -> BoxFuture<'_, ()>;
}

/// How an environment is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// As its settings say: a persistent container stays.
    AsConfigured,
    /// Nothing may be left.
    Remove,
}

/// A shell to be started.
#[derive(Clone, Debug)]
pub struct Start {
    /// What it runs: a text of bash, or of POSIX sh with [`Dialect::Posix`]. Of any length, without
    /// NUL. It must not travel as an argument when it is long: arguments are limited to 128 KiB.
    /// `$0` is `bash` (or `sh`), there are no positional parameters, and stdin is not touched by
    /// the way it travels.
    pub script: String,
    /// Whether the script may be an argument, which everybody on the machine can read: it is short
    /// and has nothing of a command in it.
    pub is_public: bool,
    /// In which shell.
    pub dialect: Dialect,
    /// The folder that the script will go to, if that is known: a hint for environments that
    /// restrict their commands. May begin with `~`.
    pub cwd: Option<String>,
    /// Variables beside those that the environment gives by itself. They win.
    pub env: Vec<(String, String)>,
    /// Whether the variables that the environment gives by itself are left out, as far as it can:
    /// the script brings its own.
    pub bare: bool,
    /// What it reads.
    pub stdin: Stdin,
    /// Whether stderr has a stream of its own. Never with a terminal.
    pub errors_apart: bool,
    /// A terminal of this size in place of pipes.
    pub terminal: Option<Size>,
}

impl Start {
    /// A script for bash that reads nothing.
    #[must_use]
    pub fn new(script: impl Into<String>) -> Self {
        Self {
            script: script.into(),
            is_public: false,
            dialect: Dialect::Bash,
            cwd: None,
            env: Vec::new(),
            bare: false,
            stdin: Stdin::Null,
            errors_apart: false,
            terminal: None,
        }
    }
}

/// A shell's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Bash without start-up files.
    Bash,
    /// Bash as a login shell.
    BashLogin,
    /// `sh`, for machines without bash.
    Posix,
}

/// What a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end at once.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// What is written to [`Running::stdin`].
    Open,
}

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub cols: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 30, cols: 120 }
    }
}

/// A command that runs. Dropping its [`handle`](Self::handle) ends it and all that it started.
pub struct Running {
    /// What it writes: stdout, with stderr in between unless that is apart. The end comes when
    /// nobody holds the other side any more, which may be long after the shell itself ended.
    pub output: Reader,
    /// Its stderr, where it was asked for.
    pub errors: Option<Reader>,
    /// Its stdin, with [`Stdin::Open`] or a terminal. Dropping it is the end of the input, but not
    /// on a terminal: there the character for it is to be written.
    pub stdin: Option<Writer>,
    /// Control over it.
    pub handle: Box<dyn Handle>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("pid", &self.handle.pid()).finish_non_exhaustive()
    }
}

/// Control over a command that runs. Dropping it kills the command and all that it started, as far
/// as that can be done without waiting; [`release`](Self::release) prevents that.
pub trait Handle: Send + Sync {
    /// The number of the shell's process, and whether it is one of this machine or of the
    /// environment's.
    fn pid(&self) -> Option<Pid>;

    /// The value of the variable [`TAG`](crate::program::TAG) that it was started with, if it is a
    /// process of this machine: all that it starts has it too.
    fn tag(&self) -> Option<&[u8]> {
        None
    }

    /// Waits until the shell has ended; at once if it has. What it started may go on. May be
    /// dropped and called again.
    fn wait(&self) -> BoxFuture<'_, Exit>;

    /// Ends the shell and everything that it started, in the machine where it runs: a friendly
    /// signal first, and after `grace` the other one. Returns when all of it is gone, or as good
    /// as: at most a few seconds after `grace`.
    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()>;

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// It has none, or the terminal is gone.
    fn resize(&self, size: Size) -> io::Result<()>;

    /// Lets what still runs go on after the handle is dropped.
    fn release(&self);
}

/// The number of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pid {
    /// One of this machine.
    Host(u32),
    /// One of the environment's.
    Inside(u32),
}

impl Pid {
    /// The number alone.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::Host(number) | Self::Inside(number) => number,
        }
    }
}

/// How a shell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code; 128 + n when signal n killed it.
    Code(i32),
    /// Nobody knows: the connection or the machine is gone. The text says what happened.
    Lost(String),
}

/// Why a command didn't start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFailure {
    /// What happened and what can be done, as a sentence.
    pub message: String,
    /// Whether it is certain that nothing of the command ran, and trying again may help.
    pub is_safe_to_retry: bool,
    /// Whether the machine is gone, so that a new one is needed.
    pub is_gone: bool,
}

impl StartFailure {
    /// A failure that trying again won't mend.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_safe_to_retry: false, is_gone: false }
    }

    /// A failure before anything ran, that may not happen again.
    #[must_use]
    pub fn passing(message: impl Into<String>) -> Self {
        Self { is_safe_to_retry: true, ..Self::new(message) }
    }

    /// The machine is not there any more.
    #[must_use]
    pub fn gone(message: impl Into<String>) -> Self {
        Self { is_gone: true, ..Self::new(message) }
    }
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StartFailure {}

//! A way to run programs in a container.

use hermes_exec::environment::{BoxFuture, Running, Size, StartFailure, Stdin};

/// A way to run programs in one container.
pub trait Transport: Send + Sync + 'static {
    /// Runs a program. Its `wait` gives the exit code as far as the way knows it. Its `terminate`
    /// is called when the program was killed from inside and nobody has heard of its end; dropping
    /// its handle need only give up what this machine holds of it.
    ///
    /// # Errors
    /// It could not be run, or the container is gone. An error may also come later, as text in
    /// place of what the program writes.
    fn exec(&self, exec: Exec) -> BoxFuture<'_, Result<Running, StartFailure>>;

    /// What has become of the container. Asked after something went wrong, so it may take a while.
    fn fate(&self) -> BoxFuture<'_, Fate>;
}

/// A program to be run in a container.
#[derive(Clone, Debug)]
pub struct Exec {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables beside those of the container.
    pub env: Vec<(String, String)>,
    /// What it reads.
    pub stdin: Stdin,
    /// Whether stderr has a stream of its own.
    pub errors_apart: bool,
    /// A terminal of this size in place of pipes.
    pub terminal: Option<Size>,
    /// The number of the user that it runs as, if not the container's own.
    pub user: Option<u32>,
}

impl Exec {
    /// A program that reads nothing.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            stdin: Stdin::Null,
            errors_apart: false,
            terminal: None,
            user: None,
        }
    }
}

/// What has become of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It runs.
    Running,
    /// It was removed, or doesn't run any more. The text says what happened, as a sentence.
    Gone(String),
    /// Nobody could say. The text says why.
    Unknown(String),
}

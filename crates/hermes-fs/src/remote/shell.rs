//! Anything that runs scripts.

use std::io;
use std::time::Duration;

use crate::backend::GoesOn;

/// A script to be run.
pub struct Run<'a> {
    /// For `sh -c`: POSIX shell in printable ASCII and line feeds, at most 100 KiB.
    pub script: &'a str,
    /// What it can read: printable ASCII and line feeds. It may end without reading it.
    pub stdin: &'a [u8],
    /// How long it may run.
    pub timeout: Duration,
    /// Asked now and then while it runs; when it says no, the script is ended.
    pub goes_on: GoesOn<'a>,
}

/// How a script ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// All that it wrote, however much that is. Scripts of this crate write ASCII; whether line
    /// feeds got a carriage return on the way, or something was written before, doesn't matter.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
    /// Its exit code, if it ended by itself.
    pub code: Option<i32>,
}

/// An environment that runs shell scripts: a container, another machine, or this one.
pub trait Shell: Send + Sync {
    /// Names the environment: the same for as long as its files are the same.
    fn identity(&self) -> &str;

    /// Runs a script to its end.
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) when it took too long, and others when it could not be
    /// run or was ended because it wasn't to go on.
    fn run(&self, run: &Run<'_>) -> io::Result<Ran>;
}

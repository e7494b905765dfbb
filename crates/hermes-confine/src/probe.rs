//! What this machine can hold.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::kernel::{self, Filter, Restrictions, Sockets};
use crate::rules::Rules;

/// How long bubblewrap may take to start a program. It takes a fiftieth of a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// What this machine can hold. Finding out takes some 20 ms where bubblewrap is installed and
/// blocks; a host does it once and keeps the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub(crate) landlock: Result<u32, String>,
    pub(crate) seccomp: Result<(), String>,
    pub(crate) bubblewrap: Result<PathBuf, String>,
}

impl Probe {
    /// Tries everything. `bubblewrap` is the file of the program `bwrap`, if the host found one and
    /// wants it to be used: it holds more than the rest, and costs more for each command.
    #[must_use]
    pub fn new(bubblewrap: Option<&Path>) -> Self {
        let seccomp = Filter::check();
        Self {
            landlock: kernel::abi(),
            bubblewrap: match bubblewrap {
                Some(file) => try_bubblewrap(file, seccomp.is_ok()).map(|()| file.to_owned()),
                None => Err("it isn't installed or not wanted".to_owned()),
            },
            seccomp,
        }
    }

    /// The version of Landlock, or why it can't be used.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn landlock(&self) -> Result<u32, &str> {
        self.landlock.as_ref().copied().map_err(String::as_str)
    }

    /// Whether system calls can be filtered, or why not.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn seccomp(&self) -> Result<(), &str> {
        self.seccomp.as_ref().copied().map_err(String::as_str)
    }

    /// The bubblewrap that works, or why there is none.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn bubblewrap(&self) -> Result<&Path, &str> {
        self.bubblewrap.as_deref().map_err(String::as_str)
    }

    /// Nothing can be held.
    #[cfg(test)]
    pub(crate) fn nothing() -> Self {
        let missing = || "missing".to_owned();
        Self { landlock: Err(missing()), seccomp: Err(missing()), bubblewrap: Err(missing()) }
    }
}

/// Runs bubblewrap in a bubble, the one program of which we know that it is there.
fn try_bubblewrap(file: &Path, filtered: bool) -> Result<(), String> {
    let rules = Rules::default();
    let mut words = crate::bubblewrap::prefix(file, &rules, [], kernel::is_superuser());
    words.push(file.as_os_str().to_owned());
    words.push("--version".into());
    let filter = filtered.then(|| Filter::new(Sockets::Enclosed)).transpose();
    let filter = filter.map_err(|error| error.to_string())?;
    let restrictions = Restrictions { filter, ..Default::default() };
    #[expect(clippy::disallowed_methods, reason = "the crate that starts processes needs this one")]
    let mut command = std::process::Command::new(file);
    command.args(words.iter().skip(1)).env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = restrictions.around(|| command.spawn()).map_err(|error| error.to_string())?;
    let give_up = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < give_up => thread::sleep(Duration::from_millis(1)),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err(said(&mut child)),
            Ok(None) | Err(_) => {
                // An error means that it has ended.
                let _ = child.kill();
                let _ = child.wait();
                return Err("it doesn't end".to_owned());
            }
        }
    }
}

/// The first line of what an ended program said about its fault.
fn said(child: &mut std::process::Child) -> String {
    use std::io::Read as _;

    let mut text = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        // What can't be read wasn't said.
        let _ = stderr.take(1024).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    text.lines().next().map_or_else(|| "it failed without a word".to_owned(), str::to_owned)
}

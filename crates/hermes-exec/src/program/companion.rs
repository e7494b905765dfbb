//! A program that goes on beside us, with pipes to talk to it.

use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::group::Group;
use super::{BUSY_PAUSE, Ended, Program, REAP, StartError, is_busy, own_group};

/// How often a companion that should end is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// A program that was started to be talked to, such as a language server.
///
/// It leads a process group of its own. When it has ended, by itself too, whoever is left of the
/// group is killed. Dropping it kills the group and collects the program: nothing is left behind,
/// but for a child that made a group of its own.
///
/// ```
/// use std::io::{Read as _, Write as _};
/// use std::time::Duration;
/// use hermes_exec::program::{Ended, Program};
///
/// let (cat, mut pipes) = Program::new(["cat"]).env([("PATH", "/usr/bin:/bin")]).companion()?;
/// pipes.stdin.write_all(b"hi").unwrap();
/// drop(pipes.stdin);
/// let mut said = String::new();
/// pipes.stdout.read_to_string(&mut said).unwrap();
/// assert_eq!((said.as_str(), cat.wait(Duration::from_secs(9))), ("hi", Some(Ended::Exited(0))));
/// # Ok::<_, hermes_exec::program::StartError>(())
/// ```
#[derive(Debug)]
pub struct Companion {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Before `child`: the group is killed while the leader is not yet collected.
    group: Group,
    child: Child,
    ended: Option<Ended>,
}

/// The ends of a companion's pipes. Reading and writing block; for an async runtime there is
/// `tokio::process::ChildStdin::from_std` and its like.
#[derive(Debug)]
pub struct Pipes {
    /// What the companion reads.
    pub stdin: ChildStdin,
    /// What it says.
    pub stdout: ChildStdout,
}

impl Program {
    /// Starts the program and leaves it running. What it writes to stderr goes nowhere. The given
    /// stdin, time limit and capture are those of a [`run`](Self::run) and mean nothing here.
    ///
    /// Blocks for as long as it takes to start a process, and needs no async runtime.
    ///
    /// # Errors
    ///
    /// The program could not be started.
    pub fn companion(&self) -> Result<(Companion, Pipes), StartError> {
        let file = self.file()?;
        let mut tries = 0;
        let mut child = loop {
            let mut command = self.command(&file);
            own_group(&mut command);
            match command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn() {
                Ok(child) => break child,
                Err(error) if is_busy(&error, &mut tries) => sleep(BUSY_PAUSE),
                Err(source) => return Err(StartError::refused(file, source)),
            }
        };
        let pipes = (child.stdin.take(), child.stdout.take());
        let group = Group::of(Some(child.id()));
        let companion = Companion { inner: Mutex::new(Inner { group, child, ended: None }) };
        match pipes {
            (Some(stdin), Some(stdout)) => Ok((companion, Pipes { stdin, stdout })),
            // Both were asked for.
            _ => Err(StartError::Nothing),
        }
    }
}

impl Companion {
    /// How it ended, if it does so within `limit`. It is not told to.
    pub fn wait(&self, limit: Duration) -> Option<Ended> {
        let give_up = Instant::now() + limit;
        loop {
            if let Some(ended) = self.lock().collect() {
                return Some(ended);
            }
            if Instant::now() >= give_up {
                return None;
            }
            sleep(LOOK);
        }
    }

    /// Kills it and its group. Where it has ended nothing happens.
    pub fn kill(&self) {
        self.lock().kill();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// How the program ended, if it has, after it was collected.
    fn collect(&mut self) -> Option<Ended> {
        if self.ended.is_none() && self.has_ended() {
            // As long as the leader isn't collected, the group's number is its own.
            self.kill();
            let status = self.child.wait();
            self.group.forget();
            self.ended = Some(status.map_or(Ended::Lost, Ended::from));
        }
        self.ended
    }

    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        self.group.has_ended()
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        self.group.kill();
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.kill();
        // Only one that hangs in the kernel takes longer.
        self.wait(REAP);
    }
}

//! Processes that aren't our children: those of an earlier run of the program.

use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::time::{Instant, sleep};

use super::tree::{Tree, started};

/// How often one that was told to end is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// How long the end of a killed one is waited for.
const KILLED: Duration = Duration::from_secs(2);

/// A process that somebody else started, told from a later one with the same number by the time at
/// which it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stranger {
    pid: Pid,
    started: u64,
}

impl Stranger {
    /// The process with this number that runs now. None where there is none, or the system doesn't
    /// tell when it was started.
    #[must_use]
    pub fn now(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        Some(Self { pid, started: started(pid)? })
    }

    /// A process that was remembered; none if it doesn't run any more.
    #[must_use]
    pub fn known(pid: u32, started: u64) -> Option<Self> {
        Self::now(pid).filter(|it| it.started == started)
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        u32::try_from(self.pid.as_raw_nonzero().get()).unwrap_or_default()
    }

    /// When it was started, in ticks since the machine was.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Whether it runs still.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// Ends it and everything that it started: a friendly signal first, and after `grace` the other
    /// one.
    pub async fn terminate(&self, grace: Duration) {
        let give_up = Instant::now() + grace;
        let kill_after = give_up + KILLED;
        let mut is_told = false;
        // Whoever it started may outlive it, and is looked for as long as it leads them.
        while self.is_alive() && Instant::now() < kill_after {
            let is_late = Instant::now() >= give_up;
            if is_late || !is_told {
                let signal = if is_late { Signal::KILL } else { Signal::TERM };
                Tree::of(self.pid, None).signal(signal);
                is_told = true;
            }
            sleep(LOOK).await;
        }
    }
}

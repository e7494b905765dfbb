//! A process group, which is killed unless somebody says that its leader has ended.

use tokio::process::Child;
#[cfg(unix)]
use {
    rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
    std::time::Duration,
    tokio::time::{Instant, sleep},
};

use super::Pump;

/// How long a program that is told to end may take before it is killed.
#[cfg(unix)]
const GRACE: Duration = Duration::from_millis(200);

/// The group of a child that was started as its leader.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
}

#[cfg(unix)]
impl Group {
    pub(super) fn of(leader: Option<u32>) -> Self {
        let id = leader.and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(Pid::from_raw) }
    }

    /// The leader is collected: its number may belong to others from now on.
    pub(super) fn forget(&mut self) {
        self.leader = None;
    }

    /// Tells everyone in the group to end and kills who doesn't. The leader is left to be
    /// collected.
    pub(super) async fn end(&self, _leader: &mut Child, pump: &mut Pump<'_>) {
        let Some(leader) = self.leader else { return };
        self.signal(Signal::TERM);
        let give_up = Instant::now() + GRACE;
        while Instant::now() < give_up && !has_ended(leader) {
            pump.during(sleep(Duration::from_millis(5))).await;
        }
        // Even if the leader has ended: its children may not have listened.
        self.kill();
    }

    /// Kills everyone in the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Whether the leader has ended; it is left to be collected.
    pub(super) fn has_ended(&self) -> bool {
        self.leader.is_none_or(has_ended)
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // An error means that nobody is left.
            let _ = kill_process_group(leader, signal);
        }
    }
}

/// Whether a child has ended, without collecting it: as long as it isn't, its number is its own.
#[cfg(unix)]
fn has_ended(leader: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(leader), look), Ok(None))
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where there are no process groups, the child alone is killed.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Group;

#[cfg(not(unix))]
impl Group {
    pub(super) fn of(_leader: Option<u32>) -> Self {
        Self
    }

    pub(super) fn forget(&mut self) {}

    pub(super) async fn end(&self, child: &mut Child, _pump: &mut Pump<'_>) {
        // An error means that it has ended.
        let _ = child.start_kill();
    }
}

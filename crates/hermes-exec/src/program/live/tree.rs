//! A program and everything that it started, found by its place in the tree of processes, by its
//! group and session, and by the variable that all of them inherit.

#[cfg(target_os = "linux")]
mod table;

use hermes_task::spawn_blocking;
use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

/// Those who are to be ended together.
#[derive(Debug)]
pub(super) struct Tree {
    leader: Pid,
    /// All of them that still do something.
    alive: Vec<Pid>,
}

/// How old what is known of the processes of this machine may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    Now,
    /// A few times as old as finding it out takes.
    Recent,
}

impl Tree {
    /// The tree of a leader that was not collected, so that its number is its own.
    pub(super) async fn found(leader: Pid, tag: Option<&[u8]>) -> Self {
        Self { leader, alive: looked_up(leader, tag, Age::Now).await }
    }

    /// The same for who may block: for milliseconds where there are hundreds of processes.
    pub(super) fn of(leader: Pid, tag: Option<&[u8]>) -> Self {
        let alive = descendants(leader).unwrap_or_else(|| members(leader, tag, Age::Now));
        Self { leader, alive }
    }

    /// Those who can be found without looking at all processes. There may be more of them when the
    /// leader has ended.
    pub(super) fn nearest(leader: Pid) -> Self {
        Self { leader, alive: descendants(leader).unwrap_or_default() }
    }

    /// Those who were left a moment ago. When nobody was it stays so: nobody starts others then.
    pub(super) async fn alive(leader: Pid, tag: Option<&[u8]>) -> Vec<Pid> {
        looked_up(leader, tag, Age::Recent).await
    }

    /// Kills everybody; whether there was anybody.
    pub(super) fn kill(&self) -> bool {
        self.signal(Signal::KILL);
        !self.alive.is_empty()
    }

    /// Signals everybody, once: a shell that is told again to end doesn't finish what it does at its
    /// end.
    pub(super) fn signal(&self, signal: Signal) {
        let is_outside = |pid: &&Pid| getpgid(Some(**pid)).is_ok_and(|group| group != self.leader);
        let others: Vec<Pid> = self.alive.iter().filter(is_outside).copied().collect();
        let send = |signal| {
            // An error means that nobody is left to hear it.
            let _ = kill_process_group(self.leader, signal);
            for pid in &others {
                let _ = kill_process(*pid, signal);
            }
        };
        send(signal);
        // Who is stopped hears of other signals when it goes on.
        if signal == Signal::TERM {
            send(Signal::CONT);
        }
    }
}

async fn looked_up(leader: Pid, tag: Option<&[u8]>, age: Age) -> Vec<Pid> {
    if let Some(found) = descendants(leader) {
        return found;
    }
    let own = tag.map(<[u8]>::to_vec);
    let found = spawn_blocking(move || members(leader, own.as_deref(), age)).await;
    // When the runtime ends, nobody is held up any more.
    found.unwrap_or_else(|_| members(leader, tag, age))
}

/// Where there is no `/proc`, the leader alone stands for its group.
#[cfg(not(target_os = "linux"))]
fn members(leader: Pid, _tag: Option<&[u8]>, _age: Age) -> Vec<Pid> {
    if super::exit::look(leader).is_none() { vec![leader] } else { Vec::new() }
}

#[cfg(not(target_os = "linux"))]
fn descendants(_leader: Pid) -> Option<Vec<Pid>> {
    None
}

#[cfg(target_os = "linux")]
fn descendants(leader: Pid) -> Option<Vec<Pid>> {
    table::descendants(leader)
}

#[cfg(target_os = "linux")]
fn members(leader: Pid, tag: Option<&[u8]>, age: Age) -> Vec<Pid> {
    table::members(leader, tag, age)
}

/// When a process was started, in ticks since the machine was: together with its number that names
/// it for good. None where the system doesn't tell, or when there is no such process that does
/// anything still.
pub(super) fn started(pid: Pid) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return table::started(pid);
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// The value of [`TAG`](crate::program::TAG) in the environment that a process was started with. None
/// for processes of others, and where the system doesn't tell.
#[must_use]
pub fn tag_of(pid: u32) -> Option<Vec<u8>> {
    #[cfg(target_os = "linux")]
    return table::tag_of(i32::try_from(pid).ok()?);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

//! A program and everything that it started, found by its place in the tree of processes, by its
//! group and session, and by the variable that all of them inherit.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Those who are to be ended together.
#[derive(Debug)]
pub(super) struct Tree {
    leader: Pid,
    /// All of them that still do something.
    alive: Vec<Pid>,
}

impl Tree {
    /// The tree of a leader that was not collected, so that its number is its own.
    pub(super) fn of(leader: Pid, tag: Option<&[u8]>) -> Self {
        Self { leader, alive: members(leader, tag) }
    }

    /// Whether nobody is left.
    pub(super) fn is_gone(&self) -> bool {
        self.alive.is_empty()
    }

    /// Signals everybody.
    pub(super) fn signal(&self, signal: Signal) {
        // An error means that nobody is left to hear it.
        let _ = kill_process_group(self.leader, signal);
        for pid in &self.alive {
            let _ = kill_process(*pid, signal);
        }
        // Who is stopped hears of other signals when it goes on.
        if signal == Signal::TERM {
            let _ = kill_process_group(self.leader, Signal::CONT);
            for pid in &self.alive {
                let _ = kill_process(*pid, Signal::CONT);
            }
        }
    }
}

/// Where there is no `/proc`, the leader alone stands for its group.
#[cfg(not(target_os = "linux"))]
fn members(leader: Pid, _tag: Option<&[u8]>) -> Vec<Pid> {
    if super::exit::look(leader).is_none() { vec![leader] } else { Vec::new() }
}

#[cfg(target_os = "linux")]
fn members(leader: Pid, tag: Option<&[u8]>) -> Vec<Pid> {
    linux::members(leader, tag)
}

/// When a process was started, in ticks since the machine was: together with its number that names
/// it for good. None where the system doesn't tell, or when there is no such process that does
/// anything still.
pub(super) fn started(pid: Pid) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::started(pid);
    #[cfg(not(target_os = "linux"))]
    return None;
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::process::Pid;

    use super::super::TAG;

    /// What is needed of a line of `/proc/PID/stat`.
    struct Stat {
        is_alive: bool,
        parent: i32,
        group: i32,
        session: i32,
        /// Ticks since the machine started.
        started: u64,
    }

    pub(super) fn started(pid: Pid) -> Option<u64> {
        let stat = stat(pid.as_raw_nonzero().get())?;
        stat.is_alive.then_some(stat.started)
    }

    pub(super) fn members(leader: Pid, tag: Option<&[u8]>) -> Vec<Pid> {
        let leader = leader.as_raw_nonzero().get();
        let all = all();
        let Some(since) = all.get(&leader).map(|stat| stat.started) else { return Vec::new() };
        let needle = tag.map(|tag| [TAG.as_bytes(), b"=", tag].concat());
        let mut known: HashMap<i32, bool> = HashMap::from([(leader, true)]);
        let mut found = Vec::new();
        for (pid, stat) in &all {
            let is_ours = stat.started >= since
                && (descends(*pid, leader, &all, &mut known)
                    || stat.group == leader
                    || stat.session == leader
                    || needle.as_deref().is_some_and(|needle| carries(*pid, needle)));
            if is_ours && stat.is_alive {
                found.extend(Pid::from_raw(*pid));
            }
        }
        found
    }

    /// Whether a process comes from the leader; what was found out on the way is kept.
    fn descends(
        pid: i32,
        leader: i32,
        all: &HashMap<i32, Stat>,
        known: &mut HashMap<i32, bool>,
    ) -> bool {
        let mut way = Vec::new();
        let mut at = pid;
        let answer = loop {
            if let Some(answer) = known.get(&at) {
                break *answer;
            }
            way.push(at);
            // The table was not read in one moment, so it may have a circle.
            match all.get(&at) {
                Some(stat) if at != leader && way.len() <= all.len() => at = stat.parent,
                _ => break false,
            }
        };
        known.extend(way.into_iter().map(|pid| (pid, answer)));
        answer
    }

    fn all() -> HashMap<i32, Stat> {
        let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid: i32| Some((pid, stat(pid)?))).collect()
    }

    fn stat(pid: i32) -> Option<Stat> {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold anything, parentheses too.
        let end = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let mut number = || fields.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        // Fields 7 to 21 lie between.
        let started = fields.nth(15)?.parse().ok()?;
        Some(Stat { is_alive: !matches!(state, "Z" | "X"), parent, group, session, started })
    }

    /// Whether the environment that a process was started with has the variable.
    fn carries(pid: i32, needle: &[u8]) -> bool {
        let path = format!("/proc/{pid}/environ");
        fs::read(OsStr::from_bytes(path.as_bytes()))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == needle))
    }
}

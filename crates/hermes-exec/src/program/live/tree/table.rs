//! The processes of this machine as `/proc` tells of them.
//!
//! Reading all of it takes milliseconds where there are hundreds of processes. When very many
//! commands are ended at once each looks many times, so what one has read serves the others.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::super::TAG;
use super::Age;

/// A recent table is at most so many times as old as reading it took.
const RECENT: u32 = 4;

/// Of more descendants than these all processes are looked through instead.
const MANY: usize = 1000;

/// All processes at a time.
struct Table {
    /// When reading began.
    begun: Instant,
    took: Duration,
    all: HashMap<i32, Stat>,
}

/// What is needed of a line of `/proc/PID/stat`.
struct Stat {
    is_alive: bool,
    parent: i32,
    group: i32,
    session: i32,
    /// Ticks since the machine started.
    started: u64,
    /// The tag, once somebody asked for it.
    tag: OnceLock<Option<Vec<u8>>>,
}

pub(super) fn started(pid: Pid) -> Option<u64> {
    let stat = stat(pid.as_raw_nonzero().get())?;
    stat.is_alive.then_some(stat.started)
}

/// Those who belong to a leader that is alive. Each of them descends from it, since whoever loses its
/// parent becomes the leader's child; but one that was just being started or moved may be missing.
/// None when the leader isn't alive, or the system doesn't tell of children.
pub(super) fn descendants(leader: Pid) -> Option<Vec<Pid>> {
    let leader = leader.as_raw_nonzero().get();
    if !stat(leader)?.is_alive {
        return None;
    }
    let mut found = vec![leader];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        match children(pid) {
            Some(children) => found.extend(children),
            None if pid == leader => return None,
            // It has ended.
            None => {}
        }
        // They are added while we look, by one that forks for ever.
        if found.len() > MANY {
            return None;
        }
    }
    Some(found.into_iter().filter_map(Pid::from_raw).collect())
}

/// The children of all threads of a process.
fn children(pid: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    let mut is_told = false;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let Ok(line) = fs::read_to_string(thread.path().join("children")) else { continue };
        is_told = true;
        children.extend(line.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    is_told.then_some(children)
}

/// Those who belong to a leader and are alive.
pub(super) fn members(leader: Pid, tag: Option<&[u8]>, age: Age) -> Vec<Pid> {
    let leader = leader.as_raw_nonzero().get();
    let mut table = Table::read(age);
    // It may have been started since.
    if !table.all.contains_key(&leader) && age == Age::Recent {
        table = Table::read(Age::Now);
    }
    table.members(leader, tag)
}

impl Table {
    /// The processes as they are now, or were a moment ago.
    fn read(age: Age) -> Arc<Self> {
        // Of the whole machine, like what it holds: there is nothing to be kept apart.
        static LAST: Mutex<Option<Arc<Table>>> = Mutex::new(None);
        let asked = Instant::now();
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let is_young = |last: &&Arc<Self>| match age {
            Age::Now => last.begun >= asked,
            Age::Recent => last.begun.elapsed() <= last.took * RECENT,
        };
        if let Some(last) = last.as_ref().filter(is_young) {
            return Arc::clone(last);
        }
        let begun = Instant::now();
        let all = all();
        Arc::clone(last.insert(Arc::new(Self { begun, took: begun.elapsed(), all })))
    }

    fn members(&self, leader: i32, tag: Option<&[u8]>) -> Vec<Pid> {
        let Some(since) = self.all.get(&leader).map(|stat| stat.started) else {
            return Vec::new();
        };
        let mut known: HashMap<i32, bool> = HashMap::from([(leader, true)]);
        let mut found = Vec::new();
        for (pid, stat) in &self.all {
            let is_ours = stat.is_alive
                && stat.started >= since
                && (stat.group == leader
                    || stat.session == leader
                    || self.descends(*pid, leader, &mut known)
                    || tag.is_some_and(|tag| stat.carries(*pid, tag)));
            if is_ours {
                found.extend(Pid::from_raw(*pid));
            }
        }
        found
    }

    /// Whether a process comes from the leader; what was found out on the way is kept.
    fn descends(&self, pid: i32, leader: i32, known: &mut HashMap<i32, bool>) -> bool {
        let mut way = Vec::new();
        let mut at = pid;
        let answer = loop {
            if let Some(answer) = known.get(&at) {
                break *answer;
            }
            way.push(at);
            // The table was not read in one moment, so it may have a circle.
            match self.all.get(&at) {
                Some(stat) if at != leader && way.len() <= self.all.len() => at = stat.parent,
                _ => break false,
            }
        };
        known.extend(way.into_iter().map(|pid| (pid, answer)));
        answer
    }
}

impl Stat {
    /// Whether the environment that a process was started with has the tag.
    fn carries(&self, pid: i32, tag: &[u8]) -> bool {
        self.tag.get_or_init(|| tag_of(pid)).as_deref() == Some(tag)
    }
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
    let is_alive = !matches!(state, "Z" | "X");
    Some(Stat { is_alive, parent, group, session, started, tag: OnceLock::new() })
}

/// The value of the tag in the environment that a process was started with.
pub(super) fn tag_of(pid: i32) -> Option<Vec<u8>> {
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = environ.split(|byte| *byte == 0);
    entries.find_map(|entry| Some(entry.strip_prefix(TAG.as_bytes())?.strip_prefix(b"=")?.to_vec()))
}

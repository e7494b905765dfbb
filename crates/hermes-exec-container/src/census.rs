//! Who runs in a container, and which of them belong to a command.

use std::collections::{HashMap, HashSet};

/// The process that leads a command, in the container's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leader {
    pub(crate) pid: u32,
    /// When it started, in the kernel's ticks: another process of that number isn't it.
    pub(crate) started: Option<u64>,
}

/// A command that is to be ended with everything it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doomed {
    /// None where it isn't known whether it began.
    pub(crate) leader: Option<Leader>,
    /// What all of its processes have in their environment.
    pub(crate) tag: String,
}

/// A process of the container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Whether it has one of the tags that were asked about.
    is_tagged: bool,
    is_alive: bool,
    parent: u32,
    group: u32,
    session: u32,
    started: u64,
}

impl Process {
    /// From its entry `stat` in `/proc`. Its name, in parentheses, may be anything.
    fn read(entry: &str) -> Option<Self> {
        let (pid, rest) = entry.split_once(" (")?;
        let (_, fields) = rest.rsplit_once(") ")?;
        let mut words = fields.split_ascii_whitespace();
        let is_alive = !matches!(words.next()?, "Z" | "X" | "x");
        // A group or session of another namespace is 0.
        let mut number = || words.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        // Fields 7 to 21 lie between.
        let started = words.nth(15)?.parse().ok()?;
        let pid = pid.parse().ok()?;
        Some(Self { pid, is_tagged: false, is_alive, parent, group, session, started })
    }

    /// One of which only its tag was seen: it was just being started.
    fn newborn(pid: u32) -> Self {
        let (parent, group, session, started) = (0, 0, 0, 0);
        Self { pid, is_tagged: true, is_alive: true, parent, group, session, started }
    }
}

/// The processes of an answer to `look` of [`SURVEY`](crate::ending::SURVEY).
pub(crate) fn read(answer: &str) -> Vec<Process> {
    /// Lines that an entry may have: a name has 15 bytes, and they may be line ends.
    const LINES: u32 = 16;
    let (tagged, entries) = answer.split_once("\n-\n").unwrap_or(("", answer));
    let number = |line: &str| line.strip_prefix("/proc/")?.split('/').next()?.parse().ok();
    let mut tagged: HashSet<u32> = tagged.lines().filter_map(number).collect();
    let mut all = Vec::new();
    let mut entry = String::new();
    let mut lines = 0;
    for line in entries.lines() {
        if lines > 0 {
            entry.push('\n');
        }
        entry.push_str(line);
        lines += 1;
        if let Some(mut process) = Process::read(&entry) {
            process.is_tagged = tagged.remove(&process.pid);
            all.push(process);
        } else if lines < LINES && !entry.is_empty() {
            continue;
        }
        entry.clear();
        lines = 0;
    }
    all.extend(tagged.into_iter().map(Process::newborn));
    all
}

/// Who of all of them belongs to one of the doomed commands and still does something.
pub(crate) fn members(all: &[Process], doomed: &[Doomed]) -> Vec<u32> {
    let by_pid: HashMap<u32, &Process> = all.iter().map(|process| (process.pid, process)).collect();
    let is_itself = |leader: &Leader| match (by_pid.get(&leader.pid), leader.started) {
        (Some(now), Some(then)) => now.started == then,
        _ => true,
    };
    let leaders: Vec<Leader> = doomed.iter().filter_map(|it| it.leader).filter(is_itself).collect();
    let numbers: HashSet<u32> = leaders.iter().map(|leader| leader.pid).collect();
    let is_root = |process: &&Process| {
        numbers.contains(&process.pid)
            || numbers.contains(&process.group)
            || numbers.contains(&process.session)
            || process.is_tagged
    };
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let mut found: HashSet<u32> = HashSet::new();
    let mut next: Vec<u32> = all.iter().filter(is_root).map(|process| process.pid).collect();
    while let Some(pid) = next.pop() {
        // The first process is the container itself.
        if pid > 1 && found.insert(pid) {
            next.extend(children.get(&pid).into_iter().flatten());
        }
    }
    let is_alive = |pid: &u32| by_pid.get(pid).is_some_and(|process| process.is_alive);
    let mut members: Vec<u32> = found.into_iter().filter(is_alive).collect();
    members.sort_unstable();
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn process(pid: u32, tag: &str, state: &str, tree: [u32; 3], started: u64) -> Process {
        let [parent, group, session] = tree;
        let fill = "0 ".repeat(15);
        let entry = format!("{pid} (n) {state} {parent} {group} {session} {fill}{started} 1 2");
        Process { is_tagged: tag == "t", ..Process::read(&entry).unwrap() }
    }

    #[test]
    fn members_are_found_by_every_trace() {
        let mut all = [
            process(1, "-", "S", [0, 1, 1], 1),
            process(7, "-", "S", [1, 1, 1], 1),
            process(20, "-", "S", [0, 20, 20], 50),
            process(21, "-", "S", [20, 20, 20], 51),
            process(22, "-", "Z", [20, 22, 20], 51),
            // It left the group and the session, and was adopted.
            process(23, "t", "S", [1, 23, 23], 52),
            // Its environment is gone, but not its parent.
            process(24, "-", "S", [23, 24, 24], 53),
            process(30, "-", "S", [0, 30, 30], 60),
        ];
        let leader = Some(Leader { pid: 20, started: Some(50) });
        let doomed = |leader| [Doomed { leader, tag: "t".into() }];
        assert_eq!(members(&all, &doomed(leader)), [20, 21, 23, 24]);
        assert_eq!(members(&all, &doomed(None)), [23, 24]);
        all[5].is_tagged = false;
        let recycled = Some(Leader { pid: 30, started: Some(2) });
        assert_eq!(members(&all, &doomed(recycled)), [0u32; 0]);
        let gone = Some(Leader { pid: 99, started: Some(2) });
        assert_eq!(members(&all, &doomed(gone)), [0u32; 0]);
    }

    #[test]
    fn the_container_itself_is_never_a_member() {
        let all = [process(1, "t", "S", [0, 1, 1], 1), process(2, "-", "S", [2, 1, 1], 1)];
        let doomed = [Doomed { leader: None, tag: "t".into() }];
        assert_eq!(members(&all, &doomed), [0u32; 0]);
    }

    #[test]
    fn entries() {
        let entry = |pid: u32, name: &str| {
            format!("{pid} ({name}) S 1 {pid} {pid} {}77 1 2\n", "0 ".repeat(15))
        };
        let entries =
            [entry(5, "a"), entry(6, "b) S 1\n7 (c"), entry(8, "\n\n"), entry(9, "-\n-\n-")];
        let answer = format!("\n/proc/6/environ\n/proc/40/environ\n-\n{}", entries.concat());
        let found: Vec<_> = read(&answer).iter().map(|it| (it.pid, it.is_tagged)).collect();
        assert_eq!(found, [(5, false), (6, true), (8, false), (9, false), (40, true)]);
        for nothing in ["", "\n-\n", "12", "3 (x) S 1 1 1 0", "\n-\nx (y) S 1 1 1"] {
            assert_eq!(read(nothing), [], "{nothing}");
        }
        // One that makes no sense hides no others for long.
        let answer = format!("\n-\n{}{}", "x\n".repeat(16), entry(5, "a"));
        assert_eq!(read(&answer).len(), 1);
    }
}

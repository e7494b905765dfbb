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
    /// Which of the tags that were asked about it has.
    tag: Option<String>,
    is_alive: bool,
    parent: u32,
    group: u32,
    session: u32,
    started: u64,
}

impl Process {
    /// From a line of [`SURVEY`](crate::ending::SURVEY): its number, its tag or `-`, and its line
    /// in `/proc` from the state on.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let pid = words.next()?.parse().ok()?;
        let tag = words.next().filter(|tag| *tag != "-").map(str::to_owned);
        let is_alive = !matches!(words.next()?, "Z" | "X" | "x");
        // A group or session of another namespace is 0.
        let mut number = || words.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        // Fields 7 to 21 lie between.
        let started = words.nth(15)?.parse().ok()?;
        Some(Self { pid, tag, is_alive, parent, group, session, started })
    }
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
    let tags: HashSet<&str> = doomed.iter().map(|it| it.tag.as_str()).collect();
    let is_root = |process: &&Process| {
        numbers.contains(&process.pid)
            || numbers.contains(&process.group)
            || numbers.contains(&process.session)
            || process.tag.as_deref().is_some_and(|tag| tags.contains(tag))
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
        let line = format!("{pid} {tag} {state} {parent} {group} {session} {fill}{started} 1 2");
        Process::read(&line).unwrap()
    }

    #[test]
    fn members_are_found_by_every_trace() {
        let all = [
            process(1, "-", "S", [0, 1, 1], 1),
            process(7, "-", "S", [1, 1, 1], 1),
            process(20, "-", "S", [0, 20, 20], 50),
            process(21, "-", "S", [20, 20, 20], 51),
            process(22, "-", "Z", [20, 22, 20], 51),
            // It left the group and the session, and was adopted.
            process(23, "t", "S", [1, 23, 23], 52),
            // Its environment is gone, but not its parent.
            process(24, "-", "S", [23, 24, 24], 53),
            process(30, "other", "S", [0, 30, 30], 60),
        ];
        let leader = Some(Leader { pid: 20, started: Some(50) });
        let doomed = |leader, tag: &str| [Doomed { leader, tag: tag.into() }];
        assert_eq!(members(&all, &doomed(leader, "t")), [20, 21, 23, 24]);
        assert_eq!(members(&all, &doomed(None, "t")), [23, 24]);
        let recycled = Some(Leader { pid: 30, started: Some(2) });
        assert_eq!(members(&all, &doomed(recycled, "x")), [0u32; 0]);
        let gone = Some(Leader { pid: 99, started: Some(2) });
        assert_eq!(members(&all, &doomed(gone, "x")), [0u32; 0]);
    }

    #[test]
    fn the_container_itself_is_never_a_member() {
        let all = [process(1, "t", "S", [0, 1, 1], 1), process(2, "-", "S", [2, 1, 1], 1)];
        let doomed = [Doomed { leader: None, tag: "t".into() }];
        assert_eq!(members(&all, &doomed), [0u32; 0]);
    }

    #[test]
    fn lines_that_are_none() {
        for line in ["", "12", "x - S 1 1 1", "3 - S 1 1 1 0"] {
            assert_eq!(Process::read(line), None, "{line}");
        }
    }
}

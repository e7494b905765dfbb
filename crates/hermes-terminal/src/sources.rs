//! Which commands of a script its exit code comes from.

use hermes_command::outline::{Command, Kind, Part};

/// A command or a block.
#[derive(Clone, Copy)]
enum Element {
    Command(usize),
    Block {
        open: usize,
        close: usize,
    },
    /// Either what stands before `||` or what stands after it.
    Either,
}

/// What is made of loops and of `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loops {
    /// The code comes from the last round, and from the last command, as it is when it is no 0.
    LastRound,
    /// What the rounds before gave isn't known, nor which command of `a || b` was the last.
    Unknown,
}

/// The commands that the exit code of a script may come from, the last one first; None if it can't
/// be said.
pub(crate) fn sources(parts: &[Part], loops: Loops) -> Option<Vec<&Command>> {
    let closes = closes(parts);
    let rules = Rules::of(parts);
    let mut found = Vec::new();
    let mut waiting = last_list(parts, (0, parts.len()), &closes, (rules, loops));
    while let Some(element) = waiting.pop() {
        match element {
            Element::Either => return None,
            Element::Command(at) => match parts.get(at) {
                Some(Part::Command(command)) => found.push(command),
                _ => return None,
            },
            Element::Block { open, close } => match parts.get(open) {
                Some(Part::Open(Kind::Loop)) if loops == Loops::Unknown => return None,
                Some(Part::Open(Kind::Group | Kind::Subshell | Kind::Loop)) => {
                    waiting.extend(last_list(parts, (open + 1, close), &closes, (rules, loops)));
                }
                // To define a function gives no error.
                Some(Part::Open(Kind::Function)) => {}
                _ => return None,
            },
        }
    }
    Some(found)
}

/// Options of the shell that make more commands count.
#[derive(Clone, Copy)]
struct Rules {
    /// `set -e`: any command may be the last.
    all_count: bool,
    /// `set -o pipefail`: each command of a pipeline counts.
    pipes_count: bool,
}

impl Rules {
    fn of(parts: &[Part]) -> Self {
        let mut rules = Self { all_count: false, pipes_count: false };
        for part in parts {
            let Part::Command(command) = part else { continue };
            let Some((first, args)) = command.words.split_first() else { continue };
            if first.text != "set" {
                continue;
            }
            for arg in args {
                let letters = arg.text.strip_prefix('-').unwrap_or_default();
                rules.all_count |= letters.contains('e') || arg.text == "errexit";
                rules.pipes_count |= arg.text == "pipefail";
            }
        }
        rules
    }
}

/// Of each opened block where it is closed.
fn closes(parts: &[Part]) -> Vec<usize> {
    let mut closes = vec![parts.len(); parts.len()];
    let mut open = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Open(_) => open.push(at),
            Part::Close => {
                if let Some(close) = open.pop().and_then(|at| closes.get_mut(at)) {
                    *close = at;
                }
            }
            _ => {}
        }
    }
    closes
}

/// What the code of the last list in a range may come from.
fn last_list(
    parts: &[Part],
    (start, end): (usize, usize),
    closes: &[usize],
    (rules, loops): (Rules, Loops),
) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let mut current = None;
    let mut is_ended = false;
    // `set -e` doesn't look at what stands before `&&`.
    let (mut has_and, mut is_unseen) = (false, false);
    let mut at = start;
    while at < end {
        let Some(part) = parts.get(at) else { break };
        let element = match part {
            Part::Command(_) => Some(Element::Command(at)),
            Part::Open(_) => {
                let close = closes.get(at).copied().unwrap_or(end);
                let block = Element::Block { open: at, close };
                at = close;
                Some(block)
            }
            _ => None,
        };
        if let Some(element) = element {
            if std::mem::take(&mut is_ended) {
                found.clear();
            }
            if std::mem::take(&mut is_unseen) {
                found.push(Element::Either);
            }
            current = Some(element);
        }
        match part {
            Part::And => {
                found.extend(current.take());
                has_and = true;
            }
            Part::Pipe if rules.pipes_count => found.extend(current.take()),
            Part::Or => {
                found.clear();
                current = None;
                if loops == Loops::Unknown {
                    found.push(Element::Either);
                }
            }
            Part::End => {
                found.extend(current.take());
                is_ended = !rules.all_count;
                let was_and = std::mem::take(&mut has_and);
                is_unseen |= rules.all_count && loops == Loops::Unknown && was_and;
            }
            Part::Background => {
                found.clear();
                current = None;
            }
            _ => {}
        }
        at += 1;
    }
    found.extend(current);
    found
}

//! Commands that don't belong into the foreground.

use std::fmt;

use hermes_command::outline::{Command, Kind, Outline, Part, Script, outline};

use crate::program::{Program, program};
use crate::servers::is_server;

/// Longest command that is looked into, in bytes.
const MOST: usize = 256 * 1024;

/// Why a command doesn't belong into the foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForegroundKind {
    /// `nohup`, `disown` or `setsid`.
    Wrapper,
    /// `&` without a `wait`.
    Ampersand,
    /// A program that doesn't end by itself.
    Server,
}

impl ForegroundKind {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrapper => "wrapper",
            Self::Ampersand => "amp",
            Self::Server => "server",
        }
    }
}

/// A command that doesn't belong into the foreground. Its text is meant for the model: it says what
/// to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForegroundIssue {
    /// Why.
    pub kind: ForegroundKind,
    /// The part of the command that it is about, as it is written.
    pub part: String,
}

impl fmt::Display for ForegroundIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = &self.part;
        match self.kind {
            ForegroundKind::Wrapper => write!(
                f,
                "`{part}` leaves a process behind that nothing watches. Run the program itself with \
                 background=true, without nohup, setsid or disown, and look at it with the process \
                 tool.",
            ),
            ForegroundKind::Ampersand => write!(
                f,
                "`{part}` goes into the background of a foreground command, where nothing watches \
                 it. Run it in a call of its own with background=true and without `&`, then the \
                 rest; or let the command end with `wait`.",
            ),
            ForegroundKind::Server => write!(
                f,
                "`{part}` doesn't end by itself. Run it with background=true, then check in further \
                 calls whether it is ready; or bound it with `timeout`.",
            ),
        }
    }
}

/// What in a command doesn't belong into the foreground, if something does: programs that detach
/// themselves, background jobs that nothing waits for, and servers.
///
/// Only programs count, and not words in quotes, comments or here-documents. What only shows help
/// may run, and so may a server under `timeout`.
///
/// ```
/// use hermes_terminal::{ForegroundKind, foreground_check};
///
/// let kind = |command: &str| foreground_check(command).map(|it| it.kind);
/// assert_eq!(kind("cd app && npm run dev"), Some(ForegroundKind::Server));
/// assert_eq!(kind("./server&"), Some(ForegroundKind::Ampersand));
/// assert_eq!(kind("sleep 5 & wait"), None);
/// assert_eq!(kind("pip install uvicorn"), None);
/// ```
#[must_use]
pub fn foreground_check(command: &str) -> Option<ForegroundIssue> {
    if command.len() > MOST {
        return None;
    }
    let outline = outline(command);
    let issue = |kind, of: &Command| {
        let part = command.get(of.span.clone()).unwrap_or_default();
        let part = part.lines().next().unwrap_or_default().chars().take(80).collect();
        ForegroundIssue { kind, part }
    };
    let find = |test: fn(&Command, &Program<'_>) -> bool| {
        commands(&outline).find(|it| program(it).is_some_and(|program| test(it, &program)))
    };
    if let Some(command) = find(detaches) {
        return Some(issue(ForegroundKind::Wrapper, command));
    }
    if let Some(command) = outline.scripts.iter().find_map(left_behind) {
        return Some(issue(ForegroundKind::Ampersand, command));
    }
    find(serves).map(|command| issue(ForegroundKind::Server, command))
}

fn commands(outline: &Outline) -> impl Iterator<Item = &Command> {
    outline.scripts.iter().flat_map(|script| &script.parts).filter_map(|part| match part {
        Part::Command(command) if !command.is_test => Some(command),
        _ => None,
    })
}

fn detaches(command: &Command, program: &Program<'_>) -> bool {
    let mut wrappers = program.wrappers.iter();
    let is_wrapped = !is_bounded(program) && wrappers.any(|it| matches!(*it, "nohup" | "setsid"));
    (program.name == "disown" || is_wrapped) && !asks_for_help(command)
}

fn serves(command: &Command, program: &Program<'_>) -> bool {
    is_server(program.name, program.args) && !is_bounded(program) && !asks_for_help(command)
}

/// Whether `timeout` ends it.
fn is_bounded(program: &Program<'_>) -> bool {
    program.wrappers.iter().any(|it| matches!(*it, "timeout" | "gtimeout"))
}

fn asks_for_help(command: &Command) -> bool {
    let args = command.words.get(1..).unwrap_or_default();
    args.iter().any(|it| matches!(it.text.as_str(), "--help" | "--version"))
        || args.last().is_some_and(|it| matches!(it.text.as_str(), "-h" | "-v"))
}

/// A shell of its own, with its background jobs.
#[derive(Default)]
struct Shell<'a> {
    /// The jobs that nothing has waited for yet, by their last command.
    jobs: Vec<&'a Command>,
    /// Loops around the current place.
    loops: usize,
}

/// The command of a background job that nothing waits for.
fn left_behind(script: &Script) -> Option<&Command> {
    let mut shells = vec![Shell::default()];
    let mut blocks = Vec::new();
    let mut last: Option<&Command> = None;
    let mut before = None;
    let mut parts = script.parts.iter().peekable();
    while let Some(part) = parts.next() {
        let shell = shells.last_mut()?;
        match part {
            Part::Open(kind) => {
                blocks.push(*kind);
                match kind {
                    Kind::Subshell => shells.push(Shell::default()),
                    Kind::Loop => shell.loops += 1,
                    _ => {}
                }
            }
            Part::Close => match blocks.pop() {
                // What waits outside of a subshell can't wait for its jobs.
                Some(Kind::Subshell) => {
                    if let Some(job) = shell.jobs.first() {
                        return Some(job);
                    }
                    shells.pop();
                }
                Some(Kind::Loop) => shell.loops = shell.loops.saturating_sub(1),
                _ => {}
            },
            Part::Background => {
                shell.jobs.extend(last.filter(|it| !asks_for_help(it)));
            }
            Part::Command(command) => {
                let is_piped = before == Some(&Part::Pipe) || parts.peek() == Some(&&Part::Pipe);
                if !is_piped {
                    shell.wait(command);
                }
                last = Some(command);
            }
            _ => {}
        }
        before = Some(part);
    }
    shells.first()?.jobs.first().copied()
}

impl Shell<'_> {
    /// Takes off the jobs that a command waits for.
    fn wait(&mut self, command: &Command) {
        let Some((first, args)) = command.words.split_first() else { return };
        if first.text != "wait" {
            return;
        }
        let names = args.iter().filter(|it| !it.text.starts_with('-')).count();
        let waits_for_one = args.iter().any(|it| it.text == "-n");
        let all = self.jobs.len();
        let count = match names {
            _ if self.loops > 0 => all,
            0 if waits_for_one => 1,
            0 => all,
            names => names,
        };
        self.jobs.drain(..count.min(all));
    }
}

#[cfg(test)]
#[path = "foreground_tests.rs"]
mod tests;

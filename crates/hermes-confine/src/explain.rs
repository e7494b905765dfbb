//! Telling a refusal of the sandbox from other failures.

mod words;

use std::path::{Component, Path, PathBuf};

use crate::kernel;
use crate::report::{Filesystem, Mechanism, Network, Report};
use crate::rules::{Rules, Verdict, nearest};
use words::{Fault, Refusal, refusal};

const PRIVILEGES: &str = "Inside of the sandbox nobody gains privileges: sudo and su can't work. Do \
     it without them, or ask the user to run this.";

const NETWORK: &str = "The sandbox refused the network: commands run without one. Use what is on \
     this machine, or ask the user to allow the network.";

const LOOPBACK: &str = "Inside of the sandbox a command has a loopback network of its own: it \
     reaches servers that it started itself, and none outside of it. Start the server in the same \
     command, or ask the user to allow the network.";

const ARCHITECTURE: &str = "The sandbox ended a program for its system calls: without a network \
     only programs of this machine's own architecture can run, not 32-bit ones. Ask the user to \
     allow the network for this.";

/// How much of the end of an output is looked at, in bytes. Errors come last.
const LOOKED_AT: usize = 32 * 1024;

/// The exit code of a shell whose program couldn't be executed: a mode is missing, as a rule.
const NOT_EXECUTABLE: i32 = 126;

/// The exit code of a shell whose program was ended for a system call (SIGSYS).
const BAD_CALL: i32 = 128 + 31;

/// What the sandbox refused, according to an output, and what to do about it.
pub(crate) fn explain(
    rules: &Rules,
    report: &Report,
    output: &str,
    exit_code: i32,
    cwd: &Path,
) -> Option<String> {
    if exit_code == 0 || report.mechanism == Mechanism::None {
        return None;
    }
    let output = end(output);
    if report.mechanism == Mechanism::Bubblewrap
        && exit_code == 1
        && let Some(fault) = output.lines().rev().find_map(|line| line.strip_prefix("bwrap: "))
    {
        return Some(format!(
            "The sandbox could not be set up, so the command may not have run ({fault}). Try \
             again; if it stays so, tell the user."
        ));
    }
    let is_blocked = report.network != Network::Open;
    for line in output.lines().rev() {
        let explained = match refusal(line, output) {
            Some(Refusal::Privileges) => Some(PRIVILEGES.to_owned()),
            Some(Refusal::Loopback) if is_blocked && report.mechanism == Mechanism::Bubblewrap => {
                Some(LOOPBACK.to_owned())
            }
            Some(Refusal::Network | Refusal::Loopback) if is_blocked => Some(NETWORK.to_owned()),
            Some(Refusal::File(fault)) if report.filesystem != Filesystem::Open => {
                file(rules, report.mechanism, fault, line, exit_code, cwd)
            }
            _ => None,
        };
        if explained.is_some() {
            return explained;
        }
    }
    (exit_code == BAD_CALL && is_blocked).then(|| ARCHITECTURE.to_owned())
}

/// The end of a text, from a whole line on.
fn end(output: &str) -> &str {
    let mut from = output.len().saturating_sub(LOOKED_AT);
    if from == 0 {
        return output;
    }
    while !output.is_char_boundary(from) {
        from += 1;
    }
    let end = output.get(from..).unwrap_or_default();
    end.split_once('\n').map_or(end, |(_, rest)| rest)
}

/// Says which path of a line the rules close, if one is and the fault is what they cause.
fn file(
    rules: &Rules,
    mechanism: Mechanism,
    fault: Fault,
    line: &str,
    exit_code: i32,
    cwd: &Path,
) -> Option<String> {
    let by_mount = mechanism == Mechanism::Bubblewrap;
    // Something else's mode forbids to run it, as a rule.
    let may_be_outside = match fault {
        Fault::ReadOnly => by_mount,
        Fault::Denied => !by_mount && exit_code != NOT_EXECUTABLE,
        Fault::OtherDevice => true,
        Fault::Busy => false,
    };
    for word in words::paths(line) {
        let path = normal(&cwd.join(word));
        match rules.about(&path) {
            Verdict::Hidden if by_mount && fault != Fault::OtherDevice => {
                return Some(format!(
                    "The sandbox hides {word}: it can't be read or changed. Do without it, or ask \
                     the user."
                ));
            }
            Verdict::Protected if by_mount && fault != Fault::Denied => {
                return Some(format!(
                    "The sandbox protects {word} from changes, since it is used later outside of \
                     the sandbox. Leave it as it is, or ask the user to change it."
                ));
            }
            Verdict::Outside if may_be_outside && is_ours(&path) => {
                return Some(format!(
                    "The sandbox refused to change {word}: {}. Write there instead, or ask the \
                     user to allow that place.",
                    allowed(rules)
                ));
            }
            _ => {}
        }
    }
    None
}

/// Where commands may write, in words.
fn allowed(rules: &Rules) -> String {
    // The first ones are the working directory and the like.
    const NAMED: usize = 6;
    let mut names: Vec<String> =
        rules.writable.iter().take(NAMED).map(|it| it.display().to_string()).collect();
    if rules.writable.len() > NAMED {
        names.push("some other places".to_owned());
    }
    match names.as_slice() {
        [] => "commands may not write anywhere".to_owned(),
        names => format!("commands may write only below {}", names.join(", ")),
    }
}

/// Whether we could change it, so that it is the sandbox that refused.
fn is_ours(path: &Path) -> bool {
    let path = nearest(path);
    // Kernel tables and devices have rules of their own.
    if ["/proc", "/sys", "/dev"].iter().any(|it| path.starts_with(it)) {
        return false;
    }
    let Some(there) = path.ancestors().find(|it| it.exists()) else { return false };
    // To replace what is there its folder must be writable, to change it the thing itself.
    let folder = path.parent().filter(|_| there == path);
    kernel::may_write(there) || folder.is_some_and(kernel::may_write)
}

/// The path without `.` and `..`, as far as its words say.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests;

//! What an exit code means that looks like an error and may be none.

use hermes_command::outline::{Command, Word, outline};

use crate::program::{Program, after_options, program};
use crate::sources::{Loops, sources};

/// Longest command that is looked into, in bytes.
const MOST: usize = 256 * 1024;

/// A note on the exit code of a command, in one sentence or two: when it is no error, or when its
/// cause is not in the output.
///
/// It is about the command that the code comes from: the last one of the last pipeline. In
/// `a && b` it may be either; then there is a note only if it is the same for both.
///
/// ```
/// use hermes_terminal::exit_note;
///
/// assert!(exit_note("cat f | grep 'a|b'", 1).unwrap().contains("No lines"));
/// assert!(exit_note("make test", 1).is_none());
/// assert!(exit_note("make test", 137).unwrap().contains("signal 9"));
/// ```
#[must_use]
pub fn exit_note(command: &str, exit_code: i32) -> Option<String> {
    if exit_code == 0 {
        return None;
    }
    specific(command, exit_code).map(str::to_owned).or_else(|| general(exit_code))
}

/// What a code means whatever the program.
fn general(exit_code: i32) -> Option<String> {
    const NAMES: [&str; 15] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM",
    ];
    match exit_code {
        126 => Some("The program was found, but it can't be executed.".to_owned()),
        // Of one that the command starts by way of another the command doesn't tell.
        127 => Some(
            "A program was not found, or a variable that must have a value has none (`set -u`, \
             `${NAME:?}`): the output says which."
                .to_owned(),
        ),
        129..=192 => {
            let signal = exit_code - 128;
            let name = usize::try_from(signal - 1).ok().and_then(|it| NAMES.get(it));
            let name = name.map_or_else(String::new, |name| format!(" (SIG{name})"));
            let cause = match signal {
                9 => " Often the system had no memory left.",
                13 => " What read its output ended first.",
                _ => "",
            };
            Some(format!("Killed by signal {signal}{name}.{cause}"))
        }
        _ => None,
    }
}

/// What a code means for the programs that it may come from, if it is the same for all.
fn specific(command: &str, exit_code: i32) -> Option<&'static str> {
    if command.len() > MOST {
        return None;
    }
    let outline = outline(command);
    let parts = outline.scripts.first()?.parts.as_slice();
    let mut found = None;
    for command in sources(parts, Loops::LastRound)? {
        let program = program(command);
        if program.as_ref().is_some_and(|it| cannot_give(it.name, exit_code)) {
            continue;
        }
        let note = note(command, program.as_ref(), exit_code)?;
        if found.is_some_and(|found| found != note) {
            return None;
        }
        found = Some(note);
    }
    found
}

/// Programs that never fail, and those that only fail with small codes.
fn cannot_give(name: &str, exit_code: i32) -> bool {
    match name {
        "true" | ":" | "echo" | "pwd" => true,
        "cd" | "mkdir" | "rm" | "cp" | "mv" | "ln" | "touch" | "cat" | "ls" | "export" | "set" => {
            exit_code > 2
        }
        _ => false,
    }
}

fn note(command: &Command, program: Option<&Program<'_>>, exit_code: i32) -> Option<&'static str> {
    if command.is_negated {
        return None;
    }
    let is_false = (exit_code == 1).then_some("The condition is false. This is no error.");
    if command.is_test {
        return is_false;
    }
    let program = program?;
    if exit_code == 124 && program.wrappers.iter().any(|it| matches!(*it, "timeout" | "gtimeout")) {
        return Some("`timeout` ended the program: its time was over.");
    }
    match (program.name, exit_code) {
        (
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "zegrep" | "zfgrep"
            | "bzgrep" | "xzgrep" | "zstdgrep",
            1,
        ) => Some("No lines matched. This is no error."),
        ("diff" | "colordiff" | "cmp" | "zdiff" | "zcmp", 1) => {
            Some("The files differ. This is no error.")
        }
        ("find", 1) => Some("Some directories could not be read; the other results are valid."),
        ("test" | "[", 1) => is_false,
        ("pgrep", 1) => Some("No process matched. This is no error."),
        ("xargs", 123) => Some("At least one of the programs that `xargs` ran gave an error code."),
        ("curl", 6) => Some("The name of the host could not be resolved."),
        ("curl", 7) => Some("The host could not be connected to."),
        ("curl", 22) => Some("The server answered with an HTTP error (400 or above)."),
        ("curl", 28) => Some("The request took too long."),
        ("git", 1) => git(program.args),
        _ => None,
    }
}

fn git(args: &[Word]) -> Option<&'static str> {
    let names = ["git-dir", "work-tree", "namespace", "config-env", "exec-path"];
    let (command, args) = after_options(args, "Cc", &names).split_first()?;
    let has = |names: &[&str]| args.iter().any(|it| names.contains(&it.text.as_str()));
    match command.text.as_str() {
        "diff" if has(&["--exit-code", "--quiet", "--no-index"]) => {
            Some("There are differences. This is no error.")
        }
        "grep" => Some("No lines matched. This is no error."),
        "merge-base" if has(&["--is-ancestor"]) => {
            Some("The first commit is no ancestor of the second. This is no error.")
        }
        "config" if has(&["--get", "--get-all", "--get-regexp"]) => {
            Some("The setting is not set. This is no error.")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes() {
        for (command, exit_code, is_noted) in [
            ("grep needle hay.txt", 1, true),
            ("cat f | grep x", 1, true),
            ("grep x f | wc -l", 1, false),
            ("/usr/bin/rg foo src", 1, true),
            ("LC_ALL=C diff a b", 1, true),
            ("grep x f", 0, false),
            ("grep x f", 2, false),
            ("curl -sf https://x.example", 22, true),
            ("curl https://x.example", 28, true),
            ("curl https://x.example", 3, false),
            ("find / -name x", 1, true),
            ("git diff --exit-code", 1, true),
            ("git -C /x --no-pager diff --quiet", 1, true),
            ("git diff", 1, false),
            ("git grep x", 1, true),
            ("git config --get user.name", 1, true),
            ("git push origin main", 1, false),
            ("git commit -m 'grep x'", 1, false),
            ("cd /x; grep y z", 1, true),
            ("cd /x\ngrep y z\n", 1, true),
            ("grep 'a|b' f", 1, true),
            ("grep -E \"foo || bar\" f", 1, true),
            ("echo 'a|grep b'", 1, false),
            ("sudo -u bob grep x f", 1, true),
            ("time grep x f", 1, true),
            ("env A=1 grep x f", 1, true),
            ("timeout 5 grep x f", 1, true),
            ("timeout 5 make", 124, true),
            ("make", 124, false),
            ("(grep x f)", 1, true),
            ("(cd /x; grep y z)", 1, true),
            ("{ grep x f; }", 1, true),
            ("for f in *; do grep x $f; done", 1, true),
            ("if a; then grep x f; fi", 1, false),
            ("cmp a b", 1, true),
            ("pgrep x", 1, true),
            ("xargs rm < l", 123, true),
            ("test -f x", 1, true),
            ("[ -f x ]", 1, true),
            ("[[ -f x ]]", 1, true),
            ("make", 1, false),
            ("make", 126, true),
            ("make", 127, true),
            ("make", 137, true),
            ("make", 139, true),
            ("make", 255, false),
            ("if make; then a; fi", 127, true),
            ("make && grep x f", 1, false),
            ("grep a f && grep b f", 1, true),
            ("grep a f && diff a b", 1, false),
            ("echo a && grep b f", 1, true),
            ("cd x && curl y", 28, true),
            ("cd x && grep y z", 1, false),
            ("make || grep x f", 1, true),
            ("grep x f || make", 1, false),
            ("grep x f &", 1, false),
            ("! grep x f", 1, false),
            ("set -e; make; grep x f", 1, false),
            ("set -o pipefail; make | grep x", 1, false),
            ("grep x f # and so on", 1, true),
            ("grep x <<E\ngrep\nE", 1, true),
            ("f() { grep x y; }", 1, false),
            ("", 1, false),
        ] {
            assert_eq!(exit_note(command, exit_code).is_some(), is_noted, "{command} {exit_code}");
        }
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(exit_note("x", 143).unwrap(), "Killed by signal 15 (SIGTERM).");
        assert_eq!(exit_note("x", 192).unwrap(), "Killed by signal 64.");
        assert!(exit_note("x", i32::MIN).is_none());
    }
}

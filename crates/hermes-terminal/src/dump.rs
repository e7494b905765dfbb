//! Commands whose output may be a list of the environment.

use hermes_command::outline::{Command, Part, Word, outline};
use hermes_command::{Ctx, classify};

use crate::program::{Program, after_options, is_assignment, program};

/// Longest command that is looked into, in bytes. A longer one is taken for a dump.
const MOST: usize = 256 * 1024;

/// Whether a command prints the environment, in which secrets may stand under any name: its output
/// is to be masked by the names of settings too.
///
/// ```
/// use hermes_terminal::is_env_dump;
///
/// assert!(is_env_dump("cd x && FOO=1 sudo env"));
/// assert!(!is_env_dump("env FOO=1 make; set -e"));
/// ```
#[must_use]
pub fn is_env_dump(command: &str) -> bool {
    if command.len() > MOST {
        return true;
    }
    // What is run by another command: `bash -c env`.
    let nowhere = Ctx {
        cwd: "/".to_owned(),
        home: "/root".to_owned(),
        hermes_home: "/root/.hermes".to_owned(),
        env: Vec::new(),
    };
    if classify(command, &nowhere).env_dump {
        return true;
    }
    let outline = outline(command);
    let mut parts = outline.scripts.iter().flat_map(|script| &script.parts);
    parts.any(|part| match part {
        Part::Command(command) => !command.is_test && prints(command),
        _ => false,
    })
}

fn prints(command: &Command) -> bool {
    let reads_environment =
        |word: &Word| word.text.strip_prefix("/proc/").is_some_and(|it| it.ends_with("/environ"));
    if command.words.iter().any(reads_environment) {
        return true;
    }
    let Some(Program { name, args, .. }) = program(command) else { return false };
    let operands = || args.iter().filter(|it| !it.text.starts_with(['-', '+']));
    let has = |letter: char| {
        let mut options = args.iter().filter(|it| !it.text.starts_with("--"));
        options.any(|it| it.text.strip_prefix('-').is_some_and(|it| it.contains(letter)))
    };
    match name {
        "printenv" => true,
        // With a program it would have been taken for a wrapper.
        "env" => after_options(args, "uCS", &["unset", "chdir", "split-string"])
            .iter()
            .all(|it| is_assignment(&it.text)),
        "set" => args.is_empty(),
        "export" | "readonly" => args.is_empty() || has('p'),
        "declare" | "typeset" => {
            has('p') || (operands().next().is_none() && !has('f') && !has('F'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps() {
        for command in [
            "env",
            "printenv",
            "cd x && printenv PATH",
            "FOO=1 env",
            "env FOO=1",
            "env -0 | sort",
            "sudo env",
            "sudo -u bob -E env",
            "/usr/bin/env",
            "set",
            "set | grep KEY",
            "export",
            "export -p",
            "declare -p",
            "declare -x",
            "declare",
            "typeset -p X",
            "echo $(env)",
            "(env)",
            "if true; then env; fi",
            "cat /proc/self/environ",
            "timeout 5 env",
            "bash -c env",
        ] {
            assert!(is_env_dump(command), "{command}");
        }
        for command in [
            "cat .env",
            "echo env",
            "env X=1 cmd",
            "env -i cmd",
            "set -e",
            "set -euo pipefail; make",
            "set +x",
            "export FOO=1",
            "declare -A map",
            "declare -f",
            "grep env f",
            "'cat env'",
            "echo 'a; env'",
            "python3 -m venv env",
            "",
        ] {
            assert!(!is_env_dump(command), "{command}");
        }
    }
}

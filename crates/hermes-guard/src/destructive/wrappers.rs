//! Commands that run other commands.

use super::Script;

/// Words that come before a command.
const RESERVED: [&str; 16] = [
    "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac",
    "coproc", "in", ";;",
];

/// Whether a word comes before a command.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Commands that run the command after them, with those of their options that take a value as a
/// word of its own, and the number of words between the options and the command.
const WRAPPERS: [(&str, &[&str], usize); 32] = [
    (
        "sudo",
        &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-U", "-D", "-R", "--user", "--group"],
        0,
    ),
    ("doas", &["-u", "-C"], 0),
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    (
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-a",
            "-E",
            "-s",
            "--max-args",
            "--max-procs",
            "--delimiter",
        ],
        0,
    ),
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("time", &["-o", "-f"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "-p"], 0),
    ("chrt", &[], 1),
    ("taskset", &[], 1),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    ("gtimeout", &["-s", "-k"], 1),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("unbuffer", &[], 0),
    ("flock", &["-w", "-E"], 1),
    ("chroot", &[], 1),
    ("strace", &["-o", "-e", "-p", "-s"], 0),
    ("ltrace", &["-o", "-e", "-p", "-s"], 0),
    ("setarch", &[], 1),
    ("unshare", &[], 0),
    ("nsenter", &["-t"], 0),
    ("systemd-run", &["-p", "-u"], 0),
    ("caffeinate", &["-t", "-w"], 0),
    ("fakeroot", &[], 0),
    ("busybox", &[], 0),
    ("toybox", &[], 0),
    ("sshpass", &["-p", "-f"], 0),
    ("function", &[], 1),
];

/// The name of the command that really runs, and its arguments: without assignments, reserved
/// words and wrappers. Also whether it gets more arguments, by `xargs`.
pub(super) fn unwrapped<'a>(
    words: &'a [String],
    scripts: &mut Vec<Script>,
) -> Option<(&'a str, &'a [String], bool)> {
    let mut words = words;
    let mut is_fed = false;
    loop {
        let (first, rest) = words.split_first()?;
        words = rest;
        if is_assignment(first) || is_reserved(first) {
            continue;
        }
        let name = first.rsplit('/').next().unwrap_or(first);
        let Some((_, with_value, operands)) = WRAPPERS.iter().find(|(it, ..)| *it == name) else {
            return Some((name, rest, is_fed));
        };
        is_fed |= name == "xargs";
        while let Some((option, after)) = words.split_first()
            && option.starts_with('-')
        {
            words = after;
            match (name, option.as_str()) {
                (_, "--") => break,
                // These only look a command up.
                ("command", "-v" | "-V") => return None,
                ("env", "-S" | "--split-string") => {
                    let text = words.join(" ");
                    scripts.push(Script { text, is_data: false });
                    return None;
                }
                (_, option) if takes_next(option, with_value) => {
                    words = words.split_first().map_or(words, |(_, after)| after);
                }
                _ => {}
            }
        }
        if *operands > 0 {
            // Assignments may stand before the operands too.
            words = words.get(*operands..)?;
        }
        if let ("flock", [flag, text, ..]) = (name, words)
            && (flag == "-c" || flag == "--command")
        {
            scripts.push(Script { text: text.clone(), is_data: false });
            return None;
        }
    }
}

/// Whether the value of an option is the next word; in a bundle of short options, that of the last.
fn takes_next(option: &str, with_value: &[&str]) -> bool {
    let is_bundle = !option.starts_with("--");
    let takes = |letter: char| {
        with_value.iter().any(|it| it.strip_prefix('-').is_some_and(|it| it.chars().eq([letter])))
    };
    match option.char_indices().skip(1).find(|(_, letter)| takes(*letter)) {
        Some((at, letter)) if is_bundle => at + letter.len_utf8() == option.len(),
        _ => with_value.contains(&option),
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    // Also an element of an array, `a[1]=x`.
    let name = name.split('[').next().unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

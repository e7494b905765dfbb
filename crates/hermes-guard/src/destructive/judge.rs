//! Which simple commands are destructive, by their words.

use super::Script;
use super::wrappers::unwrapped;

/// Most commands that one command may hand on to others, as `find -exec` does.
const MOST_COMMANDS: usize = 64;

/// What a simple command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Harmless,
    Destructive,
    /// It is a shell that runs what it reads.
    ReadsScript,
}

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Files that lose nothing when they are written to.
const STREAMS: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/ptmx",
];
const STREAM_FOLDERS: [&str; 5] =
    ["/dev/fd/", "/dev/pts/", "/dev/tcp/", "/dev/udp/", "/proc/self/fd/"];

/// Whether emptying the file loses anything.
pub(super) fn is_lost(file: &str) -> bool {
    let is_stream =
        STREAMS.contains(&file) || STREAM_FOLDERS.iter().any(|folder| file.starts_with(folder));
    !is_stream && !file.is_empty()
}

/// Judges a command by its words; texts that it runs are added to `scripts`.
pub(super) fn judge(words: &[String], scripts: &mut Vec<Script>) -> Verdict {
    let mut commands = vec![words];
    let mut judged = 0;
    let mut verdict = Verdict::Harmless;
    while let Some(words) = commands.pop() {
        judged += 1;
        if judged > MOST_COMMANDS {
            return Verdict::Destructive;
        }
        let Some((name, args, is_fed)) = unwrapped(words, scripts) else { continue };
        if SHELLS.contains(&name) {
            if shell(args, scripts) {
                verdict = Verdict::ReadsScript;
            }
        } else if name == "find" {
            if find(args, &mut commands) {
                return Verdict::Destructive;
            }
        } else if loses(name, args, is_fed) {
            return Verdict::Destructive;
        } else if let Some(text) = text_run_by(name, args) {
            scripts.push(Script { text, is_data: false });
        }
    }
    verdict
}

/// A shell: the text after `-c` is added to `scripts`. Whether it runs what it reads instead.
fn shell(args: &[String], scripts: &mut Vec<Script>) -> bool {
    let mut has_text = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let is_option = arg.len() > 1 && (arg.starts_with('-') || arg.starts_with('+'));
        if !is_option {
            if has_text {
                scripts.push(Script { text: arg.clone(), is_data: false });
            }
            // Otherwise a file with a script.
            return false;
        }
        match arg.as_str() {
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => {
                args.next();
            }
            "-s" => return !has_text,
            _ => {
                has_text |= arg.starts_with('-') && !arg.starts_with("--") && arg.contains('c');
            }
        }
    }
    !has_text
}

/// `find`: the commands it runs are added. Whether it deletes or overwrites by itself.
fn find<'a>(args: &'a [String], commands: &mut Vec<&'a [String]>) -> bool {
    let mut args = args;
    while let Some((first, rest)) = args.split_first() {
        args = rest;
        match first.as_str() {
            "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" => return true,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let is_end = |word: &String| word == ";" || word == "+";
                let end = rest.iter().position(is_end).unwrap_or(rest.len());
                let (command, after) = rest.split_at(end);
                commands.push(command);
                args = after;
            }
            _ => {}
        }
    }
    false
}

/// The text that a command runs as a script.
fn text_run_by(name: &str, args: &[String]) -> Option<String> {
    let without_options =
        || args.iter().skip_while(|arg| arg.starts_with('-')).cloned().collect::<Vec<_>>();
    match name {
        "eval" => Some(args.join(" ")),
        "parallel" | "watch" => {
            let mut words = without_options();
            let values = words.iter().position(|word| word.starts_with(":::"));
            words.truncate(values.unwrap_or(words.len()));
            // The value of an option may come first.
            if words.first().is_some_and(|word| word.parse::<f64>().is_ok()) {
                words.remove(0);
            }
            if name == "parallel" {
                words.push("{}".to_owned());
            }
            Some(words.join(" "))
        }
        "trap" => without_options().into_iter().next(),
        "su" | "script" => {
            let is_flag = |arg: &String| {
                arg == "--command"
                    || arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('c')
            };
            args.iter().skip_while(|arg| !is_flag(arg)).nth(1).cloned()
        }
        _ => None,
    }
}

/// Whether a command by this name loses something with these arguments.
fn loses(name: &str, args: &[String], is_fed: bool) -> bool {
    let has_flag = |long: &str, short: char| {
        args.iter().any(|arg| arg == long || has_short_flag(arg, short, ""))
    };
    match name {
        "rm" | "rmdir" | "cp" | "install" | "mv" | "truncate" | "dd" | "shred" | "unlink"
        | "srm" => match args {
            [] => is_fed,
            [only] => !matches!(only.as_str(), "--help" | "--version"),
            _ => true,
        },
        "ln" => has_flag("--force", 'f'),
        "sed" | "gsed" => {
            args.iter().any(|arg| arg.starts_with("--in-place") || has_short_flag(arg, 'i', "efl"))
        }
        "perl" | "ruby" => args
            .iter()
            .take_while(|arg| arg.starts_with('-') && arg.as_str() != "--")
            .any(|arg| has_short_flag(arg, 'i', "eEMmIxFCDdVrS")),
        "awk" | "gawk" => args
            .windows(2)
            .any(|pair| matches!(pair, [option, value] if option == "-i" && value == "inplace")),
        "tee" | "sponge" => {
            let appends = has_flag("--append", 'a');
            let mut files = args.iter().filter(|arg| !arg.starts_with('-'));
            !appends && (is_fed || files.any(|file| is_lost(file)))
        }
        "rsync" => args.iter().any(|arg| arg.starts_with("--del")),
        "git" => git(args),
        _ => false,
    }
}

/// Whether a bundle of short options has a flag. What comes after one of the letters in
/// `with_value` is that option's value.
fn has_short_flag(arg: &str, flag: char, with_value: &str) -> bool {
    let Some(letters) = arg.strip_prefix('-') else { return false };
    !letters.starts_with('-')
        && letters.chars().take_while(|c| !with_value.contains(*c)).any(|c| c == flag)
}

fn git(args: &[String]) -> bool {
    const WITH_VALUE: [&str; 8] = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--super-prefix",
        "--config-env",
    ];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg.starts_with('-') {
            if WITH_VALUE.contains(&arg.as_str()) {
                args.next();
            }
            continue;
        }
        return match arg.as_str() {
            "reset" | "clean" | "checkout" | "restore" | "rm" => true,
            "stash" => args.next().is_some_and(|verb| verb == "drop" || verb == "clear"),
            "switch" => {
                args.any(|arg| matches!(arg.as_str(), "--discard-changes" | "--force" | "-f"))
            }
            _ => false,
        };
    }
    false
}

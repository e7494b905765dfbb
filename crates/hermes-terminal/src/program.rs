//! The program behind wrappers such as `sudo` and `timeout`.

use hermes_command::outline::{Command, Word};

/// Most wrappers around one program.
const MOST_WRAPPERS: usize = 16;

/// A program and its arguments.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    /// Without its folder.
    pub(crate) name: &'a str,
    pub(crate) args: &'a [Word],
    /// What is around it, from the outside.
    pub(crate) wrappers: Vec<&'a str>,
}

/// How a wrapper is read.
struct Wrapper {
    /// Letters of options that take a value, and names of long ones.
    letters: &'static str,
    names: &'static [&'static str],
    /// Letters of options with which it runs no program.
    alone: &'static str,
    /// Operands in front of the program.
    operands: usize,
    /// Whether assignments may stand in front of the program.
    assigns: bool,
}

const PLAIN: Wrapper = Wrapper { letters: "", names: &[], alone: "", operands: 0, assigns: false };

fn wrapper(name: &str) -> Option<Wrapper> {
    Some(match name {
        "sudo" => Wrapper {
            letters: "ugpCcDRrtTUh",
            names: &[
                "user",
                "group",
                "prompt",
                "close-from",
                "chdir",
                "chroot",
                "role",
                "type",
                "host",
                "command-timeout",
                "other-user",
            ],
            alone: "lveKV",
            assigns: true,
            ..PLAIN
        },
        "doas" => Wrapper { letters: "uC", ..PLAIN },
        "env" => Wrapper {
            letters: "uCS",
            names: &["unset", "chdir", "split-string"],
            assigns: true,
            ..PLAIN
        },
        "command" => Wrapper { alone: "vV", ..PLAIN },
        "time" => Wrapper { letters: "fo", names: &["format", "output"], ..PLAIN },
        "nice" => Wrapper { letters: "n", names: &["adjustment"], ..PLAIN },
        "ionice" => {
            Wrapper { letters: "cn", names: &["class", "classdata"], alone: "pPu", ..PLAIN }
        }
        "stdbuf" => Wrapper { letters: "ioe", names: &["input", "output", "error"], ..PLAIN },
        "timeout" | "gtimeout" => {
            Wrapper { letters: "ks", names: &["kill-after", "signal"], operands: 1, ..PLAIN }
        }
        "exec" => Wrapper { letters: "a", ..PLAIN },
        "builtin" | "nohup" | "setsid" | "unbuffer" | "chronic" => PLAIN,
        _ => return None,
    })
}

/// The program that a command runs; None if it has no words.
pub(crate) fn program(command: &Command) -> Option<Program<'_>> {
    let mut wrappers = chain(command);
    let (first, args) = wrappers.pop()?.split_first()?;
    let names = wrappers.into_iter().filter_map(<[Word]>::first);
    Some(Program {
        name: base_name(&first.text),
        args,
        wrappers: names.map(|it| base_name(&it.text)).collect(),
    })
}

/// The wrappers of a command and the program in them, each with all words from its own on.
pub(crate) fn chain(command: &Command) -> Vec<&[Word]> {
    let mut chain = Vec::new();
    let mut words = command.words.as_slice();
    while let Some((first, args)) = words.split_first() {
        chain.push(words);
        let inner = wrapper(base_name(&first.text)).and_then(|it| inner(&it, args));
        match inner {
            Some(inner) if chain.len() <= MOST_WRAPPERS => words = inner,
            _ => break,
        }
    }
    chain
}

/// The words after a wrapper's own; None if it runs nothing.
fn inner<'a>(wrapper: &Wrapper, args: &'a [Word]) -> Option<&'a [Word]> {
    let is_alone = |word: &Word| {
        !word.text.starts_with("--")
            && word
                .text
                .strip_prefix('-')
                .is_some_and(|it| it.contains(|c| wrapper.alone.contains(c)))
    };
    let rest = after_options(args, wrapper.letters, wrapper.names);
    let own = args.len() - rest.len();
    if args.iter().take(own).any(is_alone) {
        return None;
    }
    let mut rest = rest.get(wrapper.operands..)?;
    while wrapper.assigns
        && let Some((first, after)) = rest.split_first()
        && is_assignment(&first.text)
    {
        rest = after;
    }
    Some(rest)
}

/// The words after the options at the start. `letters` and `names` are those with a value.
pub(crate) fn after_options<'a>(words: &'a [Word], letters: &str, names: &[&str]) -> &'a [Word] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let text = first.text.as_str();
        let takes_next = if text == "--" {
            return after;
        } else if let Some(name) = text.strip_prefix("--") {
            names.contains(&name)
        } else if let Some(cluster) = text.strip_prefix('-').filter(|it| !it.is_empty()) {
            cluster.find(|c| letters.contains(c)).is_some_and(|at| {
                cluster.chars().count()
                    == cluster.chars().take_while(|c| !letters.contains(*c)).count() + 1
                    && at < cluster.len()
            })
        } else {
            return rest;
        };
        rest = if takes_next { after.get(1..).unwrap_or_default() } else { after };
    }
    rest
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a word is `NAME=value`.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_command::outline::{Part, outline};

    fn shown(text: &str) -> String {
        let outline = outline(text);
        let Some(Part::Command(command)) = outline.scripts[0].parts.first() else { panic!() };
        let Some(program) = program(command) else { return String::new() };
        let args = program.args.iter().map(|it| it.text.as_str());
        let words: Vec<_> =
            program.wrappers.into_iter().chain(["|", program.name]).chain(args).collect();
        words.join(" ")
    }

    #[test]
    fn wrappers() {
        for (text, expected) in [
            ("/usr/bin/grep x", "| grep x"),
            ("A=1 grep x", "| grep x"),
            ("sudo -u bob -nE A=1 grep -u x", "sudo | grep -u x"),
            ("sudo -ubob grep", "sudo | grep"),
            ("sudo --user=bob --chdir / -- grep", "sudo | grep"),
            ("sudo -l", "| sudo -l"),
            ("env -i A=1 B=2 grep x", "env | grep x"),
            ("env A=1", "| env A=1"),
            ("command -v grep", "| command -v grep"),
            ("command grep", "command | grep"),
            ("timeout -k 5 10 nice -n 3 grep x", "timeout nice | grep x"),
            ("nice -10 grep", "nice | grep"),
            ("timeout 5", "| timeout 5"),
            ("nohup", "| nohup"),
            ("A=1", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}

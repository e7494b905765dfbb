//! What a command means in its session: the aliases, functions and variables that it names.

use std::borrow::Cow;

use hermes_task::spawn_blocking;
use tokio::io::AsyncReadExt as _;

use super::Session;
use super::quote::quote;
use crate::environment::{Dialect, Start};

/// Most bytes of a state that is looked through.
const MOST: u64 = 4 * 1024 * 1024;

/// Most bytes of a definition that is shown whole.
const LONG: usize = 16 * 1024;

impl Session {
    /// The definitions of the session's state that the words of a command may stand for, as lines of
    /// bash. Whoever judges a command should read them before it. Empty where there are none, or
    /// where the state can't be read.
    pub async fn definitions(&self, command: &str) -> String {
        let Some(state) = self.slots().current() else { return String::new() };
        let path = self.path(state.number());
        let text = if self.environment.shares_files() {
            spawn_blocking(move || std::fs::read(path).unwrap_or_default())
                .await
                .unwrap_or_default()
        } else {
            let start = Start {
                dialect: Dialect::Posix,
                ..Start::new(format!("exec cat {}", quote(&path)))
            };
            let Ok(running) = self.environment.start(start).await else { return String::new() };
            let mut text = Vec::new();
            // An error is the end of what can be had.
            let _ = running.output.take(MOST).read_to_end(&mut text).await;
            running.handle.release();
            text
        };
        named(&String::from_utf8_lossy(&text), command)
    }
}

/// The definitions in a state that a command names.
fn named(state: &str, command: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | ':');
    let words: std::collections::HashSet<&str> =
        command.split(|c| !is_name(c)).filter(|word| !word.is_empty()).collect();
    let mut found = String::new();
    let mut in_function = None;
    for line in state.lines() {
        if let Some(is_named) = in_function {
            if is_named {
                found.extend([line, "\n"]);
            }
            if line == "}" {
                in_function = None;
            }
            continue;
        }
        let name = if let Some(rest) = line.strip_prefix("alias ") {
            rest.trim_start_matches("-- ").split('=').next()
        } else if let Some(rest) = line.strip_prefix("declare -") {
            // After the letters of the attributes. A value of several lines is cut, which is no
            // valid text and so asked about.
            rest.split_once(' ').and_then(|(_, rest)| rest.split('=').next())
        } else {
            let name = line.strip_suffix(" () ").or_else(|| line.strip_suffix(" ()"));
            in_function = name.map(|name| words.contains(name));
            name
        };
        if name.is_some_and(|name| words.contains(name)) {
            found.push_str(&without_middle(line));
            found.push('\n');
        }
    }
    found
}

/// A definition without the middle of a value that is data rather than something to be run: with
/// all of it no command that names it is short enough to be judged.
fn without_middle(line: &str) -> Cow<'_, str> {
    if line.len() <= LONG {
        return line.into();
    }
    // Not between a backslash and what it stands before.
    let is_escape = |text: &str| (text.len() - text.trim_end_matches('\\').len()) % 2 == 1;
    let begin = line.get(..line.floor_char_boundary(LONG / 2)).unwrap_or_default();
    let begin = begin.strip_suffix('\\').filter(|_| is_escape(begin)).unwrap_or(begin);
    let (middle, end) = line.split_at(line.ceil_char_boundary(line.len() - LONG / 2));
    let mut end = end.chars();
    if is_escape(middle) {
        end.next();
    }
    format!("{begin} {}", end.as_str()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn long_values_are_shown_without_their_middle() {
        for fill in ["x", "\\\\", "\\\"", "é", "a\\$"] {
            for before in ["", "y", "yy"] {
                let line = format!("declare -x B=\"{before}{}\"", fill.repeat(20_000));
                let shown = named(&line, "unset B");
                let value = shown.strip_prefix("declare -x B=\"").unwrap();
                let value = value.strip_suffix("\"\n").unwrap();
                assert!((LONG - 100..LONG).contains(&value.len()), "{}", value.len());
                // No quote of it is bare.
                let mut rest = value.chars();
                while let Some(char) = rest.next() {
                    assert!(char != '"' && (char != '\\' || rest.next().is_some()), "{fill}");
                }
            }
        }
    }

    #[test]
    fn only_what_is_named() {
        let state = "declare -x C=\"rm -rf D\"\ndeclare -x OTHER=\"1\"\nf () \n{ \n    echo f\n}\n\
                     g () \n{ \n    rm x\n}\nalias ll='rm -rf D'\nalias -- -='cd -'\numask 0022\n\
                     __hermes_set=a __hermes_shopt=b # whole\n";
        for (command, expected) in [
            ("ls", ""),
            ("ll; x", "alias ll='rm -rf D'\n"),
            ("eval $C", "declare -x C=\"rm -rf D\"\n"),
            ("echo \"${C}\" && g", "declare -x C=\"rm -rf D\"\ng () \n{ \n    rm x\n}\n"),
        ] {
            assert_eq!(named(state, command), expected, "{command}");
        }
    }
}

//! What a command means in its session: the aliases, functions and variables that it names.

use hermes_task::spawn_blocking;
use tokio::io::AsyncReadExt as _;

use super::Session;
use super::quote::quote;
use crate::environment::{Dialect, Start};

/// Most bytes of a state that is looked through.
const MOST: u64 = 4 * 1024 * 1024;

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
            found.extend([line, "\n"]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

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

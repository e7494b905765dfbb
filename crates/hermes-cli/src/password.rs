//! Asking the person at the terminal for the password that `sudo` wants.

use std::future::Future;
use std::io;
use std::pin::Pin;

use anstream::adapter::strip_str;
use hermes_registry::ToolContext;
use hermes_tools::task;
use hermes_tools::tool_terminal::{PasswordAsk, PasswordPrompt};

use crate::marked;
use crate::silence::{self, Silence};
use crate::status::Status;
use crate::style::{BOLD, DIM};
use crate::tty::{self, GivenUp, Stop};

/// Longest password, in bytes.
const MAX_PASSWORD: usize = 1024;

/// The terminal that controls the process.
pub(crate) struct TerminalPassword {
    status: Status,
}

impl TerminalPassword {
    /// The terminal, if a person reads along on it.
    pub(crate) fn open(status: &Status) -> Option<Self> {
        let reads_along = status.is_terminal() && tty::open().is_ok();
        reads_along.then(|| Self { status: status.clone() })
    }
}

impl PasswordPrompt for TerminalPassword {
    fn ask<'a>(
        &'a self,
        asked: PasswordAsk<'a>,
        _cx: &'a ToolContext,
    ) -> Pin<Box<dyn Future<Output = Option<String>> + Send + 'a>> {
        Box::pin(async move {
            let _hold = self.status.hold();
            let mut shown = question(&asked);
            if !self.status.has_colours() {
                shown = strip_str(&shown).to_string();
            }
            let waiting = Waiting(GivenUp::default());
            let reading = task::spawn_blocking({
                let stop = waiting.0.stop();
                move || read(&shown, &stop)
            });
            match reading.await {
                Ok(Ok(password)) => password,
                Ok(Err(error)) => {
                    self.status.warning(format!("the terminal can't be read: {error}"));
                    None
                }
                Err(_) => None,
            }
        })
    }
}

/// Whoever waits for the password. When nobody does any more, the terminal is brought back at once:
/// the program may be over before the thread that reads looks up.
struct Waiting(GivenUp);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.give_up();
        silence::end();
    }
}

/// The question as it is shown.
fn question(asked: &PasswordAsk<'_>) -> String {
    let place = match asked.backend {
        "local" => String::new(),
        other => format!(" (of the machine behind `{other}`)"),
    };
    let mut lines = vec![format!("{BOLD}sudo wants a password{place} for:{BOLD:#}")];
    let command = marked::lines(asked.command, &[]);
    lines.extend(command.into_iter().map(|line| format!("  {line}")));
    let seconds = asked.limit.as_secs();
    lines.push(format!("Password {DIM}(nothing: none; {seconds} s){DIM:#}: "));
    lines.join("\n")
}

/// Shows the question and reads a password. None if there is no answer.
fn read(shown: &str, stop: &Stop) -> io::Result<Option<String>> {
    let mut terminal = tty::open()?;
    let Some(silence) = Silence::begin(&terminal, stop)? else { return Ok(None) };
    tty::write(&mut terminal, shown)?;
    let typed = tty::read_line(&mut terminal, MAX_PASSWORD, stop);
    drop(silence);
    // The end of the line didn't show either.
    tty::write(&mut terminal, "\n")?;
    let typed = typed?.and_then(|typed| String::from_utf8(typed).ok());
    let password = typed.map(|typed| typed.trim_end_matches(['\n', '\r']).to_owned());
    Ok(password.filter(|password| !password.is_empty()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_question_names_the_command_and_plays_no_tricks() {
        let asked = PasswordAsk {
            command: "sudo id\nls \x1b[2J",
            backend: "ssh",
            limit: Duration::from_secs(45),
        };
        let shown = strip_str(&question(&asked)).to_string();
        for part in ["\n  sudo id\n  ls \\u{1b}[2J\n", "`ssh`", "45 s"] {
            assert!(shown.contains(part), "{shown}");
        }
    }
}

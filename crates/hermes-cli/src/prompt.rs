//! Asking the person at the terminal whether something may be done.

use std::io;

use anstream::adapter::strip_str;
use hermes_tools::approvals::{Answer, Ask, AskFuture, Prompter};
use hermes_tools::task;

use crate::marked;
use crate::preview::one_line;
use crate::status::Status;
use crate::style::{BOLD, DIM, WARN};
use crate::tty::{self, GivenUp, Stop};

/// Longest answer that is looked at, in bytes.
const MAX_ANSWER: usize = 256;

/// The terminal that controls the process. What the program reads from stdin is none of its
/// business: that may be the calls themselves.
pub(crate) struct TerminalPrompter {
    status: Status,
}

impl TerminalPrompter {
    /// The terminal, if a person reads along on it.
    pub(crate) fn open(status: &Status) -> Option<Self> {
        let reads_along = status.is_terminal() && tty::open().is_ok();
        reads_along.then(|| Self { status: status.clone() })
    }
}

impl Prompter for TerminalPrompter {
    fn prompt<'a>(&'a self, ask: &'a Ask) -> AskFuture<'a> {
        Box::pin(async {
            let _hold = self.status.hold();
            let mut shown = question(ask);
            if !self.status.has_colours() {
                shown = strip_str(&shown).to_string();
            }
            let given_up = GivenUp::default();
            let reading = task::spawn_blocking({
                let stop = given_up.stop();
                move || read_answer(&shown, &stop)
            });
            match reading.await {
                Ok(Ok(typed)) => Ok(Answer::from_typed(&typed, ask)),
                Ok(Err(error)) => Err(format!("the terminal can't be read: {error}")),
                Err(failure) => Err(format!("the prompt failed: {failure:?}")),
            }
        })
    }
}

/// The question as it is shown.
fn question(ask: &Ask) -> String {
    let mut lines = vec![format!("{BOLD}{} wants to run:{BOLD:#}", one_line(&ask.tool))];
    let spans: Vec<_> = ask.reasons.iter().map(|reason| reason.span.clone()).collect();
    lines.extend(marked::lines(&ask.command, &spans).into_iter().map(|line| format!("  {line}")));
    for reason in &ask.reasons {
        lines.push(format!("{WARN}!{WARN:#} {}", one_line(&reason.why)));
    }
    if ask.smart_denied {
        lines.push(format!("{WARN}!{WARN:#} An automatic review refused it."));
    }
    let choices = match (ask.smart_denied, ask.allow_permanent) {
        (true, _) => "[o]nce, [d]eny",
        (false, false) => "[o]nce, for the [s]ession, [d]eny",
        (false, true) => "[o]nce, for the [s]ession, [a]lways, [d]eny",
    };
    if ask.allow_permanent {
        for key in &ask.covers {
            lines.push(format!("{DIM}always would cover{DIM:#} {}", one_line(key)));
        }
    }
    let seconds = ask.timeout.as_secs();
    lines.push(format!("Allow it? {choices} {DIM}(no answer within {seconds} s is a no){DIM:#}: "));
    lines.join("\n")
}

/// Shows the question and reads a line. The end of the input is an empty line, and so is a
/// question that stands no more.
fn read_answer(shown: &str, stop: &Stop) -> io::Result<String> {
    let mut terminal = tty::open()?;
    tty::write(&mut terminal, shown)?;
    match tty::read_line(&mut terminal, MAX_ANSWER, stop)? {
        Some(typed) => Ok(String::from_utf8_lossy(&typed).into_owned()),
        None => {
            tty::write(&mut terminal, "\n")?;
            // What stands there without an end of line was never given as an answer.
            Ok(String::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hermes_tools::approvals::Reason;

    use super::*;

    fn ask(allow_permanent: bool, smart_denied: bool) -> String {
        let reason = Reason {
            key: "recursive_delete:rm -rf x".into(),
            why: "It deletes folders.".into(),
            span: 4..12,
        };
        let ask = Ask {
            id: String::new(),
            session: String::new(),
            tool: "terminal".into(),
            command: "ls; rm -rf x".into(),
            description: String::new(),
            covers: vec![reason.key.clone()],
            reasons: vec![reason],
            allow_permanent,
            smart_denied,
            timeout: Duration::from_secs(60),
        };
        strip_str(&question(&ask)).to_string()
    }

    #[test]
    fn a_question_offers_what_it_takes() {
        let shown = ask(true, false);
        for part in [
            "terminal wants to run:\n  ls; rm -rf x\n      ^^^^^^^^\n! It deletes folders.",
            "always would cover recursive_delete:rm -rf x",
            "[a]lways",
            "60 s",
        ] {
            assert!(shown.contains(part), "{shown}");
        }
        let shown = ask(false, false);
        assert!(shown.contains("[s]ession") && !shown.contains("lways"), "{shown}");
        let shown = ask(false, true);
        assert!(shown.contains("automatic review") && !shown.contains("[s]ession"), "{shown}");
    }
}

//! Commands that wait for CI by hand.

use hermes_command::outline::{Command, Part, outline};

/// Longest command that is looked into, in bytes.
const MOST: usize = 256 * 1024;

/// Whether a command polls the checks of a pull request: those who run it in the background should
/// be told of the end instead.
///
/// ```
/// use hermes_terminal::is_ci_poller;
///
/// assert!(is_ci_poller("until gh pr checks 5 --json state | jq -e .; do sleep 30; done"));
/// assert!(!is_ci_poller("gh pr view 5"));
/// ```
#[must_use]
pub fn is_ci_poller(command: &str) -> bool {
    if command.contains("statusCheckRollup") {
        return true;
    }
    if command.len() > MOST || !command.contains("gh") {
        return false;
    }
    outline(command).scripts.iter().any(|script| {
        // Whether the current pipeline has what is polled.
        let mut is_polled = false;
        script.parts.iter().any(|part| match part {
            Part::Command(command) => {
                let is_read = is_polled && starts_with(command, &["jq"]);
                let polls = ["view", "checks"];
                is_polled |= polls.iter().any(|it| starts_with(command, &["gh", "pr", it]));
                is_read
            }
            Part::Pipe => false,
            _ => {
                is_polled = false;
                false
            }
        })
    })
}

fn starts_with(command: &Command, words: &[&str]) -> bool {
    let own = command.words.iter().map(|it| it.text.as_str());
    command.words.len() >= words.len() && own.zip(words).all(|(own, word)| own == *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pollers() {
        for (command, is_poller) in [
            ("gh pr view 5 --json statusCheckRollup", true),
            ("gh pr checks 5 --json state | jq .", true),
            ("while true; do x=$(gh pr view 5 --json a | tee f | jq .a); done", true),
            ("gh pr view 5; cat f | jq .", false),
            ("gh pr list | jq .", false),
            ("echo gh pr view | jq .", false),
            ("gh pr checks --watch", false),
        ] {
            assert_eq!(is_ci_poller(command), is_poller, "{command}");
        }
    }
}

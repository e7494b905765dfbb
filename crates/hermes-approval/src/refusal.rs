//! What models are told when something isn't run.
//!
//! Every text says that nobody consented and that no other way to the same end is wanted: models
//! take a bare "denied" as an invitation to try again.

/// The end of every refusal.
const STOP: &str = "The user has not consented to this. Do not retry it, do not rephrase it, and do \
                    not reach the same result in another way. Stop and wait for the user.";

/// Most characters of a person's reason that are passed on.
pub(crate) const MAX_REASON: usize = 280;

/// A refusal for a reason that is a sentence without its full stop.
pub(crate) fn because(why: &str) -> String {
    format!("BLOCKED: {why}. {STOP}")
}

/// Of a command that is never run.
pub(crate) fn hardline(what: &str) -> String {
    because(&format!(
        "this is never run by an agent, whatever the settings ({what}). If it is really \
         wanted, the user runs it in a terminal of their own"
    ))
}

/// Of a password typed by a program.
pub(crate) fn password_guess() -> String {
    because(
        "`sudo -S` takes a password from the command, and none is configured (SUDO_PASSWORD): \
         guessing passwords is not allowed",
    )
}

/// Of a rule in the configuration.
pub(crate) fn deny_rule(rule: &str) -> String {
    because(&format!("a rule of the user forbids this (approvals.deny: `{rule}`)"))
}

/// Of a scheduled job.
pub(crate) fn cron(what: &str) -> String {
    because(&format!(
        "this call was flagged ({what}) and scheduled jobs have nobody to ask. \
         `approvals.cron_mode: approve` in config.yaml lets such calls run"
    ))
}

/// Where nobody is.
pub(crate) fn nobody(what: &str) -> String {
    because(&format!(
        "this call was flagged ({what}) and there is nobody to ask. \
         `approvals.noninteractive: approve` in config.yaml lets such calls run"
    ))
}

/// Where a person can't be asked right now.
pub(crate) fn unreachable(what: &str, why: &str) -> String {
    because(&format!("this call was flagged ({what}) and the user could not be asked ({why})"))
}

/// Of a person.
pub(crate) fn denied(what: &str, reason: Option<&str>) -> String {
    let reason = reason.map_or_else(String::new, |reason| format!(", saying \"{reason}\""));
    because(&format!("the user was asked about this call ({what}) and refused it{reason}"))
}

/// Of silence.
pub(crate) fn timeout(what: &str) -> String {
    because(&format!(
        "the user was asked about this call ({what}) and did not answer in time. Silence is not \
         consent"
    ))
}

/// Of an interrupt.
pub(crate) fn interrupted(what: &str) -> String {
    because(&format!("the turn was interrupted while the user was asked ({what})"))
}

/// Of a question that nobody listens to any more.
pub(crate) fn unanswered(what: &str) -> String {
    because(&format!(
        "the user was asked about this call ({what}) and left before answering. Silence is not \
         consent"
    ))
}

/// Of a model, where no person could overrule it.
pub(crate) fn smart_denied(what: &str) -> String {
    because(&format!(
        "an automatic review refused this call ({what}) and there is nobody to overrule it"
    ))
}

/// Of a sub-agent.
pub(crate) fn subagent(what: &str) -> String {
    because(&format!(
        "this call was flagged ({what}) and sub-agents ask nobody \
         (`delegation.subagent_auto_approve` lifts this)"
    ))
}

/// Of a question that is still to be put.
pub(crate) fn pending(what: &str) -> String {
    because(&format!("this call was flagged ({what}) and waits for the user's approval"))
}

/// Of a gateway that would end itself.
pub(crate) fn gateway_control() -> String {
    because(
        "this would stop or restart the gateway that the agent is running in, and with it this \
         conversation. The user does that from a shell outside of the gateway",
    )
}

/// What a person said, cut to the size that is passed on.
pub(crate) fn reason(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    let text: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_REASON).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_ends_the_matter() {
        for text in [
            hardline("x"),
            password_guess(),
            deny_rule("x"),
            cron("x"),
            nobody("x"),
            unreachable("x", "y"),
            denied("x", Some("no")),
            timeout("x"),
            interrupted("x"),
            unanswered("x"),
            smart_denied("x"),
            subagent("x"),
            pending("x"),
            gateway_control(),
        ] {
            for part in
                ["not consented", "Do not retry", "rephrase", "another way", "Stop and wait"]
            {
                assert!(text.contains(part), "{text}");
            }
        }
        assert!(timeout("x").contains("Silence is not consent"));
        assert!(denied("x", Some("too risky")).contains("\"too risky\""));
        assert!(cron("x").contains("approvals.cron_mode: approve"));
    }

    #[test]
    fn reasons_are_cut() {
        assert_eq!(reason(Some(&"é".repeat(400))).unwrap().chars().count(), MAX_REASON);
        assert_eq!(reason(Some(" \n ")), None);
        assert_eq!(reason(Some(" a\nb ")).as_deref(), Some("a b"));
    }
}

//! Having a person agree to what a hook wants to be asked about.

use std::sync::Arc;

use hermes_approval::{Answer, Approver, Prospect, Question, is_approval};
use hermes_registry::{Surface, Tool, ToolContext, ToolError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::task;

/// How many characters of the arguments a person is shown.
const MAX_SHOWN: usize = 2000;

/// How permission came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// A person said yes; the word is their answer.
    Person(&'static str),
    /// The session or the host needs no permission.
    Waived(&'static str),
}

/// Who decides where a hook wants a person to agree.
pub(crate) enum Who {
    /// Somebody who can be asked.
    Person(Arc<dyn Approver>),
    /// Nobody need agree, for this reason.
    Nobody(&'static str),
}

/// Finds out who decides.
///
/// # Errors
/// Denied, because nobody can be asked.
pub(crate) fn who(tool: &Tool, question: &Question, cx: &ToolContext) -> Result<Who, ToolError> {
    if cx.settings().env_truthy("HERMES_YOLO_MODE") {
        return Ok(Who::Nobody("yolo mode"));
    }
    if cx.surface() == Surface::Cron {
        return if cx.settings().get("approvals.cron_mode").is_some_and(is_approval) {
            Ok(Who::Nobody("approvals.cron_mode"))
        } else {
            let why =
                "scheduled jobs have nobody to ask (`approvals.cron_mode: approve` lifts this)";
            Err(refused(tool, why))
        };
    }
    let nobody = || refused(tool, "there is nobody to ask");
    let approver = cx.service::<dyn Approver>().ok_or_else(nobody)?;
    match approver.prospect(question, cx) {
        Prospect::Asks => Ok(Who::Person(approver)),
        Prospect::Agreed(why) => Ok(Who::Nobody(why)),
        Prospect::Nobody => Err(nobody()),
    }
}

/// The question about a call.
pub(crate) fn question(
    tool: &Tool,
    shown: &Value,
    message: &str,
    rule_key: Option<&str>,
) -> Question {
    let what: String = shown.to_string().chars().take(MAX_SHOWN).collect();
    Question::new(tool.name(), key(tool.name(), message, rule_key), what, message)
}

/// Asks whether a call may run.
///
/// # Errors
/// Denied: by a person, by silence, or because nobody can be asked.
pub(crate) async fn ask(
    tool: &Tool,
    question: &Question,
    cx: &ToolContext,
) -> Result<Permission, ToolError> {
    let approver = match who(tool, question, cx)? {
        Who::Nobody(why) => return Ok(Permission::Waived(why)),
        Who::Person(approver) => approver,
    };
    let _waiting = cx.wait_for_person();
    let refused = |why: &str| Err(refused(tool, why));
    match task::caught(approver.ask(question, cx)).await {
        Ok(Ok(answer)) if answer.is_yes() => Ok(Permission::Person(answer.as_str())),
        Ok(Ok(Answer::Deny { reason: Some(reason) })) => {
            let reason: String = reason.chars().take(280).collect();
            refused(&format!("the person refused: \"{reason}\""))
        }
        Ok(Ok(Answer::Timeout)) => refused("nobody answered in time; silence is a no"),
        Ok(Ok(_)) => refused("the person refused"),
        Ok(Err(why)) => refused(&format!("nobody could be asked ({why})")),
        Err(panic) => refused(&format!("asking failed ({panic})")),
    }
}

fn refused(tool: &Tool, why: &str) -> ToolError {
    ToolError::denied(format!(
        "{} was not run: a hook of this host wants a person to agree, and {why}. This is no \
         consent: do not retry, rephrase or reach the same result in another way; stop and wait \
         for the user",
        tool.name()
    ))
}

/// What remembers the answer. Without a rule of its own each reason is a rule, so that one
/// "always" doesn't silence every other rule on the tool.
fn key(tool: &str, reason: &str, rule_key: Option<&str>) -> String {
    match rule_key {
        Some(rule) => format!("plugin_rule:{rule}"),
        None => {
            let digest = Sha256::digest(reason.as_bytes());
            let hex: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
            format!("plugin_rule:{tool}:{hex}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_without_a_rule_is_a_rule_of_its_own() {
        assert_eq!(key("t", "why", Some("r")), "plugin_rule:r");
        let (one, other) = (key("t", "why", None), key("t", "else", None));
        assert!(one.starts_with("plugin_rule:t:") && one.len() == "plugin_rule:t:".len() + 12);
        assert_ne!(one, other);
    }
}

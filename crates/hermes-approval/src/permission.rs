//! Questions of tools and hooks that are about no command.

use hermes_registry::{Surface, ToolContext};

use crate::approver::{Answer, Approver, AskFuture, Prospect, Question};
use crate::asking::{Reply, Way};
use crate::audit::{self, Record};
use crate::case::new_id;
use crate::decision::By;
use crate::gate::Approvals;
use crate::question::{Ask, Reason};
use crate::refusal;
use crate::shown::line;
use crate::surface::SubAgent;

/// Most characters of what is shown.
const MAX_WHAT: usize = 4000;

/// Most characters of a reason.
const MAX_WHY: usize = 600;

impl Approver for Approvals {
    fn ask<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AskFuture<'a> {
        Box::pin(async {
            let (answer, by) = self.permission(question, cx).await;
            if let Some(log) = &self.log {
                let ids = cx.ids();
                let yes = answer.as_ref().is_ok_and(Answer::is_yes);
                audit::record(
                    log,
                    &Record {
                        session: &ids.session,
                        call: &ids.call,
                        tool: &question.tool,
                        command: &question.what,
                        findings: &[format!("{}: {}", question.key, question.why)],
                        verdict: if yes { "approved" } else { "denied" },
                        decided_by: by,
                    },
                );
            }
            answer
        })
    }

    fn prospect(&self, question: &Question, cx: &ToolContext) -> Prospect {
        let policy = self.policy();
        if self.is_yolo || self.sessions.is_yolo(&cx.ids().session) {
            return Prospect::Agreed("yolo mode");
        }
        if self.remembered(&question.key, cx).is_some() {
            return Prospect::Agreed("an earlier answer");
        }
        if cx.service::<SubAgent>().is_some() {
            return match policy.subagent_approves {
                true => Prospect::Agreed("delegation.subagent_auto_approve"),
                false => Prospect::Nobody,
            };
        }
        match (cx.surface(), self.way(cx)) {
            (Surface::Cron, _) if policy.cron_approves => Prospect::Agreed("approvals.cron_mode"),
            (_, Way::Prompt(_) | Way::Notify(_) | Way::Mail) => Prospect::Asks,
            _ => Prospect::Nobody,
        }
    }
}

impl Approvals {
    /// The answer to a question, and who gave it.
    async fn permission(
        &self,
        question: &Question,
        cx: &ToolContext,
    ) -> (Result<Answer, String>, By) {
        let session = &*cx.ids().session;
        if self.is_yolo || self.sessions.is_yolo(session) {
            return (Ok(Answer::Once), By::Yolo);
        }
        if let Some(answer) = self.remembered(&question.key, cx) {
            return (Ok(answer), By::Remembered);
        }
        let policy = self.policy();
        if cx.service::<SubAgent>().is_some() {
            let answer = if policy.subagent_approves { Answer::Once } else { Answer::NO };
            return (Ok(answer), By::SubAgent);
        }
        if cx.surface() == Surface::Cron {
            return if policy.cron_approves {
                (Ok(Answer::Once), By::CronMode)
            } else {
                (Err("scheduled jobs have nobody to ask".to_owned()), By::CronMode)
            };
        }
        let way = self.way(cx);
        if matches!(way, Way::Keep) {
            return (Err("nobody listens to this conversation".to_owned()), By::Unreachable);
        }
        let surface = if cx.surface() == Surface::Gateway { "gateway" } else { "cli" };
        let ask = self.question_of(question, cx);
        let is_covered = || self.remembered(&question.key, cx).is_some();
        match self.put(ask, &way, surface, cx, &is_covered).await {
            Reply::Answered(Answer::Deny { reason }) => {
                (Ok(Answer::Deny { reason: refusal::reason(reason.as_deref()) }), By::Person)
            }
            Reply::Answered(Answer::Timeout) | Reply::Unheard => (Ok(Answer::Timeout), By::Silence),
            Reply::Answered(answer) => {
                let lasting = match (&answer, question.allow_permanent) {
                    (Answer::Always, true) => vec![question.key.clone()],
                    _ => Vec::new(),
                };
                self.keep(vec![question.key.clone()], lasting, &answer, cx).await;
                (Ok(answer), By::Person)
            }
            Reply::Covered => (Ok(Answer::Session), By::Remembered),
            Reply::Interrupted => (Err("the call was interrupted".to_owned()), By::Interrupt),
            Reply::Failed(error) => (Err(line(&error, MAX_WHY)), By::Unreachable),
            Reply::Kept => (Err("nobody listens to this conversation".to_owned()), By::Unreachable),
        }
    }

    /// The answer that was given to such a question before.
    fn remembered(&self, key: &str, cx: &ToolContext) -> Option<Answer> {
        if self.policy().allowlist.iter().any(|entry| entry == key) || self.unsaved().contains(key)
        {
            return Some(Answer::Always);
        }
        let session = self.sessions.approved(&cx.ids().session);
        session.contains(key).then_some(Answer::Session)
    }

    pub(crate) fn question_of(&self, question: &Question, cx: &ToolContext) -> Ask {
        let why = line(&question.why, MAX_WHY);
        Ask {
            id: new_id(),
            session: cx.ids().session.to_string(),
            tool: question.tool.clone(),
            command: line(&question.what, MAX_WHAT),
            description: why.clone(),
            reasons: vec![Reason { key: question.key.clone(), why, span: 0..0 }],
            allow_permanent: question.allow_permanent,
            smart_denied: false,
            covers: vec![question.key.clone()],
            timeout: self.policy().timeout,
        }
    }
}

/// What a server that asks for something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicitation {
    /// The person agrees.
    Accept,
    /// The person doesn't, or can't be asked.
    Decline,
    /// The person didn't answer.
    Cancel,
}

impl Elicitation {
    /// The word of the protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl Approvals {
    /// Asks on behalf of an MCP server. Nothing is remembered, and nothing remembered counts.
    pub async fn elicit(&self, question: &Question, cx: &ToolContext) -> Elicitation {
        if cx.service::<SubAgent>().is_some() {
            return Elicitation::Decline;
        }
        let way = self.way(cx);
        if matches!(way, Way::Keep) {
            return Elicitation::Decline;
        }
        let question = question.clone().not_permanent();
        let ask = self.question_of(&question, cx);
        match self.put(ask, &way, "mcp-elicitation", cx, &|| false).await {
            Reply::Answered(answer) if answer.is_yes() => Elicitation::Accept,
            Reply::Answered(Answer::Timeout) | Reply::Unheard
                if cx.surface() == Surface::Gateway =>
            {
                Elicitation::Cancel
            }
            _ => Elicitation::Decline,
        }
    }
}

//! What comes of a command, and how a tool passes it on.

use std::fmt;

use serde_json::{Map, Value, json};

/// Who or what settled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum By {
    /// Nothing about it is dangerous.
    Nothing,
    /// It runs where it can't harm the host.
    Isolation,
    /// It is never run.
    Hardline,
    /// It guesses passwords.
    PasswordGuess,
    /// A running gateway would end itself.
    GatewayControl,
    /// A rule of `approvals.deny`.
    DenyRule,
    /// The host insists on it.
    Force,
    /// Yolo mode.
    Yolo,
    /// `approvals.mode: off`.
    ModeOff,
    /// An entry of `command_allowlist`.
    Allowlist,
    /// What was agreed to before.
    Remembered,
    /// `approvals.cron_mode`.
    CronMode,
    /// `approvals.noninteractive`, or nobody being there.
    Noninteractive,
    /// A model.
    Model,
    /// A person.
    Person,
    /// Nobody answered in time.
    Silence,
    /// The call was given up.
    Interrupt,
    /// The person could not be reached.
    Unreachable,
    /// Sub-agents ask nobody.
    SubAgent,
    /// A person is still to be asked.
    Pending,
}

impl By {
    /// The stable name, for logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Isolation => "isolation",
            Self::Hardline => "hardline",
            Self::PasswordGuess => "password_guess",
            Self::GatewayControl => "gateway_control",
            Self::DenyRule => "deny_rule",
            Self::Force => "force",
            Self::Yolo => "yolo",
            Self::ModeOff => "mode_off",
            Self::Allowlist => "allowlist",
            Self::Remembered => "remembered",
            Self::CronMode => "cron_mode",
            Self::Noninteractive => "noninteractive",
            Self::Model => "model",
            Self::Person => "person",
            Self::Silence => "silence",
            Self::Interrupt => "interrupt",
            Self::Unreachable => "unreachable",
            Self::SubAgent => "subagent",
            Self::Pending => "pending",
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a call that isn't run has no ordinary result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was refused.
    Blocked,
    /// A person is still to be asked.
    PendingApproval,
    /// It can't be run in this process.
    Error,
}

impl Status {
    /// The name in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::PendingApproval => "pending_approval",
            Self::Error => "error",
        }
    }
}

/// How asking ended without a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The answer was no.
    Denied,
    /// There was no answer in time.
    Timeout,
    /// The call was given up meanwhile.
    Interrupted,
    /// The person could not be asked.
    Unreachable,
}

impl Outcome {
    /// The name in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Unreachable => "unreachable",
        }
    }
}

/// Whether a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a command must not run without a look at this"]
pub struct Decision {
    /// Whether it may.
    pub approved: bool,
    /// Who settled it.
    pub by: By,
    /// What the model is told about a refusal.
    pub message: Option<String>,
    /// Whether it is never run, whoever agrees.
    pub hardline: bool,
    /// Whether a rule of `approvals.deny` refuses it.
    pub user_deny: bool,
    /// Whether a model agreed.
    pub smart_approved: bool,
    /// Whether a model refused.
    pub smart_denied: bool,
    /// Whether a person agreed to this call.
    pub user_approved: bool,
    /// What approvals of it are remembered under, most important first.
    pub pattern_keys: Vec<String>,
    /// What is dangerous about it, secrets masked.
    pub description: Option<String>,
    /// Why there is no ordinary result.
    pub status: Option<Status>,
    /// How asking ended without a yes.
    pub outcome: Option<Outcome>,
    /// False when a person was asked, or had to be, and didn't agree.
    pub user_consent: Option<bool>,
    /// What the person said.
    pub deny_reason: Option<String>,
    /// Whether the person may agree for ever.
    pub allow_permanent: bool,
    /// The command with its secrets masked; of a command that waits for a person.
    pub command: Option<String>,
}

impl Decision {
    fn new(approved: bool, by: By) -> Self {
        Self {
            approved,
            by,
            message: None,
            hardline: false,
            user_deny: false,
            smart_approved: false,
            smart_denied: false,
            user_approved: false,
            pattern_keys: Vec::new(),
            description: None,
            status: (!approved).then_some(Status::Blocked),
            outcome: None,
            user_consent: None,
            deny_reason: None,
            allow_permanent: false,
            command: None,
        }
    }

    /// It may run.
    pub fn approved(by: By) -> Self {
        Self {
            smart_approved: by == By::Model,
            user_approved: by == By::Person,
            ..Self::new(true, by)
        }
    }

    /// It may not, and the model is told why.
    pub fn refused(by: By, message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            hardline: by == By::Hardline,
            user_deny: by == By::DenyRule,
            ..Self::new(false, by)
        }
    }

    /// The first key.
    #[must_use]
    pub fn pattern_key(&self) -> Option<&str> {
        self.pattern_keys.first().map(String::as_str)
    }

    /// All of it for programs; what doesn't apply is false or null.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "approved": self.approved,
            "decided_by": self.by.as_str(),
            "message": self.message,
            "hardline": self.hardline,
            "user_deny": self.user_deny,
            "smart_approved": self.smart_approved,
            "smart_denied": self.smart_denied,
            "user_approved": self.user_approved,
            "pattern_key": self.pattern_key(),
            "pattern_keys": self.pattern_keys,
            "description": self.description,
            "status": self.status.map(Status::as_str),
            "outcome": self.outcome.map(Outcome::as_str),
            "user_consent": self.user_consent,
            "deny_reason": self.deny_reason,
        })
    }

    /// The result of a terminal call that isn't run; none if it may run.
    #[must_use]
    pub fn result(&self) -> Option<Value> {
        let message = self.message.as_deref().unwrap_or_default();
        let result = |exit_code: i32, error: &str, status: Status| json!({"output": "", "exit_code": exit_code, "error": error, "status": status.as_str()});
        Some(match self.status? {
            status @ Status::Blocked => result(-1, message, status),
            status @ Status::Error => result(1, message, status),
            status @ Status::PendingApproval => {
                let mut value = result(-1, "", status);
                if let Some(map) = value.as_object_mut() {
                    self.add_pending(map);
                }
                value
            }
        })
    }

    fn add_pending(&self, map: &mut Map<String, Value>) {
        let more = [
            ("approval_pending", Value::Bool(true)),
            ("command", self.command.clone().into()),
            ("description", self.description.clone().into()),
            ("pattern_key", self.pattern_key().into()),
            ("smart_denied", self.smart_denied.into()),
            ("allow_permanent", self.allow_permanent.into()),
        ];
        map.extend(more.map(|(key, value)| (key.to_owned(), value)));
    }

    /// The `approval` note for the result of a command that somebody agreed to.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let what = self.description.as_deref().unwrap_or("flagged as dangerous");
        if self.user_approved {
            Some(format!("The user was asked about this call ({what}) and approved it."))
        } else if self.smart_approved {
            Some(format!("This call was flagged ({what}) and approved by an automatic review."))
        } else {
            None
        }
    }

    /// Adds [`note`](Self::note) to the result of a command that ran.
    pub fn annotate(&self, result: &mut Map<String, Value>) {
        if let Some(note) = self.note() {
            result.insert("approval".to_owned(), note.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn results_have_the_form_that_models_know() {
        let blocked = Decision::refused(By::Hardline, "no").result();
        let expected = json!({"output": "", "exit_code": -1, "error": "no", "status": "blocked"});
        assert_eq!(blocked, Some(expected));
        let mut error = Decision::refused(By::GatewayControl, "no");
        error.status = Some(Status::Error);
        assert_eq!(error.result().unwrap()["exit_code"], 1);
        let mut pending = Decision::refused(By::Pending, "wait");
        pending.status = Some(Status::PendingApproval);
        pending.command = Some("rm -r x".into());
        pending.pattern_keys = vec!["k".into()];
        let expected = json!({
            "output": "", "exit_code": -1, "error": "", "status": "pending_approval",
            "approval_pending": true, "command": "rm -r x", "description": null,
            "pattern_key": "k", "smart_denied": false, "allow_permanent": false,
        });
        assert_eq!(pending.result(), Some(expected));
        assert_eq!(Decision::approved(By::Nothing).result(), None);
    }

    #[test]
    fn only_what_somebody_agreed_to_has_a_note() {
        let noted = |by: By| {
            let mut result = Map::new();
            Decision::approved(by).annotate(&mut result);
            result.contains_key("approval")
        };
        assert_eq!(
            [By::Person, By::Model, By::Nothing, By::Yolo].map(noted),
            [true, true, false, false]
        );
    }
}

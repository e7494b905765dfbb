//! What the gate would do about a command, for those who ask before it is run.

use std::future::Future;
use std::pin::Pin;

use hermes_registry::ToolContext;

use crate::asking::Way;
use crate::case::describe;
use crate::deciding::Look;
use crate::decision::{By, Decision};
use crate::gate::{Approvals, CommandRequest};
use crate::policy::Mode;
use crate::refusal;
use crate::ruling::{Reach, Ruling};
use crate::surface::SubAgent;

/// What deciding about a command would come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foreseen {
    /// It runs, and nobody is asked.
    Runs(By),
    /// A person is asked about what is dangerous about it; in smart mode a model is before.
    Asks {
        /// What is dangerous, secrets masked.
        what: String,
        /// Whether a model may settle it.
        by_model: bool,
    },
    /// It doesn't run; what the model would be told.
    Refused(String),
}

/// What is foreseen, to come.
pub type ForeseenFuture<'a> = Pin<Box<dyn Future<Output = Option<Foreseen>> + Send + 'a>>;

impl From<Decision> for Foreseen {
    fn from(decision: Decision) -> Self {
        if decision.approved {
            Self::Runs(decision.by)
        } else {
            Self::Refused(decision.message.unwrap_or_default())
        }
    }
}

impl Approvals {
    /// The way of a command as far as the first who would be asked.
    pub(crate) async fn foresee_command(
        &self,
        request: &CommandRequest,
        cx: &ToolContext,
    ) -> Foreseen {
        let case = match self.look(request, cx) {
            Look::Open(case) => case,
            Look::Isolated => return Foreseen::Runs(By::Isolation),
            Look::Refused(_, decision) => return decision.into(),
        };
        let policy = self.live.now();
        let way = self.way(cx);
        let (ruling, reach) = self.ruling(&case, &policy, &way, cx);
        let is_attended = match ruling {
            Ruling::Settled(decision) => return decision.into(),
            Ruling::Attended => true,
            Ruling::Unattended => false,
        };
        let Some(mut flags) = self.flags(&case, &policy, cx).await else {
            return Foreseen::Refused(refusal::interrupted(""));
        };
        let had_flags = !flags.is_empty();
        if is_attended || reach == Reach::Nobody {
            self.drop_covered(&mut flags, &policy, cx);
        }
        if flags.is_empty() {
            return Foreseen::Runs(if had_flags { By::Remembered } else { By::Nothing });
        }
        let what = describe(&flags);
        match way {
            _ if !is_attended && reach == Reach::Cron => Foreseen::Refused(refusal::cron(&what)),
            _ if !is_attended => Foreseen::Refused(refusal::nobody(&what)),
            _ if cx.service::<SubAgent>().is_some() => match policy.subagent_approves {
                true => Foreseen::Runs(By::SubAgent),
                false => Foreseen::Refused(refusal::subagent(&what)),
            },
            Way::Nobody | Way::Taken => Foreseen::Refused(refusal::nobody(&what)),
            _ => {
                let by_model = policy.mode == Mode::Smart && self.reviewer.is_ok();
                Foreseen::Asks { what, by_model }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hermes_registry::{Settings, Surface};
    use serde_json::{Value, json};

    use super::*;
    use crate::approver::{Answer, FixedAnswer};
    use crate::gate::CommandGate as _;

    async fn foreseen(config: Value, is_attended: bool, command: &str) -> Foreseen {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings::new(dir.path()).with_config(config);
        let gate = Approvals::builder(&settings);
        let gate = match is_attended {
            true => gate.prompter(Arc::new(FixedAnswer(Answer::Always))).build(),
            false => gate.build(),
        };
        let cx = ToolContext::new("/").with_surface(Surface::Cli).with_settings(settings);
        let seen = gate.foresee(&CommandRequest::new("terminal", command), &cx).await.unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is written down");
        seen
    }

    #[tokio::test]
    async fn it_is_what_would_happen() {
        let config = || json!({"approvals": {"deny": ["git push*"]}});
        assert_eq!(foreseen(config(), true, "ls").await, Foreseen::Runs(By::Nothing));
        let asked = foreseen(config(), true, "rm -rf build").await;
        assert!(matches!(asked, Foreseen::Asks { by_model: false, .. }), "{asked:?}");
        for (is_attended, command) in
            [(false, "rm -rf build"), (true, "rm -rf /"), (true, "git push origin")]
        {
            let refused = foreseen(config(), is_attended, command).await;
            assert!(matches!(refused, Foreseen::Refused(_)), "{command}: {refused:?}");
        }
        let off = json!({"approvals": {"mode": "off"}});
        assert_eq!(foreseen(off, false, "rm -rf build").await, Foreseen::Runs(By::ModeOff));
    }
}

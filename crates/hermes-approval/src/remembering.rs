//! What was agreed to, and for how long.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use hermes_registry::ToolContext;

use crate::approver::Answer;
use crate::case::Flag;
use crate::gate::Approvals;
use crate::keys::covers;
use crate::policy::Policy;

impl Approvals {
    /// Takes out what was agreed to before.
    pub(crate) fn drop_covered(&self, flags: &mut Vec<Flag>, policy: &Policy, cx: &ToolContext) {
        let session = self.sessions.approved(&cx.ids().session);
        let mut permanent: BTreeSet<String> = policy.allowlist.iter().cloned().collect();
        permanent.extend(self.unsaved());
        flags.retain(|flag| match &flag.finding {
            None => !session.contains(&flag.key),
            Some(finding) => {
                !covers(&session, &flag.key, finding) && !covers(&permanent, &flag.key, finding)
            }
        });
    }

    /// Keeps a yes for as long as it is meant.
    pub(crate) async fn remember(&self, flags: &[Flag], answer: &Answer, cx: &ToolContext) {
        let lasting = flags.iter().filter(|flag| flag.finding.is_some());
        let lasting = lasting.map(|flag| flag.key.clone()).collect();
        self.keep(flags.iter().map(|flag| flag.key.clone()).collect(), lasting, answer, cx).await;
    }

    /// Keeps `keys` for the session, and those among them that may last for ever.
    pub(crate) async fn keep(
        &self,
        keys: Vec<String>,
        lasting: Vec<String>,
        answer: &Answer,
        cx: &ToolContext,
    ) {
        if matches!(answer, Answer::Session | Answer::Always) {
            self.sessions.approve(&cx.ids().session, keys);
        }
        if *answer == Answer::Always && !lasting.is_empty() {
            self.keep_for_ever(lasting).await;
        }
    }

    pub(crate) async fn keep_for_ever(&self, keys: Vec<String>) {
        let saved = match self.allowlist.clone() {
            None => Err("there is no home folder".to_owned()),
            Some(allowlist) => {
                let keys = keys.clone();
                // Another process may hold the file for a while.
                match hermes_task::spawn_blocking(move || allowlist.add(&keys)).await {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(failure) => Err(format!("{failure:?}")),
                }
            }
        };
        if let Err(error) = saved {
            tracing::warn!(error, "an approval holds for this process only");
            let mut unsaved = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
            unsaved.extend(keys);
        }
    }
}

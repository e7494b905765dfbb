//! What a system prompt should say of the machine that commands run on.
//!
//! It is found out in the background, once for each machine. Who writes a prompt waits for it a
//! while, once; a machine that doesn't answer is no reason to keep a conversation from beginning.

mod python;
mod remote;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_exec::session::{Ended, Foreground};
use hermes_exec_policy::config::Backend;
use hermes_registry::CallIds;
use hermes_task::Tracked;
use tokio::sync::watch;

use crate::environments::Environments;

/// How long one who writes a prompt waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the question may take on a machine that is there: another one, and this one, where
/// several programs are asked.
const REMOTE: Duration = Duration::from_secs(4);
const LOCAL: Duration = Duration::from_secs(9);

/// Most bytes of an answer.
const MOST: usize = 16 * 1024;

/// What is being found out, by sandbox key.
#[derive(Default)]
pub(crate) struct Probes(Mutex<HashMap<String, Arc<Probe>>>);

/// The question to a machine.
struct Probe {
    /// None until it is known; what is known may be that there is nothing to say.
    answer: watch::Receiver<Option<Option<String>>>,
    /// Whether somebody waited in vain.
    is_late: AtomicBool,
    _asking: Tracked<()>,
}

impl Probes {
    /// Gives up what isn't known yet.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Probe>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Environments {
    /// Begins to find out what a prompt should say of the machine of a session, if nobody has yet.
    /// The machine is made for it if it isn't there.
    ///
    /// For this machine nothing is asked if `agent.environment_probe` is off.
    pub fn begin_facts(self: &Arc<Self>, ids: &CallIds) {
        drop(self.probe(ids));
    }

    /// What a system prompt should say of the machine that commands of a session run on, in one
    /// line. Of another machine that is its system, user and folders; of this one what is odd about
    /// its Python, and nothing as a rule.
    ///
    /// The first who asks waits for the answer, 10 s at most. If there is none by then it is left
    /// out, and nobody waits for it again.
    pub async fn facts(self: &Arc<Self>, ids: &CallIds) -> Option<String> {
        let probe = self.probe(ids)?;
        let mut answer = probe.answer.clone();
        if !probe.is_late.load(Ordering::Acquire) {
            let known = tokio::time::timeout(PATIENCE, answer.wait_for(Option::is_some)).await;
            probe.is_late.store(known.is_err(), Ordering::Release);
        }
        let known = answer.borrow_and_update().clone();
        known.flatten()
    }

    fn probe(self: &Arc<Self>, ids: &CallIds) -> Option<Arc<Probe>> {
        let config = self.config_of(ids).ok()?;
        let is_local = matches!(config.backend, Backend::Local(_));
        let is_off =
            self.settings().get("agent.environment_probe").and_then(serde_json::Value::as_bool)
                == Some(false);
        if is_local && is_off {
            return None;
        }
        let mut probes = self.probes.lock();
        let probe = probes.entry(self.key(ids)).or_insert_with(|| {
            let (told, answer) = watch::channel(None);
            let (this, ids) = (Arc::clone(self), ids.clone());
            let asking = hermes_task::spawn(async move {
                let found = match is_local {
                    true => {
                        this.ask(&ids, python::SCRIPT, LOCAL).await.and_then(|it| python::line(&it))
                    }
                    false => {
                        let answer = this.ask(&ids, remote::SCRIPT, REMOTE).await;
                        answer.and_then(|it| remote::line(config.backend.name(), &it))
                    }
                };
                let _ = told.send(Some(found));
            });
            Arc::new(Probe { answer, is_late: AtomicBool::new(false), _asking: asking })
        });
        Some(Arc::clone(probe))
    }

    /// What a script of our own writes on the machine of a session, where its commands run.
    async fn ask(self: &Arc<Self>, ids: &CallIds, script: &str, limit: Duration) -> Option<String> {
        let config = self.config_of(ids).ok()?;
        let lease = self.lease(ids).await.ok()?;
        lease.session().ready().await.ok()?;
        let (cwd, _) = self.folder(ids, None, &config);
        // In a shell of its own: nothing of it becomes the session's.
        let asked =
            Foreground { timeout: Some(limit), ..Foreground::new(format!("(\n{script}\n)"), cwd) };
        let mut written = Vec::new();
        let mut take = |bytes: &[u8]| {
            let room = MOST - written.len();
            written.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        };
        let finished = lease.session().run(asked, &mut take, std::future::pending()).await.ok()?;
        let has_ended = matches!(finished.ended, Ended::Exited(_)) && finished.is_entered;
        has_ended.then(|| String::from_utf8_lossy(&written).into_owned())
    }
}

/// The value of a line `name=value`: short, and nothing that could be more than one line. Empty
/// values are none.
fn value<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    /// Longest value, in bytes.
    const LONGEST: usize = 200;
    let mut values = answer.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let value = values.next()?.trim();
    let is_plain = !value.is_empty() && value.len() <= LONGEST && !value.contains(char::is_control);
    is_plain.then_some(value)
}

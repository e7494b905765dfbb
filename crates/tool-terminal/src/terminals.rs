//! What a host lends to the tools of the terminal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_environments::Environments;
use hermes_exec::environment::Close;
use hermes_processes::Processes;
use hermes_registry::Services;

use crate::spill;

/// The machines and the processes of a program: `cx.service::<Terminals>()`.
#[derive(Debug)]
pub struct Terminals {
    environments: Arc<Environments>,
    processes: Arc<Processes>,
    /// Passwords for `sudo` that somebody typed, by session.
    passwords: Mutex<HashMap<String, String>>,
}

/// Says that news of background processes reach the conversation:
/// `services.with(Arc::new(LateMessages))`. Without it, none are promised.
#[derive(Debug)]
pub struct LateMessages;

impl Terminals {
    /// Over environments and processes.
    #[must_use]
    pub fn new(environments: Arc<Environments>, processes: Arc<Processes>) -> Arc<Self> {
        Arc::new(Self { environments, processes, passwords: Mutex::default() })
    }

    /// Lends the terminal to tools, and its files to those that work with files.
    #[must_use]
    pub fn lend(self: &Arc<Self>, services: Services) -> Services {
        services.with(Arc::clone(self)).with(self.environments.workplaces())
    }

    /// The machines.
    #[must_use]
    pub fn environments(&self) -> &Arc<Environments> {
        &self.environments
    }

    /// The processes.
    #[must_use]
    pub fn processes(&self) -> &Arc<Processes> {
        &self.processes
    }

    /// Cleans up after earlier runs of the program that were killed; how many of their foreground
    /// commands were ended. Background processes go on and are found by
    /// [`recover`](Processes::recover).
    pub async fn sweep(&self) -> usize {
        #[cfg_attr(not(target_os = "linux"), expect(unused_mut, reason = "nothing is left there"))]
        let mut count = 0;
        for folder in self.environments.scratch_dirs() {
            #[cfg(target_os = "linux")]
            {
                count += self.processes.sweep(&folder).await;
            }
            // It is tried at each start.
            let _ = hermes_task::spawn_blocking(move || spill::sweep(&folder)).await;
        }
        count
    }

    /// A task has ended: its processes are ended, and what was made for it alone is given up.
    pub async fn ended(&self, task: &str) {
        self.processes.kill_all(Some(task)).await;
        self.environments.ended(task).await;
    }

    /// The program ends: all processes are ended, and all machines given up.
    pub async fn close(&self) {
        self.processes.kill_all(None).await;
        self.environments.close(Close::AsConfigured).await;
    }

    pub(crate) fn password(&self, session: &str) -> Option<String> {
        self.lock().get(session).cloned()
    }

    pub(crate) fn set_password(&self, session: &str, password: Option<String>) -> bool {
        let mut passwords = self.lock();
        match password {
            Some(password) => {
                passwords.insert(session.to_owned(), password);
                true
            }
            None => passwords.remove(session).is_some(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.passwords.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

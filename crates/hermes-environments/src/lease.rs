//! An environment in use.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hermes_exec::session::Session;
use hermes_exec_policy::config::{Backend, TerminalConfig};
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use crate::owner::Owner;

/// An environment with its session, for as long as somebody keeps it.
pub(crate) struct Entry {
    pub(crate) session: Arc<Session>,
    /// What it was made by, and the folder of this machine that is in it.
    made_by: (Backend, Option<String>),
    /// How many leases there are.
    leases: AtomicUsize,
    /// When the last one ended.
    used: Mutex<Instant>,
    /// Goes after the session.
    #[cfg(unix)]
    _owner: Option<Owner>,
}

impl Entry {
    /// With the home of the program, which says whose the session's files are.
    pub(crate) fn new(session: Session, config: &TerminalConfig, home: &Path) -> Self {
        #[cfg(not(unix))]
        let _ = home;
        Self {
            // Without one, nothing is lost but the cleaning up after a killed program.
            #[cfg(unix)]
            _owner: (session.environment().shares_files())
                .then(|| Owner::of(Path::new(session.folder()), home).ok())
                .flatten(),
            session: Arc::new(session),
            made_by: (config.backend.clone(), config.host_cwd.clone()),
            leases: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
        }
    }

    /// Whether it is what a task is to have now. Commands are judged by the settings of the moment:
    /// what is harmless in a container must not run on this machine since that was there before.
    pub(crate) fn is_by(&self, config: &TerminalConfig) -> bool {
        let (backend, host_cwd) = &self.made_by;
        *backend == config.backend && *host_cwd == config.host_cwd
    }

    /// When it was used last; none while it is.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let is_used = self.leases.load(Ordering::Acquire) > 0;
        (!is_used).then(|| *self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The use of an environment: as long as it is held, the environment isn't given up for being
/// idle. A background process holds one until it ends.
pub struct Lease {
    entry: Arc<Entry>,
    key: String,
}

impl Lease {
    pub(crate) fn of(entry: Arc<Entry>, key: String) -> Self {
        entry.leases.fetch_add(1, Ordering::AcqRel);
        Self { entry, key }
    }

    /// The session of commands.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.entry.session
    }

    /// The sandbox key of the environment.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl Clone for Lease {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.entry), self.key.clone())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        *self.entry.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.entry.leases.fetch_sub(1, Ordering::AcqRel);
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("key", &self.key).finish_non_exhaustive()
    }
}

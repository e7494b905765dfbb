//! What a host adds to every call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hermes_audit::AuditLog;
use hermes_hooks::{Hook, Hooks};
use hermes_registry::{CallIds, CallListener};

use crate::checkpoint::Checkpointer;
use crate::middleware::{ExecutionMiddleware, RequestMiddleware};

/// Hooks, middleware, logs and listeners of a runtime. Empty by default; each part is asked in the
/// order in which it was added.
#[derive(Clone, Default)]
pub struct Extensions {
    pub(crate) hooks: Hooks,
    pub(crate) request: Vec<Arc<dyn RequestMiddleware>>,
    pub(crate) execution: Arc<[Arc<dyn ExecutionMiddleware>]>,
    pub(crate) checkpointer: Option<Arc<dyn Checkpointer>>,
    pub(crate) audit: Option<Arc<AuditLog>>,
    pub(crate) listeners: Vec<Arc<dyn CallListener>>,
}

impl Extensions {
    /// Adds a hook.
    #[must_use]
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks = self.hooks.with(hook);
        self
    }

    /// Takes these hooks in place of the ones so far.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Adds what changes arguments.
    #[must_use]
    pub fn request(mut self, middleware: impl RequestMiddleware + 'static) -> Self {
        self.request.push(Arc::new(middleware));
        self
    }

    /// Adds a layer around handlers, inside of those that are there already.
    #[must_use]
    pub fn execution(mut self, middleware: impl ExecutionMiddleware + 'static) -> Self {
        let added: Arc<dyn ExecutionMiddleware> = Arc::new(middleware);
        self.execution = self.execution.iter().cloned().chain([added]).collect();
        self
    }

    /// Sets what takes snapshots.
    #[must_use]
    pub fn checkpointer(mut self, checkpointer: Arc<dyn Checkpointer>) -> Self {
        self.checkpointer = Some(checkpointer);
        self
    }

    /// Sets the log of all calls.
    #[must_use]
    pub fn audit(mut self, log: Arc<AuditLog>) -> Self {
        self.audit = Some(log);
        self
    }

    /// Adds a service that must hear of every call as it begins.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn CallListener>) -> Self {
        self.listeners.push(listener);
        self
    }

    /// A call begins: those who listen hear of it. Their faults are no reason to lose it.
    pub(crate) fn tell_listeners(&self, ids: &CallIds, tool: &str) {
        for listener in &self.listeners {
            let told = catch_unwind(AssertUnwindSafe(|| listener.started(ids, tool)));
            if told.is_err() {
                tracing::warn!(tool, "a listener to calls panicked");
            }
        }
    }
}

impl std::fmt::Debug for Extensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Extensions")
            .field("hooks", &self.hooks)
            .field("request", &self.request.len())
            .field("execution", &self.execution.len())
            .field("checkpointer", &self.checkpointer.is_some())
            .field("audit", &self.audit.is_some())
            .field("listeners", &self.listeners.len())
            .finish()
    }
}

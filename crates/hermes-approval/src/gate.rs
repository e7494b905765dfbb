//! The gate: what a host sets up once, and every tool asks.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use hermes_audit::{AuditLog, Limits};
use hermes_hooks::Hooks;
use hermes_registry::{Services, Settings, ToolContext};

use crate::allowlist::Allowlist;
use crate::approver::{Approver, Prompter};
use crate::decision::Decision;
use crate::files::FileGate;
use crate::foreseeing::ForeseenFuture;
use crate::live::LivePolicy;
use crate::mailbox::Mailbox;
use crate::place::Place;
use crate::policy::Policy;
use crate::scanner::{Scanner, Tirith};
use crate::session::Sessions;
use crate::smart::Reviewer;
use crate::staging::WriteGate;

/// A command that a tool wants to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRequest {
    /// The tool.
    pub tool: String,
    /// The command, as it would be given to a shell.
    pub command: String,
    /// Where it would run.
    pub place: Place,
    /// The folder it would start in; none is that of the context.
    pub cwd: Option<PathBuf>,
}

impl CommandRequest {
    /// A command on the host itself.
    #[must_use]
    pub fn new(tool: impl Into<String>, command: impl Into<String>) -> Self {
        Self { tool: tool.into(), command: command.into(), ..Self::default() }
    }

    /// The same command in another place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// The same command in another folder.
    #[must_use]
    pub fn in_folder(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

/// A script that a tool wants to run with an interpreter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptRequest {
    /// The tool.
    pub tool: String,
    /// The interpreter, e.g. `python3`.
    pub interpreter: String,
    /// The script.
    pub code: String,
    /// Where it would run.
    pub place: Place,
}

/// A decision to come.
pub type DecisionFuture<'a> = Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;

/// Decides about commands: `cx.service::<dyn CommandGate>()`. Where a host lends none, no command
/// may run.
pub trait CommandGate: Send + Sync {
    /// Whether a command may run. Waits for a person where one is to be asked.
    fn decide<'a>(&'a self, request: &'a CommandRequest, cx: &'a ToolContext)
    -> DecisionFuture<'a>;

    /// Whether a script may run. On a terminal only what is dangerous about it is asked about:
    /// commands that it runs through a tool come here one by one.
    fn decide_script<'a>(
        &'a self,
        request: &'a ScriptRequest,
        cx: &'a ToolContext,
    ) -> DecisionFuture<'a>;

    /// What deciding about a command would come to, without asking, remembering or writing down
    /// anything. None where that can't be told.
    fn foresee<'a>(
        &'a self,
        request: &'a CommandRequest,
        cx: &'a ToolContext,
    ) -> ForeseenFuture<'a> {
        let _ = (request, cx);
        Box::pin(std::future::ready(None))
    }
}

/// The gate of a host. It is [`CommandGate`], [`FileGate`], [`Approver`] and [`WriteGate`] in one, so
/// that all of them share sessions, memory, queue and log.
pub struct Approvals {
    pub(crate) settings: Settings,
    pub(crate) live: LivePolicy,
    pub(crate) sessions: Sessions,
    pub(crate) prompter: Option<Arc<dyn Prompter>>,
    /// Whether something else owns the terminal, so that nobody can be prompted on it.
    pub(crate) is_terminal_taken: AtomicBool,
    /// The model of smart mode, or why there is none.
    pub(crate) reviewer: Result<Arc<dyn Reviewer>, String>,
    /// Whether it was said that smart mode has no model.
    pub(crate) has_told_of_model: AtomicBool,
    pub(crate) scanner: Arc<dyn Scanner>,
    pub(crate) hooks: Hooks,
    pub(crate) log: Option<AuditLog>,
    pub(crate) mailbox: Option<Mailbox>,
    pub(crate) allowlist: Option<Allowlist>,
    /// What was agreed to for ever and could not be written down.
    pub(crate) unsaved: Mutex<BTreeSet<String>>,
    /// One prompt at a time.
    pub(crate) prompting: tokio::sync::Mutex<()>,
    /// Whether `HERMES_YOLO_MODE` was on when the process started.
    pub(crate) is_yolo: bool,
    pub(crate) must_ask: bool,
}

/// Puts a gate together.
pub struct ApprovalsBuilder {
    gate: Approvals,
}

impl Approvals {
    /// Starts from settings. The environment in them is read now and never again, so that nothing
    /// that runs later can switch yolo mode on.
    #[must_use]
    pub fn builder(settings: &Settings) -> ApprovalsBuilder {
        let home = settings.home().to_owned();
        let has_home = !home.as_os_str().is_empty();
        let log = has_home
            .then(|| AuditLog::new(home.join("logs").join("approvals.jsonl"), Limits::default()));
        let gate = Self {
            live: LivePolicy::new(settings.clone()),
            sessions: Sessions::default(),
            prompter: None,
            is_terminal_taken: AtomicBool::new(false),
            reviewer: Err("auxiliary.approval names none".to_owned()),
            has_told_of_model: AtomicBool::new(false),
            scanner: Arc::new(Tirith::default()),
            hooks: Hooks::none(),
            log,
            mailbox: has_home.then(|| Mailbox::of(&home)),
            allowlist: has_home.then(|| Allowlist::of(settings)),
            unsaved: Mutex::default(),
            prompting: tokio::sync::Mutex::const_new(()),
            is_yolo: settings.env_truthy("HERMES_YOLO_MODE"),
            must_ask: settings.env_truthy("HERMES_EXEC_ASK"),
            settings: settings.clone(),
        };
        ApprovalsBuilder { gate }
    }

    /// The sessions, with what they remember and what waits in them.
    #[must_use]
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The settings in force.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        self.live.now()
    }

    /// Says that a full-screen program owns the terminal, or doesn't any more. Meanwhile nobody is
    /// prompted on it: sessions without a dialog of their own get a no at once.
    pub fn take_terminal(&self, is_taken: bool) {
        self.is_terminal_taken.store(is_taken, Ordering::Release);
    }

    /// Lends the gate to tools under all of its roles.
    #[must_use]
    pub fn lend(self: &Arc<Self>, services: Services) -> Services {
        let gate = || Arc::clone(self);
        services
            .with::<dyn CommandGate>(gate())
            .with::<dyn FileGate>(gate())
            .with::<dyn Approver>(gate())
            .with::<dyn WriteGate>(gate())
    }

    pub(crate) fn unsaved(&self) -> BTreeSet<String> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ApprovalsBuilder {
    /// Who is prompted in sessions without a dialog of their own.
    #[must_use]
    pub fn prompter(mut self, prompter: Arc<dyn Prompter>) -> Self {
        self.gate.prompter = Some(prompter);
        self
    }

    /// The model of smart mode. Without one, smart mode is manual.
    #[must_use]
    pub fn reviewer(mut self, reviewer: Arc<dyn Reviewer>) -> Self {
        self.gate.reviewer = Ok(reviewer);
        self
    }

    /// Why there is no model, for when smart mode would want one.
    #[must_use]
    pub fn without_reviewer(mut self, why: impl Into<String>) -> Self {
        self.gate.reviewer = Err(why.into());
        self
    }

    /// The external scanner, in place of tirith.
    #[must_use]
    pub fn scanner(mut self, scanner: Arc<dyn Scanner>) -> Self {
        self.gate.scanner = scanner;
        self
    }

    /// The hooks that are told of questions.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.gate.hooks = hooks;
        self
    }

    /// Sessions that others hold too.
    #[must_use]
    pub fn sessions(mut self, sessions: Sessions) -> Self {
        self.gate.sessions = sessions;
        self
    }

    /// Keeps questions out of the reach of other processes.
    #[must_use]
    pub fn without_mailbox(mut self) -> Self {
        self.gate.mailbox = None;
        self
    }

    /// The gate.
    #[must_use]
    pub fn build(self) -> Arc<Approvals> {
        Arc::new(self.gate)
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals")
            .field("sessions", &self.sessions)
            .field("is_yolo", &self.is_yolo)
            .finish_non_exhaustive()
    }
}

//! One call on its way: what the gates know of it, and the gates that may ask somebody.

use std::sync::Arc;

use hermes_hooks::{HookEvent, OnError, Verdict};
use hermes_registry::{
    CallSetup, CancellationToken, Deadline, Tool, ToolCaller, ToolContext, ToolError,
};
use hermes_turn::guardrail::Action;
use serde_json::Value;

use crate::approval::Who;
use crate::call::CallStatus;
use crate::execute::{self, Execution};
use crate::gates::{Gate, Trace};
use crate::middleware::CallInfo;
use crate::nested::Caller;
use crate::observer::tell;
use crate::pipeline::{Origin, Ready, Stopped, status_of_stop};
use crate::prepared::PreparedTool;
use crate::runtime::Runtime;
use crate::session::{Session, Turn, lock};
use crate::{approval, arguments, checkpoint, edit_review, payload, task};

/// How long a tool may take to find out what it would ask.
const FORESEEING: std::time::Duration = std::time::Duration::from_secs(60);

/// A call on its way.
pub(crate) struct Way<'r> {
    pub(crate) runtime: &'r Runtime,
    pub(crate) session: &'r Session,
    pub(crate) origin: &'r Origin,
    pub(crate) id: String,
    pub(crate) called: String,
    pub(crate) trace: Trace,
    pub(crate) turn: Arc<Turn>,
    pub(crate) cancel: CancellationToken,
    /// The context of the call, from the moment that its tool is known.
    pub(crate) cx: Option<ToolContext>,
    /// What hooks and middleware are told of the call, likewise.
    pub(crate) info: Option<Arc<CallInfo>>,
    /// What the tool gets, as far as it is known.
    pub(crate) args: Value,
    /// What middleware did to the arguments.
    pub(crate) middleware_trace: Vec<Value>,
    /// Whether nothing is to be done but decide.
    pub(crate) dry: bool,
    /// The tool, once its handler may have begun.
    pub(crate) running: Option<Arc<PreparedTool>>,
}

impl<'r> Way<'r> {
    pub(crate) fn new(
        runtime: &'r Runtime,
        session: &'r Session,
        origin: &'r Origin,
        id: String,
        called: String,
        trace: Trace,
    ) -> Self {
        let cancel = origin.context.cancel().child();
        Self {
            runtime,
            session,
            origin,
            id,
            called,
            trace,
            turn: session.turn(),
            cancel,
            cx: None,
            info: None,
            args: Value::Null,
            middleware_trace: Vec::new(),
            dry: false,
            running: None,
        }
    }

    /// An interrupt or a deadline that was there before the call.
    pub(crate) fn over_before_it_began(&self) -> Option<Execution> {
        if self.cancel.is_cancelled() {
            let status = CallStatus::Cancelled;
            return Some(Execution::not_run(status, interrupted(), "keyboard_interrupt"));
        }
        if self.origin.context.deadlines().iter().any(Deadline::has_passed) {
            let error = ToolError::timeout("there was no time left to begin this call");
            return Some(Execution::not_run(CallStatus::Timeout, error, "tool_timeout"));
        }
        None
    }

    /// The call's tool is known: it gets its context.
    pub(crate) fn begin(&mut self, ready: &Ready) {
        let tool = &ready.tool.tool;
        let caller: Arc<dyn ToolCaller> = Caller::of(self.runtime, self.session);
        let mut cx = self.origin.context.for_call(CallSetup {
            call: &self.id,
            cancel: self.cancel.clone(),
            // Its time begins with the handler.
            deadline: None,
            settings: self.runtime.settings(),
            caller: Some(caller),
        });
        let extensions = self.runtime.extensions();
        // Some tools have events of their own to tell of.
        if extensions.hooks.listens(HookEvent::TransformTerminalOutput) {
            cx = cx.with_service(Arc::new(extensions.hooks.clone()));
        }
        if !(extensions.request.is_empty() && extensions.execution.is_empty()) {
            self.info = Some(Arc::new(CallInfo {
                tool: tool.name().into(),
                ids: cx.ids().clone(),
                original: Arc::new(ready.args.clone()),
                concurrency: tool.meta().concurrency,
            }));
        }
        self.cx = Some(cx);
    }

    /// The result of a gate that stopped the call before its tool was known to be callable.
    pub(crate) fn stopped(&self, stopped: Stopped) -> Execution {
        let status = status_of_stop(stopped.error.kind());
        Execution::not_run(status, stopped.error, stopped.error_type)
    }

    fn context(&self) -> ToolContext {
        self.cx.clone().unwrap_or_else(|| self.origin.context.clone())
    }

    /// Stops the call, with its gate and a word for hooks and logs.
    fn stop(&mut self, gate: Gate, tool: &Tool, error: ToolError, kind: &'static str) -> Stopped {
        self.trace.stop(gate, error.message());
        Stopped { tool: Some(tool.name().into()), error, error_type: kind }
    }

    /// Middleware that changes arguments. Each sees what the ones before it made of them.
    pub(crate) async fn request_middleware(
        &mut self,
        tool: &PreparedTool,
        mut args: Value,
    ) -> Result<Value, Stopped> {
        let Some(info) = self.info.clone() else { return Ok(args) };
        let runtime = self.runtime;
        for middleware in &runtime.extensions().request {
            let name = middleware.name();
            let asked = task::caught(async { middleware.request(&info, &args).await });
            let asked = tokio::select! {
                biased;
                asked = tokio::time::timeout(middleware.timeout(), asked) => asked,
                () = self.cancel.cancelled() => {
                    let error = interrupted();
                    let gate = Gate::Request;
                    return Err(self.stop(gate, &tool.tool, error, "keyboard_interrupt"));
                }
            };
            let changed = match asked {
                Err(_) => Err("it took too long".to_owned()),
                Ok(Ok(Ok(None))) => continue,
                Ok(Ok(Ok(Some(change)))) => {
                    let mut fitted = change.args.clone();
                    let fits = arguments::fit(tool, &mut fitted);
                    fits.map(|()| (change, fitted)).map_err(|error| error.message().to_owned())
                }
                Ok(Ok(Err(error))) => Err(error.to_string()),
                Ok(Err(panic)) => Err(panic),
            };
            match changed {
                Ok((change, fitted)) => {
                    args = fitted;
                    let reason = change.reason.as_deref().unwrap_or("no reason given");
                    self.trace.note(Gate::Request, format!("{name} changed them: {reason}"));
                    self.middleware_trace.push(payload::middleware_entry(name, &change));
                }
                Err(why) => {
                    tracing::warn!(middleware = name, error = why, "request middleware failed");
                    if middleware.on_error() == OnError::Block {
                        let error = ToolError::denied(format!(
                            "{name}, which looks at every call, failed, so the call was blocked"
                        ));
                        return Err(self.stop(Gate::Request, &tool.tool, error, "plugin_block"));
                    }
                    self.trace.note(Gate::Request, format!("{name} failed and was passed over"));
                }
            }
        }
        Ok(args)
    }

    pub(crate) fn has_request_middleware(&self) -> bool {
        !self.runtime.extensions().request.is_empty()
    }

    pub(crate) fn has_hooks_before(&self) -> bool {
        self.runtime.extensions().hooks.listens(HookEvent::PreToolCall)
    }

    pub(crate) fn has_edit_reviewer(&self) -> bool {
        self.session.options().edit_reviewer.is_some()
    }

    pub(crate) fn has_checkpointer(&self) -> bool {
        self.runtime.extensions().checkpointer.is_some()
    }

    /// Whether the tool is among those that the session may use at all.
    pub(crate) fn whitelist(&mut self, tool: &PreparedTool) -> Result<(), Stopped> {
        let name = tool.tool.name();
        match &self.session.options().whitelist {
            Some(allowed) if !allowed.contains(name) => {
                let error =
                    ToolError::denied(format!("{name} is not among the tools of this session"));
                Err(self.stop(Gate::Hooks, &tool.tool, error, "plugin_block"))
            }
            _ => Ok(()),
        }
    }

    /// Hooks before the call, and the person that one of them may want to be asked.
    pub(crate) async fn pre_tool_call(
        &mut self,
        tool: &PreparedTool,
        mut args: Value,
    ) -> Result<Value, Stopped> {
        let name = tool.tool.name();
        let hooks = &self.runtime.extensions().hooks;
        let cx = self.context();
        let event = payload::pre_tool_call(self, name, &args);
        let refit = |mut args: Value| match arguments::fit(tool, &mut args) {
            Ok(()) => Ok(args),
            Err(error) => Err(error.message().to_owned()),
        };
        let asked = hooks.pre_tool_call(event, refit);
        let (verdict, changed) = tokio::select! {
            biased;
            asked = asked => asked,
            () = self.cancel.cancelled() => {
                return Err(self.stop(Gate::Hooks, &tool.tool, interrupted(), "keyboard_interrupt"));
            }
        };
        if let Some(changed) = changed {
            self.trace.note(Gate::Hooks, "a hook changed the arguments");
            args = changed;
        }
        match verdict {
            Verdict::Go => self.trace.pass(Gate::Hooks, || "no hook objects".into()),
            Verdict::Block { message } => {
                let error = ToolError::denied(message);
                return Err(self.stop(Gate::Hooks, &tool.tool, error, "plugin_block"));
            }
            Verdict::Ask { message, rule_key } => {
                let shown = arguments::masked(tool, &args);
                let rule_key = rule_key.as_deref();
                let question = approval::question(&tool.tool, &shown, &message, rule_key);
                if self.dry {
                    match approval::who(&tool.tool, &question, &cx) {
                        Ok(Who::Person(_)) => {
                            self.trace.note(Gate::Hooks, "a person would be asked");
                        }
                        Ok(Who::Nobody(why)) => {
                            self.trace.note(Gate::Hooks, format!("nobody would be asked: {why}"));
                        }
                        Err(error) => {
                            return Err(self.stop(Gate::Hooks, &tool.tool, error, "plugin_block"));
                        }
                    }
                    return Ok(args);
                }
                let asked = approval::ask(&tool.tool, &question, &cx);
                let permission = tokio::select! {
                    biased;
                    permission = asked => permission,
                    () = self.cancel.cancelled() => Err(ToolError::cancelled(
                        "the turn was interrupted while a person was asked",
                    )),
                };
                match permission {
                    Ok(approval::Permission::Person(answer)) => {
                        self.trace.note(Gate::Hooks, format!("a person agreed ({answer})"));
                    }
                    Ok(approval::Permission::Waived(why)) => {
                        self.trace.note(Gate::Hooks, format!("nobody was asked: {why}"));
                    }
                    Err(error) => {
                        return Err(self.stop(Gate::Hooks, &tool.tool, error, "plugin_block"));
                    }
                }
            }
        }
        Ok(args)
    }

    /// Whether the same call has failed or led nowhere too often.
    pub(crate) fn guardrail(&mut self, tool: &PreparedTool, args: &Value) -> Result<(), Stopped> {
        let name = tool.tool.name();
        let mut guardrails = lock(&self.turn.guardrails);
        let decision = if self.dry {
            guardrails.clone().before(name, args)
        } else {
            guardrails.before(name, args)
        };
        drop(guardrails);
        if decision.action != Action::Block {
            self.trace.pass(Gate::Guardrail, || "not going round in circles".into());
            return Ok(());
        }
        let error = ToolError::denied(decision.message.clone())
            .with_extra("guardrail", payload::guardrail(&decision));
        Err(self.stop(Gate::Guardrail, &tool.tool, error, "guardrail_block"))
    }

    /// Whether a person agrees to an edit, in sessions where somebody looks at edits.
    pub(crate) async fn edit_review(
        &mut self,
        tool: &PreparedTool,
        args: &Value,
    ) -> Result<(), Stopped> {
        let Some(reviewer) = &self.session.options().edit_reviewer else { return Ok(()) };
        if self.dry {
            if tool.tool.propose().is_some() {
                self.trace.note(Gate::EditReview, "a person would be shown the edit");
            }
            return Ok(());
        }
        let cx = self.context();
        let reviewed = tokio::select! {
            biased;
            reviewed = edit_review::review(&**reviewer, &tool.tool, args, &cx) => reviewed,
            () = self.cancel.cancelled() => Err(ToolError::cancelled(
                "the turn was interrupted before the edit was agreed to; nothing was modified",
            )),
        };
        match reviewed {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.trace.note(Gate::EditReview, "a person agreed to the edit");
                Ok(())
            }
            Err(error) => Err(self.stop(Gate::EditReview, &tool.tool, error, "edit_denied")),
        }
    }

    /// A snapshot of what the call may change.
    pub(crate) async fn checkpoint(&mut self, tool: &PreparedTool, args: &Value) {
        let Some(checkpointer) = &self.runtime.extensions().checkpointer else { return };
        let cx = self.context();
        for target in checkpoint::targets(&tool.tool, args, &cx) {
            if self.dry {
                let note = format!("a snapshot of {} would be taken", target.display());
                self.trace.note(Gate::Checkpoint, note);
                continue;
            }
            let taken = task::caught(checkpointer.checkpoint(&tool.tool, &target, &cx));
            let taken = tokio::select! {
                taken = taken => taken.unwrap_or_else(Err),
                () = self.cancel.cancelled() => Err("interrupted".to_owned()),
                () = execute::passed(cx.deadlines()) => Err("it took too long".to_owned()),
            };
            match taken {
                Ok(note) => {
                    let note = note.unwrap_or_else(|| format!("snapshot of {}", target.display()));
                    self.trace.note(Gate::Checkpoint, note);
                }
                Err(why) => {
                    tracing::debug!(target = %target.display(), error = why, "no snapshot");
                    self.trace.note(Gate::Checkpoint, format!("no snapshot: {why}"));
                }
            }
        }
    }

    /// What the tool itself would ask before it does anything, where it can tell.
    ///
    /// # Errors
    /// It would refuse the call.
    pub(crate) async fn foresee(
        &mut self,
        tool: &PreparedTool,
        args: &Value,
    ) -> Result<(), Stopped> {
        let Some(foresee) = tool.tool.foresee() else { return Ok(()) };
        let cx = self.context();
        let args = args.clone();
        let seen = task::caught(async move { foresee(args, cx).await });
        let seen = tokio::select! {
            biased;
            seen = tokio::time::timeout(FORESEEING, seen) => seen,
            () = self.cancel.cancelled() => {
                let gate = Gate::Consent;
                return Err(self.stop(gate, &tool.tool, interrupted(), "keyboard_interrupt"));
            }
        };
        match seen {
            Ok(Ok(Ok(None))) => self.trace.pass(Gate::Consent, || "nobody would be asked".into()),
            Ok(Ok(Ok(Some(question)))) => self.trace.note(Gate::Consent, question),
            Ok(Ok(Err(error))) => {
                return Err(self.stop(Gate::Consent, &tool.tool, error, "tool_error"));
            }
            Ok(Err(panic)) => self.trace.note(Gate::Consent, format!("unknown: {panic}")),
            Err(_) => self.trace.note(Gate::Consent, "unknown: finding out took too long"),
        }
        Ok(())
    }

    /// The gates are behind the call: those who watch are told.
    pub(crate) fn started(&mut self, tool: &Arc<PreparedTool>, args: &Value) {
        self.args = args.clone();
        self.running = Some(Arc::clone(tool));
        if let Some(cx) = &self.cx {
            self.runtime.extensions().tell_listeners(cx.ids(), tool.tool.name());
        }
        if let Some(observer) = &self.session.options().observer {
            let shown = arguments::masked(tool, args);
            tell(Some(observer), |observer| observer.started(&self.id, &tool.tool, &shown));
        }
    }

    /// Runs the handler.
    pub(crate) async fn execute(&mut self, tool: &Arc<PreparedTool>, args: Value) -> Execution {
        use tracing::Instrument as _;
        let layers = &self.runtime.extensions().execution;
        let info = self.info.clone();
        let limit = execute::time_limit(&tool.tool, self.runtime.default_timeout());
        let cx = match (self.cx.take(), limit.and_then(Deadline::after)) {
            (Some(cx), Some(deadline)) => cx.with_deadline(deadline),
            (cx, _) => cx.unwrap_or_else(|| self.origin.context.clone()),
        };
        self.cx = Some(cx.clone());
        let work = execute::execute(tool, args, cx, layers, info);
        work.instrument(Gate::Execution.span()).await
    }
}

/// An interrupt that came before the handler.
fn interrupted() -> ToolError {
    ToolError::cancelled("the turn was interrupted before this call began")
}

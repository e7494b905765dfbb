//! From what a handler gave back to what the model sees.

use std::sync::Arc;

use hermes_guard::threats::Risk;
use hermes_hooks::HookEvent;
use hermes_registry::{Access, Concurrency, ErrorKind, ToolError, ToolOutput, ToolResult, Trust};
use hermes_turn::guardrail::{Action, Observed};
use hermes_turn::limits::Threshold;
use hermes_turn::{failure, limits};
use serde_json::Value;
use tracing::Instrument as _;

use crate::call::{CallOutcome, CallStatus, Effect, result_text};
use crate::canonical_path::canonical_in;
use crate::error_text::sanitize_error;
use crate::execute::Execution;
use crate::gates::Gate;
use crate::observer::tell;
use crate::prepared::PreparedTool;
use crate::result_store::{RESULTS_FOLDER, mentions_stored};
use crate::session::{Session, lock};
use crate::way::Way;
use crate::{arguments, audit, payload};

/// How long hooks may take once the turn is interrupted.
const HOOK_GRACE: std::time::Duration = std::time::Duration::from_secs(3);

impl Way<'_> {
    /// Everything after the handler, and the outcome.
    pub(crate) async fn finish(
        mut self,
        tool: Option<Arc<PreparedTool>>,
        execution: Execution,
    ) -> CallOutcome {
        let effect = execution.effect;
        let mut outcome = self.outcome(tool.as_deref(), execution);
        // Those who want to know, then those who want to change it.
        if self.has_hooks_after(&outcome) {
            Box::pin(self.post_hooks(&mut outcome)).await;
        }
        if let Some(tool) = &tool {
            // What has run counts for the guardrails, as the model will see it.
            if effect != Effect::None {
                self.observe(tool, &mut outcome);
            }
            // Another tool gets the result as it is; the rest is for models.
            if !self.origin.nested {
                if self.is_too_long(tool, &outcome) {
                    Box::pin(self.limit(&mut outcome).instrument(Gate::Limit.span())).await;
                }
                Gate::Frame.span().in_scope(|| self.frame(tool, &mut outcome));
                self.hints(&mut outcome);
            }
        }
        self.told(tool.as_deref(), &mut outcome);
        outcome
    }

    /// The outcome as the handler left it.
    fn outcome(&self, tool: Option<&PreparedTool>, execution: Execution) -> CallOutcome {
        let Execution { result, status, effect, error_type } = execution;
        let mut outcome = CallOutcome {
            id: self.id.clone(),
            called: self.called.clone(),
            tool: tool.map(|tool| Arc::from(tool.tool.name())),
            status,
            effect,
            failed: false,
            error_type,
            result: presentable(result).map_err(|error| for_the_model(error, tool)),
            notes: Vec::new(),
            frame: None,
            risk: None,
            stored: None,
            decisions: Vec::new(),
            duration: self.trace.since().elapsed(),
            images: self.session.options().images,
        };
        outcome.failed = failed(&outcome);
        outcome
    }

    /// The call is over: the log gets its line, and those who watch are told.
    fn told(&mut self, tool: Option<&PreparedTool>, outcome: &mut CallOutcome) {
        self.running = None;
        outcome.duration = self.trace.since().elapsed();
        outcome.decisions = self.trace.take();
        if let Some(log) = &self.runtime.extensions().audit {
            let shown = tool.map(|tool| arguments::masked(tool, &self.args));
            audit::record(log, self, outcome, shown.as_ref());
        }
        tell(self.session.options().observer.as_ref(), |observer| observer.completed(outcome));
    }

    /// Whether hooks are to be told of the outcome. Calls that never got to the hooks before are
    /// none of the hooks after either, but for one that was out of bounds, which somebody may want
    /// to know of.
    fn has_hooks_after(&self, outcome: &CallOutcome) -> bool {
        let hooks = &self.runtime.extensions().hooks;
        (self.cx.is_some() || outcome.error_type == Some("tool_scope_block"))
            && (hooks.listens(HookEvent::PostToolCall)
                || hooks.listens(HookEvent::TransformToolResult))
    }

    async fn post_hooks(&mut self, outcome: &mut CallOutcome) {
        let hooks = &self.runtime.extensions().hooks;
        let post = hooks.listens(HookEvent::PostToolCall);
        let transform = hooks.listens(HookEvent::TransformToolResult);
        let told = {
            let (way, seen) = (&*self, &*outcome);
            let text = result_text(&seen.result);
            let mut work = std::pin::pin!(async {
                if post {
                    hooks.tell(payload::after(HookEvent::PostToolCall, way, seen, &text)).await;
                }
                if !(transform && seen.effect == Effect::Ran) {
                    return None;
                }
                let event = payload::after(HookEvent::TransformToolResult, way, seen, &text);
                hooks.replacement(event).instrument(Gate::Transform.span()).await
            });
            tokio::select! {
                biased;
                told = &mut work => told,
                () = way.cancel.cancelled() => {
                    tokio::time::timeout(HOOK_GRACE, work).await.unwrap_or_default()
                }
            }
        };
        if let Some(text) = told {
            self.trace.note(Gate::Transform, "a hook replaced the result");
            outcome.result = Ok(ToolOutput::Text(text));
        }
    }

    /// Tells the guardrails what came of the call; they may have something to say.
    fn observe(&mut self, tool: &PreparedTool, outcome: &mut CallOutcome) {
        let idempotent = tool.tool.meta().idempotent;
        // The text matters only where equal results mean something.
        let text = if idempotent { result_text(&outcome.result) } else { String::new() };
        let decision = lock(&self.turn.guardrails).after(Observed {
            tool: tool.tool.name(),
            args: &self.args,
            failed: outcome.failed,
            idempotent,
            result: &text,
        });
        if matches!(decision.action, Action::Warn | Action::Halt) {
            self.trace.note(Gate::Guardrail, decision.code);
            outcome.notes.push(decision.message);
        }
    }

    fn is_too_long(&self, tool: &PreparedTool, outcome: &CallOutcome) -> bool {
        let limit = tool.tool.meta().max_result_size;
        let Threshold::Chars(most) = self.turn.limits.threshold(tool.tool.name(), limit) else {
            return false;
        };
        match &outcome.result {
            // Images are no text that could be paged through.
            Ok(ToolOutput::Multimodal { .. }) => false,
            Ok(ToolOutput::Text(text)) => limits::longer_than(text, most),
            result => limits::longer_than(&result_text(result), most),
        }
    }

    /// Writes a result into a file that is too long for the conversation.
    async fn limit(&mut self, outcome: &mut CallOutcome) {
        let preview = self.turn.limits.budget.preview;
        if let Some(note) = shorten(self.session, outcome, preview).await {
            self.trace.note(Gate::Limit, note);
        }
    }

    /// Marks the words of third parties, also those that come back from a stored result.
    fn frame(&mut self, tool: &PreparedTool, outcome: &mut CallOutcome) {
        let tool = &tool.tool;
        if outcome.effect == Effect::None {
            return;
        }
        if tool.meta().trust != Trust::ThirdParty && !self.reads_stored_result(tool) {
            return;
        }
        outcome.frame = Some(tool.name().into());
        let risk = Risk::of(&result_text(&outcome.result));
        if risk.findings.is_empty() {
            return self.trace.pass(Gate::Frame, || "framed as data".into());
        }
        let findings = risk.findings.join(", ");
        self.trace.note(Gate::Frame, format!("framed as data; it looks like {findings}"));
        outcome.risk = Some(risk);
    }

    fn reads_stored_result(&self, tool: &hermes_registry::Tool) -> bool {
        if mentions_stored(&self.args) {
            return true;
        }
        let Concurrency::PathScoped { access: Access::Read, arg, .. } = tool.meta().concurrency
        else {
            return false;
        };
        let (Some(path), Some(cx)) = (self.args.get(arg).and_then(|path| path.as_str()), &self.cx)
        else {
            return false;
        };
        let path = canonical_in(path, cx);
        path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(RESULTS_FOLDER))
    }

    /// What the folders say that the call was about.
    fn hints(&self, outcome: &mut CallOutcome) {
        if self.session.options().directory_hints
            && outcome.effect == Effect::Ran
            && let Some(cx) = &self.cx
        {
            outcome.notes.extend(self.session.state.hints.of_call(&self.args, cx));
        }
    }
}

impl Drop for Way<'_> {
    /// Whoever waited for the call has gone while its handler ran. It had begun all the same.
    fn drop(&mut self) {
        let Some(tool) = self.running.take() else { return };
        self.cancel.cancel();
        let gone = Execution {
            result: Err(ToolError::cancelled("nobody waits for the call any more")),
            status: CallStatus::Cancelled,
            effect: Effect::Unknown,
            error_type: Some("abandoned"),
        };
        let mut outcome = self.outcome(Some(&tool), gone);
        self.told(Some(&tool), &mut outcome);
    }
}

/// How deep a JSON result may be. What reads it goes as deep as it does, and has a stack.
const MAX_DEPTH: usize = 256;

/// A result that can be written down: a value that is too deep would end the process.
fn presentable(result: ToolResult) -> ToolResult {
    match result {
        Ok(ToolOutput::Json(value)) if is_too_deep(&value) => {
            dismantle(value);
            Err(ToolError::internal(format!(
                "the tool's result is nested more than {MAX_DEPTH} levels deep"
            )))
        }
        result => result,
    }
}

fn is_too_deep(value: &Value) -> bool {
    let mut todo = vec![(value, 0)];
    while let Some((value, depth)) = todo.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        match value {
            Value::Array(items) => todo.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => todo.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

/// Drops a value level by level.
fn dismantle(value: Value) {
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        match value {
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => todo.extend(map.into_iter().map(|(_, item)| item)),
            _ => {}
        }
    }
}

/// Puts a stand-in in the place of a result, which goes into a file as a whole, and says what was
/// done. Nothing where the stand-in would be longer.
pub(crate) async fn shorten(
    session: &Session,
    outcome: &mut CallOutcome,
    preview: usize,
) -> Option<String> {
    // The text may be huge: it is moved here, and shared with the store.
    let text = Arc::new(match &mut outcome.result {
        Ok(ToolOutput::Text(text)) => std::mem::take(text),
        result => result_text(result),
    });
    let stored = session.store_result(&limits::file_name(&outcome.id), Arc::clone(&text)).await;
    let block = match &stored {
        Ok(path) => limits::persisted_block(&text, path, preview),
        Err(_) => limits::truncated(&text, preview),
    };
    let Some(block) = block else {
        if let Ok(ToolOutput::Text(whole)) = &mut outcome.result {
            *whole = Arc::unwrap_or_clone(text);
        }
        return None;
    };
    let note = match &stored {
        Ok(path) => format!("the whole result went to {path}"),
        Err(why) => format!("the result was cut: it could not be stored ({why})"),
    };
    outcome.stored = stored.ok();
    outcome.result = match &outcome.result {
        // A failure stays one, of its kind; what made it long may stand beside its message.
        Err(error) => Err(ToolError::new(error.kind(), block)),
        Ok(_) => Ok(ToolOutput::Text(block)),
    };
    Some(note)
}

/// Whether the result reports a failure.
fn failed(outcome: &CallOutcome) -> bool {
    let tool = outcome.tool.as_deref().unwrap_or_default();
    match &outcome.result {
        Err(_) => true,
        Ok(ToolOutput::Json(value)) => failure::is_failure_value(tool, value),
        Ok(ToolOutput::Text(text)) => failure::is_failure(tool, text),
        Ok(_) => false,
    }
}

/// Errors whose text isn't the tool's own words are cleaned of markup that a model might take for
/// its own, and marked.
fn for_the_model(error: ToolError, tool: Option<&PreparedTool>) -> ToolError {
    let foreign = tool.is_some_and(|tool| tool.tool.meta().trust == Trust::ThirdParty);
    let text = match error.kind() {
        ErrorKind::Internal | ErrorKind::Upstream => {
            format!("Tool execution failed: {}", error.message())
        }
        // These are ours.
        ErrorKind::Denied | ErrorKind::Cancelled | ErrorKind::Timeout => return error,
        _ if foreign => error.message().to_owned(),
        _ => return error,
    };
    error.with_message(sanitize_error(&text))
}

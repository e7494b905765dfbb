//! The way of every call, from a model's words to an outcome. Reads top to bottom.
//!
//! Whatever the origin of a call (chat loop, MCP client, editor, script, sub-agent), it comes
//! through [`Runtime::call`](crate::Runtime::call) and so through here. There is no second path.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use hermes_registry::{CallSetup, Deadline, ErrorKind, ToolError, ToolOutput};
use serde_json::Value;

use crate::call::{CallOutcome, CallStatus, Effect, ToolCall};
use crate::definitions;
use crate::error_text::sanitize_error;
use crate::execute::{self, Execution};
use crate::gates::{Gate, Trace};
use crate::prepared::PreparedTool;
use crate::resolve::{self, Target};
use crate::runtime::Runtime;
use crate::session::{Grant, Session};
use crate::{arguments, task};

/// A call that passed all gates.
pub(crate) struct Ready {
    pub(crate) tool: Arc<PreparedTool>,
    pub(crate) args: Value,
}

/// What the gates made of a call.
pub(crate) enum Gated {
    /// It may run.
    Ready(Ready),
    /// One of the bridges answered it.
    Answered(ToolOutput),
}

/// Why a gate stopped a call.
pub(crate) struct Stopped {
    /// The tool, as far as it was found.
    pub(crate) tool: Option<Arc<str>>,
    error: ToolError,
}

/// Takes a call all the way. Never panics; every call has an outcome.
pub(crate) async fn run(runtime: &Runtime, session: &Session, call: ToolCall) -> CallOutcome {
    let arrived = Instant::now();
    let (id, called) = (call.id.clone(), call.name.clone());
    let passed = task::caught(pass(runtime, session, call)).await;
    let (tool, execution) = passed.unwrap_or_else(|message| {
        // Not the handler, which runs isolated, but a gate.
        let error = ToolError::internal(format!("Error executing {called}: {message}"));
        (None, not_run(CallStatus::Error, error))
    });
    let outcome = CallOutcome {
        id,
        called,
        tool,
        status: execution.status,
        effect: execution.effect,
        result: execution.result.map_err(for_the_model),
        duration: arrived.elapsed(),
    };
    if let Some(observer) = &session.options.observer {
        // A broken progress line is no reason to lose a result.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| observer.completed(&outcome)));
    }
    outcome
}

async fn pass(
    runtime: &Runtime,
    session: &Session,
    call: ToolCall,
) -> (Option<Arc<str>>, Execution) {
    let cancel = session.context().cancel().child();
    if cancel.is_cancelled() {
        let error = ToolError::cancelled("the turn was interrupted before this call began");
        return (None, not_run(CallStatus::Cancelled, error));
    }
    let id = call.id.clone();
    let ready = match gates(runtime, session, call, &mut Trace::off()) {
        Ok(Gated::Ready(ready)) => ready,
        Ok(Gated::Answered(output)) => {
            let status = CallStatus::Ok;
            return (None, Execution { result: Ok(output), status, effect: Effect::Ran });
        }
        Err(Stopped { tool, error }) => {
            let status = match error.kind() {
                ErrorKind::Denied => CallStatus::Blocked,
                _ => CallStatus::Error,
            };
            return (tool, not_run(status, error));
        }
    };
    let tool = &ready.tool.tool;
    if let Some(observer) = &session.options.observer {
        let shown = arguments::masked(&ready.tool, &ready.args);
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| observer.started(&id, tool, &shown)));
    }
    let limit = execute::time_limit(tool, runtime.default_timeout());
    let cx = session.context().for_call(CallSetup {
        call: &id,
        cancel,
        deadline: limit.and_then(Deadline::after),
        settings: runtime.settings(),
        caller: None,
    });
    let execution = execute::execute(tool, ready.args, cx).await;
    (Some(Arc::from(tool.name())), execution)
}

/// All that decides whether and with which arguments a call runs.
pub(crate) fn gates(
    runtime: &Runtime,
    session: &Session,
    call: ToolCall,
    trace: &mut Trace,
) -> Result<Gated, Stopped> {
    let grant = runtime.grant(session);

    // The name, mended where a slip of spelling leaves no doubt.
    let target = resolve::resolve(&grant, &call.name).map_err(|error| {
        let gate = if error.kind() == ErrorKind::Denied { Gate::Grant } else { Gate::Name };
        stop(trace, gate, None, error)
    })?;

    // The argument text.
    let args =
        arguments::parse(call.arguments).map_err(|error| stop(trace, Gate::Parse, None, error))?;
    trace.pass(Gate::Parse, || "the arguments are an object".into());

    // Tool search: a call through the bridge becomes the call it carries.
    let (tool, mut args, bridged) = match target {
        Target::Tool(tool) => (tool, args, false),
        Target::Bridge(hermes_search::TOOL_CALL) => {
            let (tool, args) = resolve::unwrap_bridge(&grant, &args)
                .map_err(|error| stop(trace, Gate::Bridge, None, error))?;
            (tool, args, true)
        }
        Target::Bridge(bridge) => {
            return answer_bridge(runtime, session, &grant, bridge, &args)
                .map(Gated::Answered)
                .map_err(|error| stop(trace, Gate::Bridge, None, error));
        }
    };
    let name: Arc<str> = tool.tool.name().into();
    trace.pass(Gate::Name, || format!("{} is {name}", call.name).into());
    trace.pass(Gate::Grant, || format!("granted through toolset {}", tool.tool.toolset()).into());

    // Whether it can be used right now.
    if session.options.check_availability
        && let Some(check) = tool.tool.check()
        && let Err(why) = runtime.availability().check(&grant.view.settings, check).outcome
    {
        let error = ToolError::unavailable(format!("{name} can't be used right now: {why}"));
        return Err(stop(trace, Gate::Availability, Some(name), error));
    }
    trace.pass(Gate::Availability, || "available".into());

    // Types and rules of the registered schema, never of a provider's copy.
    arguments::fit(&tool, &mut args).map_err(|error| {
        // A model that called through the bridge hasn't seen the schema.
        let error = if bridged {
            error.with_extra("parameters", Value::clone(tool.tool.parameters()))
        } else {
            error
        };
        stop(trace, Gate::Validation, Some(Arc::clone(&name)), error)
    })?;
    trace.pass(Gate::Coercion, || "types match the schema".into());
    trace.pass(Gate::Validation, || "the arguments fit the schema".into());
    Ok(Gated::Ready(Ready { tool, args }))
}

fn stop(trace: &mut Trace, gate: Gate, tool: Option<Arc<str>>, error: ToolError) -> Stopped {
    trace.stop(gate, error.message());
    Stopped { tool, error }
}

fn answer_bridge(
    runtime: &Runtime,
    session: &Session,
    grant: &Arc<Grant>,
    bridge: &str,
    args: &Value,
) -> Result<ToolOutput, ToolError> {
    let definitions = definitions::definitions(session, grant, runtime.availability());
    let catalog = definitions.catalog();
    let answer = if bridge == hermes_search::TOOL_SEARCH {
        hermes_search::answer_search(catalog, &definitions.search, args)
    } else {
        hermes_search::answer_describe(catalog, |name| resolve::is_deferrable(grant, name), args)
    };
    answer.map(ToolOutput::Json).map_err(|error| resolve::bridge_error(&error))
}

fn not_run(status: CallStatus, error: ToolError) -> Execution {
    Execution { result: Err(error), status, effect: Effect::None }
}

/// Errors whose text isn't the tool's own words are cleaned of markup that a model might take for
/// its own, and marked.
fn for_the_model(error: ToolError) -> ToolError {
    match error.kind() {
        ErrorKind::Internal | ErrorKind::Upstream => {
            let text = sanitize_error(&format!("Tool execution failed: {}", error.message()));
            error.with_message(text)
        }
        _ => error,
    }
}

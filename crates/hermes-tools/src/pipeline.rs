//! The way of every call, from a model's words to an outcome. Reads top to bottom.
//!
//! Whatever the origin of a call (chat loop, MCP client, editor, script, another tool), it comes
//! through here. There is no second path. [`arrive`] is the part that needs nobody else, so that a
//! batch can be planned; [`complete`] is the rest.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hermes_registry::{ErrorKind, ToolContext, ToolError, ToolOutput};
use serde_json::Value;
use tracing::{Instrument as _, Span};

use crate::call::{CallOutcome, CallStatus, ToolCall};
use crate::execute::Execution;
use crate::gates::{Detail, Gate, Trace};
use crate::prepared::PreparedTool;
use crate::resolve::{self, Target};
use crate::runtime::Runtime;
use crate::session::{Grant, Session};
use crate::way::Way;
use crate::{arguments, definitions, spans, task};

/// A call that passed the gates that need nobody else.
pub(crate) struct Ready {
    pub(crate) tool: Arc<PreparedTool>,
    pub(crate) args: Value,
}

/// What those gates made of a call.
pub(crate) enum Gated {
    /// It goes on.
    Ready(Ready),
    /// One of the bridges answered it.
    Answered(ToolOutput),
}

/// Why a gate stopped a call.
pub(crate) struct Stopped {
    /// The tool, as far as it was found.
    pub(crate) tool: Option<Arc<str>>,
    pub(crate) error: ToolError,
    /// What sort of stop it was, for hooks and logs.
    pub(crate) error_type: &'static str,
}

/// A call that arrived.
pub(crate) struct Arrival {
    pub(crate) id: String,
    pub(crate) called: String,
    pub(crate) gated: Result<Gated, Stopped>,
    pub(crate) trace: Trace,
    /// The span of the call, which began with its arrival.
    pub(crate) span: Span,
}

/// Where a call comes from.
pub(crate) struct Origin {
    /// The context that the call's own is derived from: its token and deadlines are the parents.
    pub(crate) context: ToolContext,
    /// Whether another tool made the call, which then gets the result at full length.
    pub(crate) nested: bool,
}

/// Takes a call all the way. Never panics; every call has an outcome.
pub(crate) async fn run(
    runtime: &Runtime,
    session: &Session,
    call: ToolCall,
    origin: &Origin,
) -> CallOutcome {
    complete(runtime, session, arrive(runtime, session, call), origin).await
}

/// Takes a call through the gates that need nobody else.
pub(crate) fn arrive(runtime: &Runtime, session: &Session, call: ToolCall) -> Arrival {
    let detail = if session.options().trace { Detail::All } else { Detail::Notable };
    let mut trace = Trace::new(detail);
    let (id, called) = (call.id.clone(), call.name.clone());
    let span = spans::call(&id);
    let gates = || span.in_scope(|| gates(runtime, session, call, &mut trace));
    let gated = catch_unwind(AssertUnwindSafe(gates)).unwrap_or_else(|payload| {
        // Not the handler, which runs isolated, but a gate.
        let message = task::panic_message(&*payload);
        let error = ToolError::internal(format!("Error executing {called}: {message}"));
        Err(Stopped { tool: None, error, error_type: "gate_crash" })
    });
    Arrival { id, called, gated, trace, span }
}

/// Takes a call that arrived to its outcome.
pub(crate) async fn complete(
    runtime: &Runtime,
    session: &Session,
    arrival: Arrival,
    origin: &Origin,
) -> CallOutcome {
    let Arrival { id, called, gated, trace, span } = arrival;
    // Boxed, since it is large and would be moved about while the layers around it are made.
    let work = Box::pin(async {
        let mut way = Way::new(runtime, session, origin, id, called, trace);
        let passed = task::caught(pass(&mut way, gated)).await;
        let (tool, execution) = passed.unwrap_or_else(|message| {
            let error = ToolError::internal(format!("Error executing {}: {message}", way.called));
            (None, Execution::not_run(CallStatus::Error, error, "gate_crash"))
        });
        way.finish(tool, execution).await
    });
    spans::within(span, origin, work).await
}

/// From the gates that may ask somebody to the end of the handler.
async fn pass(
    way: &mut Way<'_>,
    gated: Result<Gated, Stopped>,
) -> (Option<Arc<PreparedTool>>, Execution) {
    if let Some(execution) = way.over_before_it_began() {
        return (None, execution);
    }
    let ready = match gated {
        Ok(Gated::Ready(ready)) => ready,
        Ok(Gated::Answered(output)) => return (None, Execution::answered(output)),
        Err(stopped) => return (None, way.stopped(stopped)),
    };
    let tool = Arc::clone(&ready.tool);
    way.begin(&ready);
    let execution = match decide(way, &ready.tool, ready.args).await {
        Ok(args) => {
            way.started(&tool, &args);
            way.execute(&tool, args).await
        }
        Err(stopped) => Execution::not_run(
            status_of_stop(stopped.error.kind()),
            stopped.error,
            stopped.error_type,
        ),
    };
    (Some(tool), execution)
}

/// The gates that may ask somebody. Gives the arguments that the tool is to run with.
///
/// Most calls have nobody to ask. The futures of those who could be asked are boxed, so that a call
/// doesn't carry them along.
pub(crate) async fn decide(
    way: &mut Way<'_>,
    tool: &PreparedTool,
    mut args: Value,
) -> Result<Value, Stopped> {
    // What the host's own code makes of the arguments.
    if way.has_request_middleware() {
        let changed = way.request_middleware(tool, args);
        args = Box::pin(changed.instrument(Gate::Request.span())).await?;
    }

    // Hooks: a block beats a question, a question beats silence. May ask a person.
    way.whitelist(tool)?;
    if way.has_hooks_before() {
        let asked = way.pre_tool_call(tool, args);
        args = Box::pin(asked.instrument(Gate::Hooks.span())).await?;
    }

    // Whether the model goes round in circles.
    Gate::Guardrail.span().in_scope(|| way.guardrail(tool, &args))?;

    // An editor's user looks at edits before they are made.
    if way.has_edit_reviewer() {
        let reviewed = way.edit_review(tool, &args);
        Box::pin(reviewed.instrument(Gate::EditReview.span())).await?;
    }

    // What is about to be changed is kept. Never stops a call.
    if way.has_checkpointer() {
        let kept = way.checkpoint(tool, &args);
        Box::pin(kept.instrument(Gate::Checkpoint.span())).await;
    }
    Ok(args)
}

/// The gates that need nobody else: whether there is such a call at all.
pub(crate) fn gates(
    runtime: &Runtime,
    session: &Session,
    call: ToolCall,
    trace: &mut Trace,
) -> Result<Gated, Stopped> {
    let grant = runtime.grant(session);
    let of_call = Span::current();

    // The name, mended where a slip of spelling leaves no doubt.
    let span = Gate::Name.span().entered();
    let target = resolve::resolve(&grant, &call.name).map_err(|error| {
        let gate = if error.kind() == ErrorKind::Denied { Gate::Grant } else { Gate::Name };
        stop(trace, gate, None, error)
    })?;
    drop(span);
    if let Target::Tool(tool) = &target {
        of_call.record("tool", tool.tool.name());
    }

    // The argument text.
    let span = Gate::Parse.span().entered();
    let args = arguments::parse(call.arguments, trace)
        .map_err(|error| stop(trace, Gate::Parse, None, error))?;
    drop(span);

    // Tool search: a call through the bridge becomes the call it carries.
    let span = Gate::Bridge.span().entered();
    let (tool, mut args, bridged) = match target {
        Target::Tool(tool) => (tool, args, false),
        Target::Bridge(hermes_search::TOOL_CALL) => {
            let (tool, args) = resolve::unwrap_bridge(&grant, &args)
                .map_err(|error| stop(trace, Gate::Bridge, None, error))?;
            of_call.record("tool", tool.tool.name());
            trace.note(Gate::Bridge, format!("{} carries {}", call.name, tool.tool.name()));
            (tool, args, true)
        }
        Target::Bridge(bridge) => {
            of_call.record("tool", bridge);
            return answer_bridge(runtime, session, &grant, bridge, &args)
                .map(Gated::Answered)
                .map_err(|error| stop(trace, Gate::Bridge, None, error));
        }
    };
    drop(span);
    let name: Arc<str> = tool.tool.name().into();
    if bridged || call.name == *name {
        trace.pass(Gate::Name, || format!("{} is {name}", call.name).into());
    } else {
        trace.note(Gate::Name, format!("{} was read as {name}", call.name));
    }
    trace.pass(Gate::Grant, || format!("granted through toolset {}", tool.tool.toolset()).into());

    // Whether it can be used right now.
    let span = Gate::Availability.span().entered();
    if session.options().check_availability
        && let Some(check) = tool.tool.check()
        && let Err(why) = runtime.availability().check(&grant.view.settings, check).outcome
    {
        let error = ToolError::unavailable(format!("{name} can't be used right now: {why}"));
        return Err(stop(trace, Gate::Availability, Some(name), error));
    }
    drop(span);
    trace.pass(Gate::Availability, || "available".into());

    // Types and rules of the registered schema, never of a provider's copy.
    let span = Gate::Validation.span().entered();
    arguments::fit(&tool, &mut args).map_err(|error| {
        // A model that called through the bridge hasn't seen the schema.
        let error = if bridged {
            error.with_extra("parameters", Value::clone(tool.tool.parameters()))
        } else {
            error
        };
        stop(trace, Gate::Validation, Some(Arc::clone(&name)), error)
    })?;
    drop(span);
    trace.pass(Gate::Coercion, || "types match the schema".into());
    trace.pass(Gate::Validation, || "the arguments fit the schema".into());
    Ok(Gated::Ready(Ready { tool, args }))
}

fn stop(trace: &mut Trace, gate: Gate, tool: Option<Arc<str>>, error: ToolError) -> Stopped {
    // Where there is more to say than what sort of error it is.
    let said = error.extra().get("message").and_then(Value::as_str);
    trace.stop(gate, said.unwrap_or(error.message()));
    let error_type = match (gate, error.kind()) {
        (Gate::Bridge | Gate::Grant, ErrorKind::Denied) => "tool_scope_block",
        (_, kind) => kind.as_str(),
    };
    Stopped { tool, error, error_type }
}

/// The status of a call that a gate stopped.
pub(crate) fn status_of_stop(kind: ErrorKind) -> CallStatus {
    match kind {
        ErrorKind::Denied => CallStatus::Blocked,
        ErrorKind::Cancelled => CallStatus::Cancelled,
        ErrorKind::Timeout => CallStatus::Timeout,
        _ => CallStatus::Error,
    }
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

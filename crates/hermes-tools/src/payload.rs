//! What hooks are told of a call.

use hermes_hooks::{Event, HookEvent};
use hermes_registry::ToolError;
use hermes_turn::guardrail::Decision;
use serde_json::{Map, Value, json};

use crate::call::CallOutcome;
use crate::middleware::RequestChange;
use crate::way::Way;

/// The payload before a call.
pub(crate) fn pre_tool_call(way: &Way<'_>, tool: &str, args: &Value) -> Event {
    let mut payload = base(way, tool, args);
    payload.insert("middleware_trace".to_owned(), way.middleware_trace.clone().into());
    if way.dry {
        payload.insert("dry_run".to_owned(), true.into());
    }
    Event::new(HookEvent::PreToolCall, payload, way.origin.context.cwd())
}

/// The payload after a call.
pub(crate) fn after(kind: HookEvent, way: &Way<'_>, outcome: &CallOutcome, result: &str) -> Event {
    let tool = outcome.tool.as_deref().unwrap_or(&outcome.called);
    let mut payload = base(way, tool, &way.args);
    if kind == HookEvent::PostToolCall {
        payload.insert("middleware_trace".to_owned(), way.middleware_trace.clone().into());
    }
    let status = match (outcome.status, outcome.failed) {
        (crate::CallStatus::Ok, true) => "error",
        (status, _) => status.as_str(),
    };
    let error_type = outcome.error_type.or((status == "error").then_some("tool_error"));
    let error = outcome.result.as_ref().err();
    payload.insert("result".to_owned(), result.into());
    payload.insert("duration_ms".to_owned(), json!(outcome.duration.as_millis() as u64));
    payload.insert("status".to_owned(), status.into());
    payload.insert("error_type".to_owned(), error_type.into());
    payload.insert("error_message".to_owned(), error.map(ToolError::message).into());
    Event::new(kind, payload, way.origin.context.cwd())
}

fn base(way: &Way<'_>, tool: &str, args: &Value) -> Map<String, Value> {
    let ids = way.origin.context.ids();
    let pairs = [
        ("tool_name", Value::from(tool)),
        ("args", args.clone()),
        ("task_id", (&*ids.task).into()),
        ("session_id", (&*ids.session).into()),
        ("tool_call_id", way.id.as_str().into()),
        ("turn_id", (&*ids.turn).into()),
        ("api_request_id", (&*way.turn.request).into()),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// What a middleware did, for those who are told of the call.
pub(crate) fn middleware_entry(name: &str, change: &RequestChange) -> Value {
    let mut entry = json!({
        "name": name,
        "source": change.source.as_deref().unwrap_or("plugin"),
    });
    if let (Some(map), Some(reason)) = (entry.as_object_mut(), &change.reason) {
        map.insert("reason".to_owned(), reason.as_str().into());
    }
    entry
}

/// A decision of the guardrails, for the model and for hooks.
pub(crate) fn guardrail(decision: &Decision) -> Value {
    json!({
        "action": decision.action.as_str(),
        "code": decision.code,
        "message": decision.message,
        "tool_name": decision.tool,
        "count": decision.count,
        "signature": decision.signature.map(|signature| signature.to_string()),
    })
}

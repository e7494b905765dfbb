//! The tool itself: arguments, definition, handler.

use hermes_registry::{
    Exposure, Kind, Overrides, SchemaContext, ToolContext, ToolError, ToolOutput, ToolResult,
    register, schema_of,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{Item, TodoStore};

/// What is accepted.
#[derive(Deserialize, JsonSchema)]
struct Args {
    /// The items to write, in the order of work. Leave it out to read the list.
    // Untyped on purpose: a merge names only what it changes, and a slip in one item must not cost
    // the others. With a list type, text that is no list would be wrapped into one and clear it.
    #[serde(default)]
    todos: Option<Value>,
    /// Whether to change and append items by id instead of writing a new list.
    #[serde(default)]
    merge: bool,
}

/// What the model is asked for, which is stricter than what is accepted.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Shown {
    /// The items to write, in the order of work. Leave it out to read the list.
    #[serde(default)]
    todos: Option<Vec<Item>>,
    /// Whether to change and append items by id instead of writing a new list.
    #[serde(default)]
    merge: bool,
}

fn definition(_: &SchemaContext<'_>) -> Result<Overrides, ToolError> {
    Ok(Overrides::parameters(schema_of::<Shown>()))
}

async fn todo(args: Args, cx: ToolContext) -> ToolResult {
    let store = cx.require_service::<dyn TodoStore>("todo")?;
    let session = &cx.ids().session;
    let Some(todos) = args.todos else {
        return Ok(store.get(session).to_value(&[]).into());
    };
    let mut reply = Ok(Value::Null);
    store.update(session, &mut |list| {
        reply = list.apply(&todos, args.merge).map(|notes| list.to_value(&notes));
    });
    reply.map(ToolOutput::Json).map_err(|err| ToolError::invalid_arguments(err.to_string()))
}

register! {
    pub static TODO;
    name: "todo",
    toolset: "todo",
    description: "Your list of steps for the job at hand. Use it when a job has three or more \
        steps or when the user asks for several things; a small job needs no list.\n\
        Call it without arguments to read the list, with `todos` to write a new list, and with \
        `merge: true` to change or append single items by their id.\n\
        The order is the order of work. Keep exactly one item in_progress, mark an item completed \
        as soon as it is done and not before, and cancel what turns out to be unnecessary. If an \
        item fails, cancel it and add what has to be done instead. The answer is always the whole \
        list.",
    handler: todo,
    emoji: "📋",
    verb: "Planning",
    exposure: Exposure::Core,
    kind: Kind::AgentLevel,
    overrides: definition,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use hermes_registry::{CallIds, ErrorKind, Invocation, Services, Settings};
    use serde_json::json;

    use super::*;
    use crate::InMemoryTodos;

    fn call(cx: &ToolContext, args: Value) -> ToolResult {
        let Invocation::Async(call) = (TODO.invoke)(args, cx.clone()) else { panic!("blocking") };
        match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("the tool waits for nothing"),
        }
    }

    fn session(services: &Services, name: &str) -> ToolContext {
        let ids = CallIds { session: name.into(), ..CallIds::default() };
        ToolContext::default().with_ids(ids).with_services(services.clone())
    }

    #[test]
    fn sessions_have_lists_of_their_own() {
        let services = Services::new().with::<dyn TodoStore>(Arc::new(InMemoryTodos::new()));
        let (a, b) = (session(&services, "a"), session(&services, "b"));
        let item = json!({"id": "1", "content": "x", "status": "pending"});
        let written = call(&a, json!({"todos": [item]})).unwrap();
        assert_eq!(call(&a, json!({"todos": null})).unwrap(), written);
        let ToolOutput::Json(reply) = call(&b, json!({})).unwrap() else { panic!("no JSON") };
        assert_eq!(reply["todos"], json!([]));
    }

    #[test]
    fn a_refused_call_leaves_the_list() {
        let services = Services::new().with::<dyn TodoStore>(Arc::new(InMemoryTodos::new()));
        let cx = session(&services, "s");
        call(&cx, json!({"todos": [{"id": "1", "content": "x"}]})).unwrap();
        let refused = call(&cx, json!({"todos": "1. buy milk"})).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
        let ToolOutput::Json(reply) = call(&cx, json!({})).unwrap() else { panic!("no JSON") };
        assert_eq!(reply["summary"]["total"], 1);
    }

    #[test]
    fn without_an_agent_loop_the_call_says_so() {
        let refused = call(&ToolContext::default(), json!({})).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(refused.message().contains("agent loop"), "{refused}");
    }

    #[test]
    fn the_definition_asks_for_whole_items() {
        let (settings, available) = (Settings::default(), BTreeSet::new());
        let cx = SchemaContext { settings: &settings, available: &available };
        let shown = definition(&cx).unwrap().parameters.unwrap();
        let items = &shown["properties"]["todos"];
        assert_eq!((&items["type"], items.get("default")), (&json!("array"), None));
        assert_eq!(items["items"]["required"], json!(["id", "content", "status"]));
        assert_eq!(
            items["items"]["properties"]["status"]["enum"],
            json!(["pending", "in_progress", "completed", "cancelled"])
        );
        assert_eq!(shown["properties"]["merge"]["default"], false);
        assert_eq!(shown.get("required"), None);
    }
}

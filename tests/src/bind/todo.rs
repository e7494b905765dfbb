//! The `todo` tool, called as the dispatcher calls it.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hermes_registry::{Invocation, Services, ToolContext, ToolOutput};
use hermes_tool_todo::{InMemoryTodos, TODO, TodoList, TodoStore};
use serde_json::{Value, json};

use super::{Binding, list};
use crate::compare;

pub(crate) const AREA: &[(&str, Binding)] =
    &[("todo_apply", Binding::Checked(todo_apply)), ("todo_inject", Binding::Checked(todo_inject))];

pub(crate) fn todo_apply(input: &Value, expect: &Value) -> Result<(), String> {
    let store: Arc<dyn TodoStore> = Arc::new(InMemoryTodos::new());
    let cx = ToolContext::default().with_services(Services::new().with(Arc::clone(&store)));
    let mut initial = Ok(Vec::new());
    if let Some(todos) = input.get("initial") {
        store.update("", &mut |list| initial = list.apply(todos, false));
    }
    initial.map_err(|err| err.to_string())?;
    let mut reply = call(&cx, json!({}))?;
    for args in list(input, "calls")? {
        let mut args = args.clone();
        if let Value::Object(args) = &mut args {
            // The dispatcher drops a null for a parameter that need not be given.
            args.retain(|_, value| !value.is_null());
        }
        reply = call(&cx, args)?;
    }
    let wants_error = expect.get("error").is_some_and(|error| *error != false);
    match (wants_error, reply.get("error")) {
        (true, Some(_)) => return Ok(()),
        (true, None) => return Err(format!("expected an error, got {reply}")),
        (false, Some(error)) => return Err(format!("refused: {error}")),
        (false, None) => {}
    }
    let expected = expect.as_object().ok_or("the expectation is no object")?;
    let items = list(&reply, "todos")?;
    expected.iter().try_for_each(|(key, wanted)| check(key, wanted, &reply, items))
}

/// The result of a call as the model sees it.
fn call(cx: &ToolContext, args: Value) -> Result<Value, String> {
    let Invocation::Async(future) = (TODO.invoke)(args, cx.clone()) else {
        return Err("the tool blocks".to_owned());
    };
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(ToolOutput::Json(reply))) => Ok(reply),
        Poll::Ready(Ok(other)) => Err(format!("the reply is no JSON: {other:?}")),
        Poll::Ready(Err(err)) => Ok(err.to_value()),
        Poll::Pending => Err("the tool waits".to_owned()),
    }
}

/// Compares one expected key with the reply or, for the keys that sum up a list, with its items.
fn check(key: &str, wanted: &Value, reply: &Value, items: &[Value]) -> Result<(), String> {
    let column = |field: &str| -> Vec<Value> {
        items.iter().map(|item| item.get(field).cloned().unwrap_or_default()).collect()
    };
    let actual: Value = match key {
        "error" => return Ok(()),
        "todos" | "summary" => return compare::equal(key, wanted, reply.get(key)),
        "note" => match wanted {
            Value::Bool(_) => reply.get("note").is_some().into(),
            // Never word for word: a part of it.
            Value::String(part) if contains(reply.get("note"), part) => return Ok(()),
            _ => reply.get("note").cloned().unwrap_or_default(),
        },
        "contents" => column("content").into(),
        "ids" => column("id").into(),
        "status" if !wanted.is_array() => {
            let other = column("status").into_iter().find(|status| status != wanted);
            other.unwrap_or_else(|| wanted.clone())
        }
        "status" => column("status").into(),
        "total" => items.len().into(),
        "distinct_ids" => {
            let ids: HashSet<String> = column("id").iter().map(Value::to_string).collect();
            if wanted.is_boolean() { (ids.len() == items.len()).into() } else { ids.len().into() }
        }
        "id_not" => {
            let banned = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice);
            return match column("id").iter().find(|id| banned.contains(id)) {
                Some(id) => Err(format!("id_not: there is an item {id}")),
                None => Ok(()),
            };
        }
        _ => {
            let (item, field) = match key.split_once('_') {
                Some(("first", field)) => (items.first(), field),
                Some(("last", field)) => (items.last(), field),
                _ => return Err(format!("unknown expectation {key:?}")),
            };
            let item = item.ok_or_else(|| format!("{key}: the list is empty"))?;
            match field {
                "id" | "content" | "status" => item.get(field).cloned().unwrap_or_default(),
                "chars" | "len" | "length" | "content_chars" | "content_len" | "content_length" => {
                    let content = item.get("content").and_then(Value::as_str).unwrap_or_default();
                    content.chars().count().into()
                }
                _ => return Err(format!("unknown expectation {key:?}")),
            }
        }
    };
    compare::equal(key, wanted, Some(&actual))
}

fn contains(text: Option<&Value>, part: &str) -> bool {
    text.and_then(Value::as_str).is_some_and(|text| text.contains(part))
}

pub(crate) fn todo_inject(input: &Value, expect: &Value) -> Result<(), String> {
    let mut todos = TodoList::default();
    todos
        .apply(input.get("todos").unwrap_or(&Value::Null), false)
        .map_err(|err| err.to_string())?;
    let reminder = todos.reminder();
    let lines: Vec<&str> = reminder.iter().flat_map(|text| text.lines().skip(1)).collect();
    let active: Vec<&str> = todos.active().map(|item| item.id.as_str()).collect();
    if lines.len() != active.len() || !lines.iter().zip(&active).all(|(line, id)| line.contains(id))
    {
        return Err(format!("the lines don't show the items {active:?}: {lines:?}"));
    }
    compare::keys(expect, &json!({"ids_in_order": active, "lines": lines.len(), "text": reminder}))
}

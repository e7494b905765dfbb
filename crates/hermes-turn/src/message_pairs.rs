//! Giving every call of a conversation exactly one result.
//!
//! Model providers refuse a conversation in which a call has no result, a result no call, or two
//! calls one id. Histories come to that by crashes, edits and compaction; they are put right on
//! the copy that is sent.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::canonical::canonical_json;

/// The roles that providers know.
const ROLES: [&str; 6] = ["system", "user", "assistant", "tool", "function", "developer"];

/// Stands for a name that is blank.
const NO_NAME: &str = "invalid_tool_call";

/// What stands for a result that isn't there.
const NO_RESULT: &str =
    r#"{"error":"no result of this call was recorded; whether it had an effect isn't known"}"#;

/// A copy of `messages` that a provider accepts, as far as calls and results go:
///
/// - messages of other roles than system, user, assistant, tool, function and developer are left
///   out, and so is a `tool_calls` that is no list or has no call in it;
/// - of the calls with one id the first counts, and of its results; results without a call are
///   left out. A call's id is its `call_id`, or its `id` if that is blank, without blanks around;
/// - the results stand right after the message with their calls, in the order of the calls, and a
///   call without a result gets a note that says so;
/// - a call without a name is named `invalid_tool_call`, one without an id gets one by
///   [`derived_call_id`], and arguments are text.
///
/// What is right already stays as it is, so that the provider's cache of the prompt stays valid.
///
/// ```
/// use hermes_turn::message_pairs::fix_message_pairs;
/// use serde_json::json;
///
/// let history = [
///     json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function",
///         "function": {"name": "read_file", "arguments": "{}"}}]}),
///     json!({"role": "user", "content": "go on"}),
/// ];
/// let sent = fix_message_pairs(&history);
/// assert_eq!(sent[1]["tool_call_id"], "a");
/// assert_eq!(sent[2], history[1]);
/// ```
#[must_use]
pub fn fix_message_pairs(messages: &[Value]) -> Vec<Value> {
    let objects = || messages.iter().filter_map(Value::as_object);
    let mut results = HashMap::new();
    for message in objects().filter(|message| text(message, "role") == "tool") {
        let id = text(message, "tool_call_id").trim();
        if !id.is_empty() {
            results.entry(id).or_insert(message);
        }
    }
    let mut used = UsedIds::default();
    let mut fixed = Vec::with_capacity(messages.len());
    for message in objects() {
        let role = text(message, "role");
        if role == "tool" || !ROLES.contains(&role) {
            continue;
        }
        let calls = match message.get("tool_calls") {
            Some(Value::Array(calls)) if role == "assistant" => fix_calls(calls, &mut used),
            _ => Vec::new(),
        };
        let answers: Vec<Value> = calls.iter().map(|call| answer(call, &results)).collect();
        let mut message = message.clone();
        if calls.is_empty() {
            // `remove` would change the order of the other keys.
            message.shift_remove("tool_calls");
        } else {
            message.insert("tool_calls".to_owned(), calls.into_iter().map(|it| it.call).collect());
        }
        fixed.push(Value::Object(message));
        fixed.extend(answers);
    }
    fixed
}

/// The id of a call that came without one: the same whenever the same history is sent, since it
/// is derived from the call's name, its arguments and its index among the calls of its turn.
#[must_use]
pub fn derived_call_id(name: &str, arguments: &str, index: usize) -> String {
    let mut hash = Sha256::new();
    // Lengths keep the parts apart.
    for part in [name, arguments] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update((index as u64).to_le_bytes());
    let digits: String =
        hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("call_{digits}")
}

/// The ids of the calls so far.
#[derive(Default)]
struct UsedIds {
    ids: HashSet<String>,
    /// How often an id was derived.
    derived: HashMap<String, usize>,
}

impl UsedIds {
    /// An id for a call that has none.
    fn derive(&mut self, name: &str, arguments: &str, index: usize) -> String {
        let id = derived_call_id(name, arguments, index);
        let times = self.derived.entry(id.clone()).or_default();
        *times += 1;
        // The same call may have been made in an earlier turn.
        if *times == 1 { id } else { format!("{id}_{times}") }
    }
}

/// A call in the form in which it is sent.
struct Call {
    id: String,
    name: String,
    call: Value,
}

/// The calls of one message, without those whose id is taken.
fn fix_calls(calls: &[Value], used: &mut UsedIds) -> Vec<Call> {
    let mut fixed = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        let Some(mut call) = call.as_object().cloned() else { continue };
        let name = fix_function(&mut call);
        let id_key = if text(&call, "call_id").trim().is_empty() { "id" } else { "call_id" };
        let mut id = text(&call, id_key).trim().to_owned();
        if id.is_empty() {
            let arguments = call
                .get("function")
                .and_then(Value::as_object)
                .map_or("", |it| text(it, "arguments"));
            id = used.derive(&name, arguments, index);
        }
        if !used.ids.insert(id.clone()) {
            continue;
        }
        if text(&call, id_key) != id {
            call.insert(id_key.to_owned(), id.clone().into());
        }
        fixed.push(Call { id, name, call: Value::Object(call) });
    }
    fixed
}

/// Gives a call a named function with arguments that are text. Returns the name.
fn fix_function(call: &mut Map<String, Value>) -> String {
    if !call.contains_key("type") {
        call.insert("type".to_owned(), "function".into());
    }
    let function = call.entry("function").or_insert_with(|| json!({}));
    if !function.is_object() {
        *function = json!({});
    }
    let Some(function) = function.as_object_mut() else { return NO_NAME.to_owned() };
    if text(function, "name").trim().is_empty() {
        function.insert("name".to_owned(), NO_NAME.into());
    }
    let arguments = match function.get("arguments") {
        Some(Value::String(_)) => None,
        None | Some(Value::Null) => Some("{}".to_owned()),
        Some(decoded) => Some(canonical_json(decoded)),
    };
    if let Some(arguments) = arguments {
        function.insert("arguments".to_owned(), arguments.into());
    }
    text(function, "name").to_owned()
}

/// The message that answers `call`.
fn answer(call: &Call, results: &HashMap<&str, &Map<String, Value>>) -> Value {
    let Some(result) = results.get(call.id.as_str()) else {
        return json!({
            "role": "tool",
            "name": call.name,
            "tool_name": call.name,
            "tool_call_id": call.id,
            "content": NO_RESULT,
        });
    };
    let mut result = (*result).clone();
    if text(&result, "tool_call_id") != call.id {
        result.insert("tool_call_id".to_owned(), call.id.as_str().into());
    }
    // One provider wants the name of the tool in its result.
    if text(&result, "name").trim().is_empty() {
        result.insert("name".to_owned(), call.name.as_str().into());
    }
    Value::Object(result)
}

/// The text under `key`, or a blank one.
fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;

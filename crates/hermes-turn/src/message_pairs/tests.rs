//! Tests of calls and their results.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn call(id: &str, name: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}})
}

fn assistant(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

fn result(id: &str, content: &str) -> Value {
    json!({"role": "tool", "name": "t", "tool_name": "t", "tool_call_id": id, "content": content})
}

/// Role and ids of each message.
fn shape(messages: &[Value]) -> Vec<String> {
    let one = |message: &Value| {
        let role = message["role"].as_str().unwrap();
        match (&message["tool_calls"], &message["tool_call_id"]) {
            (Value::Array(calls), _) => {
                let ids: Vec<_> = calls
                    .iter()
                    .map(|call| call.get("call_id").unwrap_or(&call["id"]).as_str().unwrap())
                    .collect();
                format!("{role}:{}", ids.join(","))
            }
            (_, Value::String(id)) => format!("{role}:{id}"),
            _ => role.to_owned(),
        }
    };
    messages.iter().map(one).collect()
}

#[test]
fn what_is_right_stays() {
    let messages = [
        json!({"role": "system", "content": "s"}),
        json!({"role": "user", "content": "u", "x": 1}),
        assistant(&[call("a", "t"), call("b", "t")]),
        result("a", "1"),
        result("b", "2"),
        json!({"content": "done", "role": "assistant"}),
    ];
    assert_eq!(fix_message_pairs(&messages), messages);
    assert_eq!(fix_message_pairs(&[]), Vec::<Value>::new());
}

#[test]
fn results_follow_their_calls() {
    let user = json!({"role": "user", "content": "u"});
    let fixed = fix_message_pairs(&[
        result("zz", "of no call"),
        assistant(&[call("a", "t"), call("b", "t"), call("c", "t")]),
        user,
        result(" c ", "late"),
        result("a", "first"),
        result("a", "second"),
        result("", "of nothing"),
    ]);
    assert_eq!(shape(&fixed), ["assistant:a,b,c", "tool:a", "tool:b", "tool:c", "user"]);
    assert_eq!(fixed[1], result("a", "first"));
    assert_eq!(fixed[3], result("c", "late"));
    assert_eq!((&fixed[2]["name"], &fixed[2]["content"]), (&json!("t"), &json!(NO_RESULT)));
}

#[test]
fn an_id_is_used_once() {
    let fixed = fix_message_pairs(&[
        assistant(&[call("a", "t"), call("a ", "t")]),
        result("a", "1"),
        result("a", "2"),
        assistant(&[call("a", "t")]),
        result("a", "3"),
    ]);
    assert_eq!(shape(&fixed), ["assistant:a", "tool:a", "assistant"]);
    assert_eq!(fixed[1], result("a", "1"));
    assert_eq!(fixed[2].get("tool_calls"), None);
}

#[test]
fn a_call_pairs_by_call_id_before_id() {
    let mut both = call("fc_1", "t");
    both["call_id"] = json!(" c1 ");
    let mut blank = call("x", "t");
    blank["call_id"] = json!(" ");
    let fixed =
        fix_message_pairs(&[assistant(&[both, blank]), result("fc_1", "no"), result("c1", "yes")]);
    assert_eq!(fixed[0]["tool_calls"][0]["call_id"], "c1");
    assert_eq!(fixed[0]["tool_calls"][0]["id"], "fc_1");
    assert_eq!(fixed[1], result("c1", "yes"));
    assert_eq!(fixed[2]["tool_call_id"], "x");
    assert_eq!(fixed.len(), 3);
}

#[test]
fn broken_messages_are_left_out_or_mended() {
    let fixed = fix_message_pairs(&[
        json!("no message"),
        json!({"role": "narrator", "content": "x"}),
        json!({"content": "x"}),
        json!({"role": "assistant", "tool_calls": [], "content": "x"}),
        json!({"role": "assistant", "tool_calls": "x"}),
        json!({"role": "assistant", "tool_calls": null}),
        json!({"role": "user", "tool_calls": [call("u", "t")]}),
        json!({"role": "developer"}),
        json!({"role": "function", "name": "f"}),
    ]);
    let roles = ["assistant", "assistant", "assistant", "user", "developer", "function"];
    assert_eq!(shape(&fixed), roles);
    let fixed = fix_message_pairs(&[assistant(&[
        json!(7),
        call("a", " "),
        json!({"id": "b"}),
        json!({"id": "c", "function": {"name": "t", "arguments": {"y": 1, "x": 2}}}),
    ])]);
    let calls = &fixed[0]["tool_calls"];
    assert_eq!(calls[0]["function"]["name"], NO_NAME);
    assert_eq!(calls[1]["function"], json!({"name": NO_NAME, "arguments": "{}"}));
    assert_eq!(calls[2]["function"]["arguments"], r#"{"x":2,"y":1}"#);
    assert_eq!(calls[2]["type"], "function");
    assert_eq!(fixed[1]["name"], NO_NAME);
}

#[test]
fn a_missing_id_is_derived_and_the_same_every_time() {
    let turn = assistant(&[call("", "t"), call(" ", "t"), json!({"function": {"name": "t"}})]);
    let history = [turn.clone(), turn];
    let fixed = fix_message_pairs(&history);
    let ids: HashSet<_> = [0, 4]
        .into_iter()
        .flat_map(|turn| (0..3).map(move |call| (turn, call)))
        .map(|(turn, call)| fixed[turn]["tool_calls"][call]["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 6);
    assert_eq!(fixed[..4], fix_message_pairs(&history[..1]));
    assert_eq!(fixed[0]["tool_calls"][0]["id"], derived_call_id("t", "{}", 0));
    assert_ne!(derived_call_id("ab", "c", 0), derived_call_id("a", "bc", 0));
}

fn any_message() -> impl Strategy<Value = Value> {
    let id = || {
        prop::sample::select(vec![
            json!("a"),
            json!("b"),
            json!(" a "),
            json!("c"),
            json!(""),
            json!(null),
            json!(3),
        ])
    };
    let call =
        (id(), id(), any::<bool>(), prop::sample::select(vec![json!("t"), json!(" "), json!(1)]))
            .prop_map(|(id, call_id, both, name)| {
                let mut call = json!({"id": id, "function": {"name": name, "arguments": "{}"}});
                if both {
                    call["call_id"] = call_id;
                }
                call
            });
    let calls = prop_oneof![
        6 => prop::collection::vec(call, 0..4).prop_map(Value::from),
        1 => Just(json!("x")),
        1 => Just(json!([1, null])),
    ];
    let role = || prop::sample::select(vec!["assistant", "user", "system", "narrator"]);
    prop_oneof![
        3 => (role(), calls).prop_map(|(role, calls)| json!({"role": role, "tool_calls": calls})),
        3 => id().prop_map(|id| json!({"role": "tool", "tool_call_id": id, "content": "r"})),
        1 => role().prop_map(|role| json!({"role": role, "content": "x"})),
        1 => Just(json!(null)),
    ]
}

proptest! {
    #[test]
    fn providers_accept_what_comes_out(messages in prop::collection::vec(any_message(), 0..12)) {
        let fixed = fix_message_pairs(&messages);
        let mut used = HashSet::new();
        let mut left = fixed.as_slice();
        while let [message, rest @ ..] = left {
            left = rest;
            let role = message["role"].as_str().unwrap();
            prop_assert!(ROLES.contains(&role) && role != "tool");
            let Some(calls) = message.get("tool_calls") else { continue };
            prop_assert_eq!(role, "assistant");
            let calls = calls.as_array().unwrap();
            prop_assert!(!calls.is_empty());
            prop_assert!(left.len() >= calls.len());
            for (call, answer) in calls.iter().zip(left) {
                let id = |key: &str| call[key].as_str().filter(|id| !id.trim().is_empty());
                let id = id("call_id").or(id("id")).unwrap();
                prop_assert!(used.insert(id.to_owned()));
                prop_assert!(!call["function"]["name"].as_str().unwrap().trim().is_empty());
                prop_assert_eq!(&answer["role"], "tool");
                prop_assert_eq!(&answer["tool_call_id"], id);
                prop_assert!(answer["name"].is_string());
            }
            left = &left[calls.len()..];
        }
        prop_assert_eq!(fix_message_pairs(&fixed), fixed);
    }
}

//! What every linked tool must do, whatever it is for. A new tool crate gets these tests for free.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail the test"
)]

use std::collections::BTreeSet;
use std::time::Duration;

use hermes_registry::{CancellationToken, Registry, Settings, Tool, ToolContext, linked_specs};
use hermes_tools::{
    CallOutcome, CallStatus, Effect, Runtime, Session, SessionOptions, ToolCall, ToolSelection,
};
use serde_json::{Map, Value, json};

/// A runtime over everything linked, working in an empty folder.
struct World {
    runtime: Runtime,
    session: Session,
    _folder: tempfile::TempDir,
}

fn world(cancel: CancellationToken) -> World {
    let folder = tempfile::tempdir().unwrap();
    let (registry, refused) = Registry::builtin();
    assert!(refused.is_empty(), "{refused:?}");
    let settings = Settings::new(folder.path().join("home"));
    let runtime = Runtime::builder(registry).settings(settings).build();
    let cx = ToolContext::new(folder.path()).with_cancel(cancel);
    let session = runtime.open(SessionOptions::new(ToolSelection::all(), cx)).unwrap();
    World { runtime, session, _folder: folder }
}

impl World {
    async fn call(&self, name: &str, arguments: impl Into<String>) -> CallOutcome {
        let call = ToolCall::from_text("c1", name, arguments);
        let outcome =
            tokio::time::timeout(Duration::from_secs(60), self.runtime.call(&self.session, call));
        let outcome = outcome.await.unwrap_or_else(|_| panic!("{name} hangs"));
        let message = outcome.to_message();
        assert_eq!((&message["role"], &message["tool_call_id"]), (&json!("tool"), &json!("c1")));
        assert!(message["content"].is_string() || message["content"].is_array(), "{message}");
        if let Err(error) = &outcome.result {
            assert!(!error.message().trim().is_empty(), "{name} fails without a word");
            // A note of the guardrails may follow.
            let content = message["content"].as_str().unwrap().split("\n\n[").next().unwrap();
            let content: Value = serde_json::from_str(content).unwrap();
            assert!(content["error"].is_string(), "{content}");
        }
        outcome
    }
}

fn tools() -> Vec<Tool> {
    linked_specs().into_iter().map(Tool::linked).collect()
}

fn properties(tool: &Tool) -> Vec<String> {
    let properties = tool.parameters()["properties"].as_object().cloned().unwrap_or_default();
    properties.keys().cloned().collect()
}

#[test]
fn the_explicit_path_names_what_the_linker_collected() {
    let explicit: BTreeSet<&str> =
        hermes_tools::linked().into_iter().flatten().map(|spec| spec.name).collect();
    let collected: BTreeSet<&str> = linked_specs().into_iter().map(|spec| spec.name).collect();
    assert_eq!(explicit, collected);
    assert!(!collected.is_empty());
    let toolsets: BTreeSet<&str> = linked_specs().into_iter().map(|spec| spec.toolset).collect();
    let wired: BTreeSet<&str> = hermes_tools::FEATURES.iter().map(|(_, _, set)| *set).collect();
    assert_eq!(toolsets, wired);
}

#[test]
fn every_parameter_is_described() {
    for tool in tools() {
        for (name, schema) in tool.parameters()["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{}.{name}", tool.name());
        }
        let declared = properties(&tool);
        for secret in tool.meta().secret_params {
            assert!(declared.iter().any(|name| name == secret), "{}.{secret}", tool.name());
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused_before_anything_runs() {
    let world = world(CancellationToken::new());
    for tool in tools() {
        for text in ["[1]", "42", "\"text\"", "{\"a\":", "{'a' 1}", "{}{}", "\u{0}"] {
            let outcome = world.call(tool.name(), text).await;
            assert_eq!(
                (outcome.status, outcome.effect),
                (CallStatus::Error, Effect::None),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn odd_values_are_answered_without_a_crash() {
    let world = world(CancellationToken::new());
    let nested = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let odd = [
        json!(null),
        json!(""),
        json!("\u{0}\u{202e}\u{fffd}🏳️‍🌈"),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!({}),
        json!([]),
        nested,
        json!("../".repeat(2_000)),
    ];
    for tool in tools() {
        let names = properties(&tool);
        for value in &odd {
            let all: Map<String, Value> =
                names.iter().map(|name| (name.clone(), value.clone())).collect();
            let outcome = world.call(tool.name(), Value::Object(all).to_string()).await;
            let crashed =
                outcome.result.as_ref().is_err_and(|error| error.message().contains("crashed"));
            assert!(!crashed, "{} with {value}: {outcome:?}", tool.name());
        }
        world.call(tool.name(), "{}").await;
        world.call(tool.name(), r#"{"no_such_parameter": true, "force": true}"#).await;
    }
}

#[tokio::test]
async fn a_megabyte_in_one_argument_is_answered() {
    let world = world(CancellationToken::new());
    let big = "x".repeat(1 << 20);
    for tool in tools() {
        for name in properties(&tool) {
            world.call(tool.name(), json!({name: big}).to_string()).await;
        }
    }
}

#[tokio::test]
async fn an_interrupted_session_runs_nothing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let world = world(cancel);
    for tool in tools() {
        let outcome = world.call(tool.name(), "{}").await;
        assert_eq!((outcome.status, outcome.effect), (CallStatus::Cancelled, Effect::None));
    }
}

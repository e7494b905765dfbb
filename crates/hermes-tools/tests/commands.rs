//! A tool that runs commands, as the pipeline and the gate for commands see it.

mod support;

use std::sync::Arc;

use hermes_registry::{
    CallIds, Services, Settings, Surface, Tool, ToolContext, ToolError, ToolOutput,
};
use hermes_tools::approvals::{Answer, Approvals, CommandGate, CommandRequest, FixedAnswer};
use hermes_tools::{Extensions, SessionOptions, ToolCall, ToolSelection};
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};
use support::{Log, open, runtime, text, tool};

/// Stands for a terminal: asks, writes down what it would run, and says how it went.
fn terminal(ran: &Arc<Log>) -> Tool {
    let ran = Arc::clone(ran);
    tool("run", move |args, cx| {
        let ran = Arc::clone(&ran);
        Box::pin(async move {
            let command = args.get("text").and_then(Value::as_str).unwrap_or_default();
            let gate = cx
                .service::<dyn CommandGate>()
                .ok_or_else(|| ToolError::denied("nobody decides about commands here"))?;
            let decision = gate.decide(&CommandRequest::new("run", command), &cx).await;
            if let Some(refusal) = decision.result() {
                return Ok(ToolOutput::Json(refusal));
            }
            ran.add(command);
            let mut result = Map::from_iter([("output".to_owned(), json!("done"))]);
            decision.annotate(&mut result);
            Ok(ToolOutput::Json(result.into()))
        })
    })
}

#[expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
async fn run(services: Services, args: Value) -> (Value, Vec<String>) {
    let ran = Log::new();
    let runtime = runtime(vec![terminal(&ran)], Extensions::default());
    let ids = CallIds { session: "s".into(), ..CallIds::default() };
    let cx = ToolContext::new("/home/alice/project")
        .with_ids(ids)
        .with_surface(Surface::Cli)
        .with_services(services);
    let session = open(&runtime, SessionOptions::new(ToolSelection::all(), cx));
    let outcome = runtime.call(&session, ToolCall::from_text("c", "run", args.to_string())).await;
    (serde_json::from_str(&text(&outcome)).unwrap(), ran.lines())
}

fn answering(answer: Answer) -> Services {
    let settings = Settings::default().with_env([("HOME", "/home/alice"), ("TIRITH_ENABLED", "0")]);
    let gate = Approvals::builder(&settings).prompter(Arc::new(FixedAnswer(answer))).build();
    gate.lend(Services::new())
}

#[tokio::test]
async fn a_tool_runs_what_the_gate_lets_through() {
    let dangerous = json!({"text": "rm -rf build"});
    let (result, ran) = run(answering(Answer::Once), dangerous.clone()).await;
    assert_eq!(ran, ["rm -rf build"]);
    assert!(result["approval"].as_str().unwrap().contains("approved"), "{result}");
    let (result, ran) = run(answering(Answer::NO), dangerous.clone()).await;
    assert_eq!((&result["status"], &result["exit_code"]), (&json!("blocked"), &json!(-1)));
    assert!(ran.is_empty() && result["error"].as_str().unwrap().contains("not consented"));
    let (result, _) = run(answering(Answer::NO), json!({"text": "ls"})).await;
    assert_eq!(result, json!({"output": "done"}));
    // Nobody to decide is nobody who agrees.
    let (_, ran) = run(Services::new(), json!({"text": "ls"})).await;
    assert!(ran.is_empty());
}

#[tokio::test]
async fn no_argument_of_a_call_forces_anything() {
    for force in [json!(true), json!("true"), json!(1)] {
        let args = json!({"text": "rm -rf build", "force": force, "approved": true});
        let (_, ran) = run(answering(Answer::NO), args).await;
        assert!(ran.is_empty());
    }
    let (result, ran) = run(answering(Answer::Always), json!({"text": "rm -rf /"})).await;
    assert!(ran.is_empty() && result["status"] == "blocked", "{result}");
}

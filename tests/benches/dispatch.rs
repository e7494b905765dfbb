//! What a call costs beyond its handler, and what the list of definitions costs.
//!
//! `cargo bench -p hermes-tests --bench dispatch`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up has to stop")]

use divan::{Bencher, black_box};
use hermes_registry::{
    Concurrency, Owner, Registry, Tool, ToolContext, ToolFuture, ToolMeta, ToolOutput,
};
use hermes_tools::{Runtime, Session, SessionOptions, ToolCall, ToolSelection, task};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// A runtime whose only tool does nothing with two arguments.
fn noop() -> (Runtime, Session) {
    one_tool(|_: Value, _: ToolContext| -> ToolFuture {
        Box::pin(async { Ok(ToolOutput::from("ok")) })
    })
}

/// A runtime with one tool.
fn one_tool(handler: fn(Value, ToolContext) -> ToolFuture) -> (Runtime, Session) {
    let registry = Registry::new();
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
        },
        "required": ["path"],
    });
    let mut meta = ToolMeta::DEFAULT;
    meta.concurrency = Concurrency::ReadOnly;
    let tool = Tool::dynamic("noop", "bench", "Does nothing.", parameters, handler).with_meta(meta);
    registry.registrar(Owner::User).register(tool).expect("the name is free");
    let runtime = Runtime::builder(registry).build();
    let options = SessionOptions::new(ToolSelection::all(), ToolContext::new("/"));
    let session = runtime.open(options).expect("no deny list");
    (runtime, session)
}

/// A thousand calls one after the other, as the agent loop makes them. The limit comes as text, so
/// that coercion has work to do.
///
/// With several workers tokio hands every few tasks to another thread, which costs as much again.
#[divan::bench(args = [0, 1, 2], sample_count = 100, sample_size = 1)]
fn full_dispatch_x1000_by_workers(bencher: Bencher<'_, '_>, workers: usize) {
    let tokio = match workers {
        0 => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        _ => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(workers).enable_all().build()
        }
    };
    let tokio = tokio.expect("tokio");
    let (runtime, session) = noop();
    let session = std::sync::Arc::new(session);
    bencher.counter(divan::counter::ItemsCount::new(1000usize)).bench(|| {
        let (runtime, session) = (runtime.clone(), session.clone());
        tokio.block_on(async move {
            let calls = task::spawn(async move {
                for _ in 0..1000 {
                    let call = ToolCall::from_text("c", "noop", r#"{"path":"a.txt","limit":"5"}"#);
                    let outcome = runtime.call(&session, call).await;
                    assert!(black_box(outcome).is_ok());
                }
            });
            calls.await.expect("no call panics");
        });
    });
}

/// Eight calls that wait 100 ms each, in one batch.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn eight_reads_of_100_ms(bencher: Bencher<'_, '_>) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let tokio = tokio.expect("tokio");
    let handler = |args: Value, _: ToolContext| -> ToolFuture {
        Box::pin(async move {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            Ok(ToolOutput::Json(args))
        })
    };
    let (runtime, session) = one_tool(handler);
    bencher.bench(|| {
        let calls = (0..8)
            .map(|i| ToolCall::new(i.to_string(), "noop", json!({"path": i.to_string()})))
            .collect();
        let outcomes = tokio.block_on(runtime.call_batch(&session, calls));
        assert!(outcomes.iter().all(hermes_tools::CallOutcome::is_ok));
    });
}

#[divan::bench]
fn warm_definitions(bencher: Bencher<'_, '_>) {
    let (runtime, session) = noop();
    bencher.bench(|| runtime.definitions(black_box(&session)));
}

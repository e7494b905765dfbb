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
    let registry = Registry::new();
    let handler =
        |_: Value, _: ToolContext| -> ToolFuture { Box::pin(async { Ok(ToolOutput::from("ok")) }) };
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

#[divan::bench]
fn warm_definitions(bencher: Bencher<'_, '_>) {
    let (runtime, session) = noop();
    bencher.bench(|| runtime.definitions(black_box(&session)));
}

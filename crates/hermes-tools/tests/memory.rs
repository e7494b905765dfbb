//! Calls leave nothing behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hermes_registry::{Owner, Registry, Tool, ToolContext, ToolFuture, ToolOutput};
use hermes_tools::{Runtime, Session, SessionOptions, ToolCall, ToolSelection, task};
use serde_json::{Value, json};

const CALLS: usize = 10_000;

/// Counts the bytes that are allocated and not yet freed. What the system thinks of this process
/// says less: how far the heap once reached depends on the scheduler.
struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

#[expect(unsafe_code, reason = "an allocator can't be written otherwise")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller keeps to the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Has all calls under way at once, then lets them end.
async fn round(runtime: &Runtime, session: &Arc<Session>) {
    let calls: Vec<_> = (0..CALLS)
        .map(|i| {
            let (runtime, session) = (runtime.clone(), Arc::clone(session));
            task::spawn(async move {
                let call = ToolCall::new(i.to_string(), "noop", json!({"a": i, "b": "text"}));
                assert!(runtime.call(&session, call).await.is_ok());
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_concurrent_calls_leave_no_memory_behind() {
    let registry = Registry::new();
    let handler = |_: Value, _: ToolContext| -> ToolFuture {
        Box::pin(async {
            tokio::task::yield_now().await;
            Ok(ToolOutput::from("ok"))
        })
    };
    let tool = Tool::dynamic("noop", "test", "Does nothing.", json!({"type": "object"}), handler);
    registry.registrar(Owner::User).register(tool).unwrap();
    let runtime = Runtime::builder(registry).build();
    let options = SessionOptions::new(ToolSelection::all(), ToolContext::new("/"));
    let session = Arc::new(runtime.open(options).unwrap());
    // What is made once, on first use.
    round(&runtime, &session).await;
    let before = LIVE.load(Ordering::Relaxed);
    for _ in 0..3 {
        round(&runtime, &session).await;
    }
    let growth = LIVE.load(Ordering::Relaxed) - before;
    // Ten bytes left behind by each call would be more.
    assert!(growth < 300_000, "{growth} bytes more after three more rounds");
}

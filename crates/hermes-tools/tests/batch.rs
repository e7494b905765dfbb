//! Batches: order, parallelism, limits, interrupts.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail the test"
)]

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hermes_registry::{
    CancellationToken, Concurrency, Invocation, Owner, Registry, Settings, Tool, ToolContext,
    ToolError,
};
use hermes_tools::{
    CallObserver, CallOutcome, CallStatus, Effect, Extensions, RunningCall, Runtime,
    SessionOptions, ToolCall, ToolSelection,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Log, echo, now, open, options, runtime, text, tool, with_meta};

fn read_only(tool: Tool) -> Tool {
    with_meta(tool, |meta| meta.concurrency = Concurrency::ReadOnly)
}

fn calls(names: &[&str]) -> Vec<ToolCall> {
    let numbered = names.iter().enumerate();
    numbered.map(|(i, name)| ToolCall::new(format!("c{i}"), *name, json!({"n": i}))).collect()
}

/// How many calls run at once, and the most there ever were.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

fn gauged(gauge: &Arc<Gauge>) -> Tool {
    let gauge = Arc::clone(gauge);
    read_only(tool("gauged", move |args, _| {
        let gauge = Arc::clone(&gauge);
        Box::pin(async move {
            let running = gauge.now.fetch_add(1, Ordering::SeqCst) + 1;
            gauge.most.fetch_max(running, Ordering::SeqCst);
            // Later calls end sooner.
            let n = args["n"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(100 - n)).await;
            gauge.now.fetch_sub(1, Ordering::SeqCst);
            Ok(args.into())
        })
    }))
}

#[tokio::test(start_paused = true)]
async fn at_most_eight_run_at_once_and_results_keep_the_order() {
    for (configured, expected) in [(None, 8), (Some(3), 3), (Some(0), 8)] {
        let gauge = Arc::new(Gauge::default());
        let runtime = runtime(vec![gauged(&gauge)], Extensions::default());
        let mut options = options();
        options.max_parallel = configured;
        let session = open(&runtime, options);
        let outcomes = runtime.call_batch(&session, calls(&["gauged"; 20])).await;
        let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.id.clone()).collect();
        assert_eq!(ids, (0..20).map(|i| format!("c{i}")).collect::<Vec<_>>());
        assert_eq!(gauge.most.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_change_things_wait_for_each_other() {
    let log = Log::new();
    let step = |name: &'static str, concurrency: Concurrency| {
        let log = Arc::clone(&log);
        let tool = tool(name, move |args, _| {
            let log = Arc::clone(&log);
            Box::pin(async move {
                let n = args["n"].clone();
                log.add(format!("{n}+"));
                tokio::time::sleep(Duration::from_millis(10)).await;
                log.add(format!("{n}-"));
                Ok("ok".into())
            })
        });
        with_meta(tool, |meta| meta.concurrency = concurrency)
    };
    let tools = vec![
        step("read", Concurrency::ReadOnly),
        step("write", Concurrency::writes("path")),
        step("run", Concurrency::Exclusive),
    ];
    let runtime = runtime(tools, Extensions::default());
    let session = open(&runtime, options());
    let write =
        |n: u32, path: &str| ToolCall::new(n.to_string(), "write", json!({"n": n, "path": path}));
    let call = |n: u32, name: &str| ToolCall::new(n.to_string(), name, json!({"n": n}));
    let batch = vec![
        write(0, "/a/x"),
        write(1, "/a/y"),
        write(2, "/a/./x"),
        call(3, "read"),
        call(4, "run"),
        call(5, "read"),
        call(6, "read"),
    ];
    runtime.call_batch(&session, batch).await;
    let order = log.lines().concat();
    assert_eq!(order, "0+1+0-1-2+3+2-3-4+4-5+6+5-6-");
}

#[tokio::test]
async fn repeated_and_surplus_calls_are_answered_without_running() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = |name: &str| {
        let count = Arc::clone(&count);
        tool(name, move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            now(Ok("ok".into()))
        })
    };
    let tools = vec![
        counted("plain"),
        with_meta(counted("press"), |meta| meta.repeatable = true),
        with_meta(counted("delegate"), |meta| meta.per_turn = Some(|_| 2)),
    ];
    let runtime = runtime(tools, Extensions::default());
    let session = open(&runtime, options());
    let batch = |name: &str, args: &[&str]| {
        let numbered = args.iter().enumerate();
        numbered.map(|(i, args)| ToolCall::from_text(format!("c{i}"), name, *args)).collect()
    };
    let statuses = |outcomes: Vec<CallOutcome>| {
        outcomes.iter().map(|outcome| outcome.status.as_str()).collect::<Vec<_>>()
    };
    let outcomes = runtime
        .call_batch(&session, batch("plain", &[r#"{"n":1,"text":"a"}"#, r#"{ "text":"a","n":1}"#]))
        .await;
    assert!(text(&outcomes[1]).contains("call 1"), "{outcomes:?}");
    assert_eq!(outcomes[1].to_message()["effect_disposition"], "none");
    assert_eq!(statuses(outcomes), ["ok", "skipped"]);
    let outcomes = runtime.call_batch(&session, batch("press", &["{}", "{}"])).await;
    assert_eq!(statuses(outcomes), ["ok", "ok"]);
    let args = [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#];
    let outcomes = runtime.call_batch(&session, batch("delegate", &args)).await;
    assert_eq!(statuses(outcomes), ["ok", "ok", "blocked"]);
    assert_eq!(count.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_call_after_a_change_is_no_repetition() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = |name: &str, concurrency: Concurrency| {
        let count = Arc::clone(&count);
        let tool = tool(name, move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            now(Ok("ok".into()))
        });
        with_meta(tool, |meta| meta.concurrency = concurrency)
    };
    let tools = vec![
        counted("read", Concurrency::reads("path")),
        counted("write", Concurrency::writes("path")),
    ];
    let runtime = runtime(tools, Extensions::default());
    let session = open(&runtime, options());
    let run = async |calls: &[(&str, &str)]| {
        let calls = calls.iter().enumerate().map(|(i, (name, text))| {
            ToolCall::new(i.to_string(), *name, json!({"path": "/a", "text": text}))
        });
        let outcomes = runtime.call_batch(&session, calls.collect()).await;
        outcomes.iter().map(|outcome| outcome.status.as_str()).collect::<Vec<_>>().join(" ")
    };
    let (read, a, b) = (("read", ""), ("write", "a"), ("write", "b"));
    assert_eq!(run(&[read, a, read, read]).await, "ok ok ok skipped");
    assert_eq!(run(&[a, b, a, read]).await, "ok ok ok ok");
    assert_eq!(run(&[a, a, read, a]).await, "ok skipped ok skipped");
}

#[tokio::test(start_paused = true)]
async fn a_mixed_batch_answers_every_call_in_its_place() {
    let slow = read_only(tool("slow", |_, _| Box::pin(std::future::pending())));
    let quick = read_only(echo());
    let registry = Registry::new();
    let user = registry.registrar(Owner::User);
    for tool in [slow, quick, tool("panics", |_, _| panic!("boom"))] {
        user.register(tool).unwrap();
    }
    let settings = Settings::new("/nowhere").with_env([("HERMES_CONCURRENT_TOOL_TIMEOUT_S", "2")]);
    let runtime = Runtime::builder(registry).settings(settings).build();
    let session = open(&runtime, options());
    let mut batch = calls(&["no_such_tool", "slow", "echo", "panics", ""]);
    batch.push(ToolCall::from_text("c5", "echo", r#"{"text": "cut"#));
    let outcomes = runtime.call_batch(&session, batch).await;
    let shape: Vec<_> =
        outcomes.iter().map(|o| (o.id.as_str(), o.status.as_str(), o.effect)).collect();
    assert_eq!(
        shape,
        [
            ("c0", "error", Effect::None),
            ("c1", "timeout", Effect::Unknown),
            ("c2", "ok", Effect::Ran),
            ("c3", "error", Effect::Ran),
            ("c4", "error", Effect::None),
            ("c5", "error", Effect::None),
        ]
    );
    assert_eq!(outcomes[1].error_type, Some("tool_timeout"));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_cancels_waiting_calls_and_reaches_running_ones() {
    let polite = read_only(tool("polite", |_, cx| {
        Box::pin(async move {
            cx.cancel().cancelled().await;
            Ok("stopped half way".into())
        })
    }));
    let deaf = read_only(tool("deaf", |_, _| Box::pin(std::future::pending())));
    let runtime = runtime(vec![polite, deaf, echo()], Extensions::default());
    let cancel = CancellationToken::new();
    let mut options = options();
    options.max_parallel = Some(2);
    options.context = options.context.with_cancel(cancel.clone());
    let session = open(&runtime, options);
    let interrupt = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
        tokio::time::Instant::now()
    };
    let batch = runtime.call_batch(&session, calls(&["polite", "deaf", "polite", "echo"]));
    let (outcomes, interrupted) = tokio::join!(batch, interrupt);
    assert!(interrupted.elapsed() < Duration::from_millis(3500));
    let shape: Vec<_> = outcomes.iter().map(|o| (o.status.as_str(), o.effect)).collect();
    assert_eq!(
        shape,
        [
            ("ok", Effect::Ran),
            ("cancelled", Effect::Unknown),
            ("cancelled", Effect::None),
            ("cancelled", Effect::None),
        ]
    );
    assert_eq!(outcomes[1].error_type, Some("keyboard_interrupt"));
}

#[tokio::test(start_paused = true)]
async fn those_who_watch_hear_that_work_goes_on() {
    struct Heart(Arc<Log>);
    impl CallObserver for Heart {
        fn heartbeat(&self, running: &[RunningCall]) {
            let tools: Vec<_> = running.iter().map(|call| &*call.tool).collect();
            self.0.add(tools.join(","));
            panic!("a broken watcher");
        }
    }
    let slow = read_only(tool("slow", |_, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(70)).await;
            Ok("ok".into())
        })
    }));
    let log = Log::new();
    let mut options = options();
    options.observer = Some(Arc::new(Heart(Arc::clone(&log))));
    let runtime = runtime(vec![slow], Extensions::default());
    let session = open(&runtime, options);
    let outcomes = runtime.call_batch(&session, calls(&["slow"; 5])).await;
    assert!(outcomes.iter().all(CallOutcome::is_ok));
    assert_eq!(log.lines(), ["slow,slow,slow", "slow,slow,slow"]);
}

#[tokio::test]
async fn a_turn_keeps_to_its_budget() {
    let long = with_meta(
        tool("long", |args, _| {
            now(Ok("x".repeat(args["n"].as_u64().unwrap() as usize * 100).into()))
        }),
        |meta| meta.concurrency = Concurrency::ReadOnly,
    );
    let runtime = runtime(vec![long], Extensions::default());
    let mut options = options();
    options.context_length = Some(65_536);
    let session = open(&runtime, options);
    let long = |n: u64| ToolCall::new(n.to_string(), "long", json!({"n": n}));
    let outcomes = runtime.call_batch(&session, vec![long(300), long(380), long(200)]).await;
    let stored: Vec<_> = outcomes.iter().map(|outcome| outcome.stored.is_some()).collect();
    assert_eq!(stored, [false, true, false]);
    let path = outcomes[1].stored.as_deref().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().len(), 38_000);
    // One that is too long alone goes first.
    let outcomes = runtime.call_batch(&session, vec![long(400), long(380), long(380)]).await;
    let stored: Vec<_> = outcomes.iter().map(|outcome| outcome.stored.is_some()).collect();
    assert_eq!(stored, [true, false, false]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enormous_results_harm_nothing_else() {
    let huge = read_only(tool("huge", |_, _| now(Ok("€".repeat(170_000_000).into()))));
    let runtime = runtime(vec![huge, read_only(echo())], Extensions::default());
    let session = open(&runtime, options());
    let outcomes = runtime.call_batch(&session, calls(&["huge", "echo"])).await;
    assert!(text(&outcomes[0]).len() < 10_000);
    let path = outcomes[0].stored.as_deref().unwrap();
    assert_eq!(std::fs::metadata(path).unwrap().len(), 510_000_000);
    assert_eq!(text(&outcomes[1]), r#"{"n":1}"#);
}

/// What a call of a random batch does.
#[derive(Clone, Copy, Debug)]
enum Behaviour {
    Echo,
    Sleep,
    Hang,
    Deaf,
    Panic,
    Block,
    BlockAndPanic,
    Fail,
    Missing,
    Broken,
    Calls,
}

const BEHAVIOURS: [Behaviour; 11] = [
    Behaviour::Echo,
    Behaviour::Sleep,
    Behaviour::Hang,
    Behaviour::Deaf,
    Behaviour::Panic,
    Behaviour::Block,
    Behaviour::BlockAndPanic,
    Behaviour::Fail,
    Behaviour::Missing,
    Behaviour::Broken,
    Behaviour::Calls,
];

struct Blocking(bool);

impl hermes_registry::DynHandler for Blocking {
    fn start(&self, args: Value, _: ToolContext) -> Invocation {
        let panics = self.0;
        Invocation::Blocking(Box::new(move || {
            assert!(!panics, "boom");
            Ok(args.into())
        }))
    }
}

fn unruly() -> Runtime {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let quick = |tool: Tool| {
        with_meta(tool, |meta| {
            meta.timeout = Some(Duration::from_millis(20));
            meta.concurrency = Concurrency::reads_or("path", ".");
        })
    };
    let tools = vec![
        quick(echo()),
        quick(tool("sleep", |args, _| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(15)).await;
                Ok(args.into())
            })
        })),
        quick(tool("hang", |_, cx| {
            Box::pin(async move {
                cx.cancel().cancelled().await;
                Err(ToolError::cancelled("told to stop"))
            })
        })),
        quick(tool("deaf", |_, _| Box::pin(std::future::pending()))),
        with_meta(tool("panic", |_, _| panic!("boom")), |meta| {
            meta.concurrency = Concurrency::writes("path");
        }),
        quick(Tool::dynamic("block", "test", "Blocks.", parameters.clone(), Blocking(false))),
        Tool::dynamic("block_and_panic", "test", "Crashes.", parameters, Blocking(true)),
        tool("fail", |_, _| now(Err(ToolError::internal("broken")))),
        quick(tool("calls", |args, cx| Box::pin(async move { cx.call_tool("sleep", args).await }))),
    ];
    runtime(tools, Extensions::default())
}

fn to_call(index: usize, behaviour: Behaviour, path: u8) -> ToolCall {
    let name = match behaviour {
        Behaviour::Echo | Behaviour::Broken => "echo",
        Behaviour::Sleep => "sleep",
        Behaviour::Hang => "hang",
        Behaviour::Deaf => "deaf",
        Behaviour::Panic => "panic",
        Behaviour::Block => "block",
        Behaviour::BlockAndPanic => "block_and_panic",
        Behaviour::Fail => "fail",
        Behaviour::Missing => "no_such_tool",
        Behaviour::Calls => "calls",
    };
    let arguments = match behaviour {
        Behaviour::Broken => r#"{"path": "#.to_owned(),
        _ => json!({"path": format!("/p{path}")}).to_string(),
    };
    ToolCall::from_text(format!("c{index}"), name, arguments)
}

static UNRULY: LazyLock<Runtime> = LazyLock::new(unruly);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_call_has_one_message_whatever_happens(
        batch in prop::collection::vec((prop::sample::select(&BEHAVIOURS[..]), 0..4u8), 0..7),
        interrupt in prop::option::of(0..40u64),
    ) {
        let tokio =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let cancel = CancellationToken::new();
        let cx = ToolContext::new("/").with_cancel(cancel.clone());
        let session = open(&UNRULY, SessionOptions::new(ToolSelection::all(), cx));
        let calls: Vec<ToolCall> = batch
            .iter()
            .enumerate()
            .map(|(index, (behaviour, path))| to_call(index, *behaviour, *path))
            .collect();
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        let outcomes = tokio.unwrap().block_on(async {
            let interrupt = async {
                if let Some(after) = interrupt {
                    tokio::time::sleep(Duration::from_millis(after)).await;
                    cancel.cancel();
                }
            };
            tokio::join!(UNRULY.call_batch(&session, calls), interrupt).0
        });
        let messages: Vec<Value> = outcomes.iter().map(CallOutcome::to_message).collect();
        let answered: Vec<&str> =
            messages.iter().map(|m| m["tool_call_id"].as_str().unwrap()).collect();
        prop_assert_eq!(answered, ids);
        let kinds: BTreeSet<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
        prop_assert!(kinds.is_subset(&BTreeSet::from(["tool"])));
        for (outcome, message) in outcomes.iter().zip(&messages) {
            prop_assert!(message["content"].as_str().is_some_and(|text| !text.is_empty()));
            let never_ran = outcome.effect == Effect::None;
            prop_assert_eq!(message["effect_disposition"] == "none", never_ran);
            prop_assert!(!(outcome.status == CallStatus::Ok && never_ran));
        }
    }
}

//! What a model sees, under changes of registry, settings and availability.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_registry::{
    AvailabilityCache, AvailabilityLimits, Check, Clock, Exposure, Owner, Registry, Settings, Tool,
    ToolContext, ToolFuture, ToolMeta, ToolOutput,
};
use hermes_tools::{Runtime, Session, SessionOptions, ToolCall, ToolSelection};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn tool(name: &str, toolset: &str, parameters: Value) -> Tool {
    let handler =
        |_: Value, _: ToolContext| -> ToolFuture { Box::pin(async { Ok(ToolOutput::from("ok")) }) };
    Tool::dynamic(name, toolset, format!("Does {name}."), parameters, handler)
}

fn plain(name: &str, toolset: &str) -> Tool {
    tool(name, toolset, json!({"type": "object", "properties": {}}))
}

fn registry(tools: impl IntoIterator<Item = Tool>) -> Registry {
    let registry = Registry::new();
    let user = registry.registrar(Owner::User);
    for tool in tools {
        user.register(tool).unwrap();
    }
    registry
}

fn open(runtime: &Runtime, tools: ToolSelection) -> Session {
    runtime.open(SessionOptions::new(tools, ToolContext::new("/"))).unwrap()
}

fn names(runtime: &Runtime, session: &Session) -> Vec<String> {
    runtime.definitions(session).names().iter().map(|name| (*name).to_owned()).collect()
}

#[derive(Default)]
struct ManualClock(AtomicU64);
impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

#[test]
fn a_backend_that_comes_up_or_goes_down_is_seen_within_the_ttl() {
    let up = Arc::new(Mutex::new(BTreeSet::from(["a"])));
    let check = |name: &'static str| {
        let up = Arc::clone(&up);
        Check::new(move |_| match up.lock().unwrap().contains(name) {
            true => Ok(()),
            false => Err("down".into()),
        })
    };
    let registry = registry(["a", "b"].map(|name| plain(name, "t").with_check(check(name))));
    let clock = Arc::new(ManualClock::default());
    let cache = AvailabilityCache::new(clock.clone(), AvailabilityLimits::default());
    let runtime = Runtime::builder(registry).availability(cache).build();
    let session = open(&runtime, ToolSelection::all());
    assert_eq!(names(&runtime, &session), ["a"]);
    up.lock().unwrap().insert("b");
    assert_eq!(names(&runtime, &session), ["a"]);
    clock.0.store(30, Ordering::SeqCst);
    assert_eq!(names(&runtime, &session), ["a", "b"]);
    up.lock().unwrap().clear();
    clock.0.store(61, Ordering::SeqCst);
    assert_eq!(names(&runtime, &session), ["a", "b"], "believed through a hiccup");
    clock.0.store(95, Ordering::SeqCst);
    assert!(names(&runtime, &session).is_empty());
    up.lock().unwrap().insert("b");
    runtime.availability().invalidate();
    assert_eq!(names(&runtime, &session), ["b"]);
}

#[test]
fn warm_definitions_are_the_same_object_and_edits_of_a_copy_do_not_show() {
    let runtime = Runtime::builder(registry([plain("a", "t")])).build();
    let session = open(&runtime, ToolSelection::all());
    let first = runtime.definitions(&session);
    let mut copy = first.visible.clone();
    *Arc::make_mut(&mut copy[0].parameters) = json!("spoiled");
    let second = runtime.definitions(&session);
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(*second.visible[0].parameters, json!({"type": "object", "properties": {}}));
}

#[tokio::test]
async fn a_disabled_toolset_is_gone_everywhere() {
    let registry = registry([plain("a", "one"), plain("b", "two"), plain("c", "two")]);
    let config = json!({
        "agent": {"disabled_toolsets": ["two"]},
        "tools": {"tool_search": "on"},
    });
    let settings = Settings::new("/h").with_config(config);
    let runtime = Runtime::builder(registry).settings(settings.clone()).build();
    let session = open(&runtime, ToolSelection::all().with_config_denials(&settings));
    let definitions = runtime.definitions(&session);
    assert_eq!(definitions.names(), ["tool_search", "tool_describe", "tool_call"]);
    assert_eq!(definitions.deferred.len(), 1);
    let search = ToolCall::new("1", "tool_search", json!({"query": "does b"}));
    let found = runtime.call(&session, search).await.content();
    assert!(!found.as_str().unwrap().contains("\"b\""), "{found}");
    for (name, args) in [("b", json!({})), ("tool_call", json!({"name": "b", "arguments": {}}))] {
        let outcome = runtime.call(&session, ToolCall::new("2", name, args)).await;
        assert!(!outcome.is_ok(), "{name}");
    }
    let through = ToolCall::new("3", "tool_call", json!({"name": "a", "arguments": {}}));
    let outcome = runtime.call(&session, through).await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!((outcome.tool.as_deref(), outcome.called.as_str()), (Some("a"), "tool_call"));
}

#[test]
fn a_deny_list_with_a_name_that_means_nothing_is_an_error() {
    let runtime = Runtime::builder(registry([plain("read_file", "file")])).build();
    for (disabled, denied, nearest) in [
        (vec!["fiel"], vec![], "file"),
        (vec!["read_file"], vec![], "file"),
        (vec![], vec!["raed_file"], "read_file"),
    ] {
        let tools = ToolSelection {
            enabled: None,
            disabled: disabled.into_iter().map(str::to_owned).collect(),
            denied_tools: denied.into_iter().map(str::to_owned).collect(),
        };
        let options = SessionOptions::new(tools, ToolContext::new("/"));
        let error = runtime.open(options).unwrap_err().to_string();
        assert!(error.contains(nearest), "{error}");
    }
    let one = ToolSelection { denied_tools: vec!["read_file".into()], ..ToolSelection::all() };
    assert!(names(&runtime, &open(&runtime, one)).is_empty());
}

#[test]
fn one_unusable_schema_costs_one_tool() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"x": deep}});
    }
    let foreign = [
        ("a_bool", json!({"type": "object", "properties": {"x": true}})),
        ("b_text", json!({"type": "object", "additionalProperties": "object"})),
        ("c_list", json!({"type": "object", "properties": {"x": {"type": "array"}}})),
        ("d_required", json!({"properties": {"x": {"type": "string"}, "required": ["x"]}})),
        (
            "e_enum",
            json!({"properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null", "enum": [null]}]}}}),
        ),
        (
            "f_recursive",
            json!({
                "properties": {"x": {"$ref": "#/$defs/node"}},
                "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
            }),
        ),
        ("g_deep", deep),
        ("h_nothing", Value::Null),
    ];
    let tools = foreign.into_iter().map(|(name, schema)| tool(name, "mcp-x", schema));
    let runtime = Runtime::builder(registry(tools)).build();
    let session = open(&runtime, ToolSelection::all());
    let definitions = runtime.definitions(&session);
    assert_eq!(
        definitions.names(),
        ["a_bool", "b_text", "c_list", "d_required", "e_enum", "f_recursive", "h_nothing"]
    );
    let quarantined: Vec<&str> = definitions.quarantined.iter().map(|(name, _)| &**name).collect();
    assert_eq!(quarantined, ["g_deep"]);
    assert!(definitions.quarantined[0].1.contains("64"), "{:?}", definitions.quarantined);
}

#[test]
fn other_tools_are_mentioned_while_they_are_there() {
    let handler =
        |_: Value, _: ToolContext| -> ToolFuture { Box::pin(async { Ok(ToolOutput::from("ok")) }) };
    let parameters = json!({
        "type": "object",
        "properties": {"x": {"type": "string", "description": "A path.[[b| Or an id from b.]]"}},
    });
    let a = Tool::dynamic("a", "one", "Does a.[[b| Better than b.]]", parameters, handler);
    let runtime = Runtime::builder(registry([a, plain("b", "two")])).build();
    let text = |selection| {
        let session = open(&runtime, selection);
        serde_json::to_string(&runtime.definitions(&session).visible[0]).unwrap()
    };
    let both = text(ToolSelection::all());
    assert!(both.contains("Better than b.") && both.contains("Or an id from b."), "{both}");
    let alone = text(ToolSelection::of(["one"]));
    assert!(!alone.contains("[[") && !alone.contains(" b."), "{alone}");
}

#[test]
fn registrations_are_seen_at_once() {
    let registry = registry([plain("a", "t")]);
    let runtime = Runtime::builder(registry.clone()).build();
    let session = open(&runtime, ToolSelection::all());
    assert_eq!(names(&runtime, &session), ["a"]);
    let mcp = registry.registrar(Owner::mcp("gh"));
    mcp.register(plain("mcp__gh__x", "mcp-gh")).unwrap();
    assert_eq!(names(&runtime, &session), ["a", "mcp__gh__x"]);
    mcp.deregister("mcp__gh__x").unwrap();
    assert_eq!(names(&runtime, &session), ["a"]);
}

#[test]
fn core_tools_are_never_deferred() {
    let mut meta = ToolMeta::DEFAULT;
    meta.exposure = Exposure::Core;
    let registry = registry([plain("core_tool", "t").with_meta(meta), plain("other", "t")]);
    let settings = Settings::new("/h").with_config(json!({"tools": {"tool_search": "on"}}));
    let runtime = Runtime::builder(registry).settings(settings).build();
    let session = open(&runtime, ToolSelection::all());
    assert_eq!(
        names(&runtime, &session),
        ["core_tool", "tool_search", "tool_describe", "tool_call"]
    );
}

#[test]
fn readers_see_a_dynamic_toolset_whole_or_not_at_all() {
    const ROUNDS: usize = 10_000;
    const TOOLS: usize = 3;
    let registry = registry([plain("always", "t")]);
    let runtime = Runtime::builder(registry.clone()).build();
    let (done, next_round) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let session = open(&runtime, ToolSelection::all());
                    let mut reads = 0;
                    while !done.load(Ordering::Relaxed) {
                        let names = names(&runtime, &session);
                        assert!(names.is_sorted(), "{names:?}");
                        assert!(names.contains(&"always".to_owned()));
                        for server in 0..8 {
                            let prefix = format!("mcp__s{server}__");
                            let seen = names.iter().filter(|it| it.starts_with(&prefix)).count();
                            assert!(seen == 0 || seen == TOOLS, "{names:?}");
                        }
                        reads += 1;
                    }
                    reads
                })
            })
            .collect();
        let writers: Vec<_> = (0..8)
            .map(|server| {
                let mcp = registry.registrar(Owner::mcp(format!("s{server}")));
                let next_round = &next_round;
                scope.spawn(move || {
                    let toolset = format!("mcp-s{server}");
                    let name = |tool: usize| format!("mcp__s{server}__t{tool}");
                    while next_round.fetch_add(1, Ordering::Relaxed) < ROUNDS {
                        mcp.batch(|batch| {
                            for tool in 0..TOOLS {
                                batch.register(plain(&name(tool), &toolset)).unwrap();
                            }
                            batch.alias(&format!("s{server}"), &toolset);
                        });
                        mcp.batch(|batch| {
                            for tool in 0..TOOLS {
                                batch.deregister(&name(tool)).unwrap();
                            }
                        });
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
    assert_eq!(registry.generation(), 1 + ROUNDS as u64 * (2 * TOOLS as u64 + 1));
    assert_eq!(registry.snapshot().aliases().count(), 0);
}

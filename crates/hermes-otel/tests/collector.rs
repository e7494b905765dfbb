//! Real calls, and a collector that looks at what arrives.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "these are tests; clippy knows only the functions marked so"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hermes_otel::Exporter;
use hermes_registry::{Registry, Settings, ToolContext};
use hermes_tools::{Runtime, Session, SessionOptions, ToolCall, ToolSelection};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use pretty_assertions::assert_eq;
use prost::Message as _;
use tracing_subscriber::layer::SubscriberExt as _;

/// Arguments and contents of files that must stay here.
const SECRET: &str = "hunter2";

/// What came in one request.
struct Request {
    /// The request line and the headers, in lower case.
    head: String,
    body: Vec<u8>,
}

/// Listens, answers every request with `status`, and passes on what came.
fn collector(status: &'static str) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
            reader.read_exact(&mut body).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n");
            let _ = write!(reader.get_mut(), "{answer}\r\n");
            if sender.send(Request { head, body }).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

fn exporter(address: &str, more: &[(&str, &str)]) -> Exporter {
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", address)];
    let settings = Settings::default().with_env(env.iter().chain(more).copied());
    Exporter::from_settings(&settings).unwrap().unwrap()
}

/// Runs `work` while the exporter listens, and ends it.
fn exported<F: Future<Output = ()>>(exporter: Exporter, work: impl FnOnce(Runtime, Session) -> F) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("hunter2.txt"), "hunter2\n").unwrap();
    let (registry, refused) = Registry::builtin();
    assert!(refused.is_empty(), "{refused:?}");
    let runtime = Runtime::builder(registry).build();
    let tools = ToolSelection::of(["file"]);
    let session = SessionOptions::new(tools, ToolContext::new(dir.path()));
    let session = runtime.open(session).unwrap();
    let subscriber = tracing_subscriber::registry().with(exporter.layer());
    // One thread, since the subscriber is that thread's.
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber, || threads.block_on(work(runtime, session)));
    exporter.shutdown(Duration::from_secs(60));
}

fn call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    ToolCall::from_text(id, tool, arguments)
}

fn spans(request: &Request) -> Vec<Span> {
    let decoded = ExportTraceServiceRequest::decode(&*request.body).unwrap();
    let scopes = decoded.resource_spans.into_iter().flat_map(|spans| spans.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

fn text<'a>(attributes: &'a [KeyValue], name: &str) -> Option<&'a str> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text),
        _ => None,
    }
}

fn of_call<'s>(spans: &'s [Span], id: &str) -> &'s Span {
    let of_call = spans.iter().find(|span| text(&span.attributes, "call") == Some(id));
    of_call.expect("every call has a span")
}

#[test]
fn a_call_is_a_trace_with_a_span_for_each_gate() {
    let (address, requests) = collector("200 OK");
    let more = [
        ("OTEL_EXPORTER_OTLP_HEADERS", "X-Key=a%20key"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=tools"),
        ("OTEL_SERVICE_NAME", "agent"),
    ];
    exported(exporter(&address, &more), async |runtime, session| {
        let read = call("c1", "read_file", r#"{"path": "hunter2.txt"}"#);
        let outcome = runtime.call(&session, read).await;
        assert!(outcome.content().to_string().contains(SECRET));
    });
    let request = requests.recv().unwrap();
    assert!(request.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", request.head);
    assert!(request.head.contains("content-type: application/x-protobuf\r\n"));
    assert!(request.head.contains("x-key: a key\r\n"));

    let spans = spans(&request);
    let root = of_call(&spans, "c1");
    assert_eq!((&*root.name, &*root.parent_span_id), ("read_file", &[] as &[u8]));
    assert_eq!(text(&root.attributes, "tool"), Some("read_file"));
    assert_eq!(text(&root.attributes, "status"), Some("ok"));
    let gates: Vec<&Span> = spans.iter().filter(|span| span.span_id != root.span_id).collect();
    for gate in &gates {
        assert_eq!((&gate.trace_id, &gate.parent_span_id), (&root.trace_id, &root.span_id));
        assert_eq!(text(&gate.attributes, "gate"), Some(&*gate.name));
        assert!(gate.start_time_unix_nano >= root.start_time_unix_nano, "{gate:?}");
        assert!(gate.end_time_unix_nano <= root.end_time_unix_nano, "{gate:?}");
    }
    let names: Vec<&str> = gates.iter().map(|span| &*span.name).collect();
    for name in ["name", "parse", "availability", "validation", "guardrail", "execution"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }

    let decoded = ExportTraceServiceRequest::decode(&*request.body).unwrap();
    let resource = decoded.resource_spans[0].resource.as_ref().unwrap();
    for (name, value) in [("service.name", "agent"), ("team", "tools")] {
        assert_eq!(text(&resource.attributes, name), Some(value), "{resource:?}");
    }
}

#[test]
fn calls_that_fail_are_marked_and_say_nothing_of_their_arguments() {
    let (address, requests) = collector("200 OK");
    exported(exporter(&address, &[]), async |runtime, session| {
        let calls = vec![
            call("missing", "read_file", r#"{"path": "hunter2"}"#),
            call("again", "read_file", r#"{"path": "hunter2"}"#),
            call("unfit", "read_file", r#"{"path": ["hunter2"]}"#),
            call("broken", "read_file", r#"{"path": "hunter2"#),
            call("unknown", "hunter2_the_tool", "{}"),
            call(&"x".repeat(100_000), "search_files", r#"{"pattern": "hunter2"}"#),
        ];
        runtime.call_batch(&session, calls).await;
        // Something in a span that isn't among its fields.
        tracing::error_span!(target: "hermes_x", "outer")
            .in_scope(|| tracing::error!(target: "hermes_x", "hunter2"));
        tracing::error_span!(target: "other_crate", "foreign", secret = "hunter2").in_scope(|| {});
        tracing::trace_span!(target: "hermes_x", "detail", secret = "hunter2").in_scope(|| {});
        runtime.dry_run(&session, call("dry", "read_file", r#"{"path": "hunter2"}"#)).await;
    });
    let request = requests.recv().unwrap();
    let is_secret = |bytes: &[u8]| bytes == SECRET.as_bytes();
    assert!(!request.body.windows(SECRET.len()).any(is_secret), "arguments leave the machine");
    assert!(request.body.len() < 20_000, "{} bytes", request.body.len());

    let spans = spans(&request);
    for (id, name, status) in [
        ("missing", "read_file", "error"),
        ("again", "read_file", "skipped"),
        ("unfit", "read_file", "error"),
        ("broken", "read_file", "error"),
        ("unknown", "tool_call", "error"),
    ] {
        let span = of_call(&spans, id);
        assert_eq!((&*span.name, text(&span.attributes, "status")), (name, Some(status)), "{id}");
        let is_marked = span.status.as_ref().unwrap().code == 2;
        assert_eq!(is_marked, status == "error", "{id}");
    }
    assert_eq!(of_call(&spans, "dry").name, "dry_run");
    let orphans: Vec<&str> = spans
        .iter()
        .filter(|span| span.parent_span_id.is_empty() && text(&span.attributes, "call").is_none())
        .map(|span| &*span.name)
        .collect();
    assert_eq!(orphans, ["outer"]);
    let events: usize = spans.iter().map(|span| span.events.len()).sum();
    assert_eq!(events, 0);
}

#[test]
fn a_sampler_that_takes_nothing_sends_nothing() {
    let (address, requests) = collector("200 OK");
    let more = [("OTEL_TRACES_SAMPLER", "always_off")];
    exported(exporter(&address, &more), async |runtime, session| {
        runtime.call(&session, call("c1", "read_file", "{}")).await;
    });
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_collector_that_never_answers_is_given_up() {
    // It takes connections, as far as the system does that by itself, and no more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    // If it were waited for, this test would run into the time limit of all tests.
    let exporter = exporter(&address, &[("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000")]);
    let subscriber = tracing_subscriber::registry().with(exporter.layer());
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!(target: "hermes_x", "lost").in_scope(|| {});
    });
    exporter.shutdown(Duration::from_millis(50));
}

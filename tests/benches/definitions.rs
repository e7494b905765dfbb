//! What it costs to list 79 tools anew after a change of the registry, with all probes cached.
//!
//! `cargo bench -p hermes-tests --bench definitions`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up has to stop")]

use divan::Bencher;
use hermes_registry::{Owner, ToolContext};
use hermes_tests::fixture;
use hermes_tools::{Runtime, Session, SessionOptions, ToolFormat, ToolSelection};

fn main() {
    divan::main();
}

fn all_tools() -> (Runtime, Session) {
    let registry = fixture::builtin_registry_with_checks(|_| true);
    let runtime = Runtime::builder(registry).build();
    let options = SessionOptions::new(ToolSelection::all(), ToolContext::new("/"));
    let session = runtime.open(options).expect("no deny list");
    assert_eq!(runtime.definitions(&session).visible.len(), 79);
    (runtime, session)
}

#[divan::bench]
fn recompute_79_tools(bencher: Bencher<'_, '_>) {
    let (runtime, session) = all_tools();
    let user = runtime.registry().registrar(Owner::User);
    // Each alias is a new generation, so that nothing derived from the last one is used.
    bencher.bench_local(|| {
        user.alias("files", "file");
        runtime.definitions(&session)
    });
}

#[divan::bench]
fn warm(bencher: Bencher<'_, '_>) {
    let (runtime, session) = all_tools();
    bencher.bench(|| runtime.definitions(&session));
}

#[divan::bench(args = ["openai", "anthropic", "gemini", "mcp"])]
fn lower_79_tools(bencher: Bencher<'_, '_>, format: &str) {
    let (runtime, session) = all_tools();
    let definitions = runtime.definitions(&session);
    let format = ToolFormat::ALL.into_iter().find(|it| it.as_str() == format).expect("a format");
    bencher.bench(|| definitions.lowered(format));
}

//! Indexing and searching a catalogue of 3,000 tools.

use std::sync::Arc;

use hermes_search::{CatalogEntry, SearchIndex, ToolSource};
use serde_json::json;

const TOOLS: usize = 3000;

fn main() {
    divan::main();
}

fn entries() -> Vec<CatalogEntry> {
    const VERBS: [&str; 8] =
        ["create", "list", "update", "delete", "search", "merge", "export", "send"];
    const NOUNS: [&str; 10] = [
        "issue",
        "pull_request",
        "message",
        "calendarEvent",
        "invoice",
        "customer",
        "query",
        "weather_report",
        "playlist",
        "document",
    ];
    let kinds = NOUNS.iter().flat_map(|noun| VERBS.iter().map(move |verb| (verb, noun)));
    kinds
        .cycle()
        .zip(0..TOOLS)
        .map(|((verb, noun), i)| {
            let server = i / (VERBS.len() * NOUNS.len());
            CatalogEntry {
                name: format!("mcp__server{server}__{verb}_{noun}"),
                source: ToolSource::Mcp,
                toolset: format!("mcp-server{server}"),
                description: format!(
                    "{verb} one {noun} or several of them on server {server}. Returns what changed \
                     and who changed it; needs the permission that was granted to item {i}."
                ),
                parameters: Arc::new(json!({
                    "type": "object",
                    "properties": {"owner": {}, "title": {}, "labels": {}, "page_size": {}},
                })),
            }
        })
        .collect()
}

#[divan::bench]
fn index(bencher: divan::Bencher<'_, '_>) {
    let entries = entries();
    bencher.bench_local(|| SearchIndex::new(&entries));
}

#[divan::bench(args = [
    "weather",
    "create pull requests",
    "mcp__server12__delete_calendarEvent",
    "which permission was granted to list invoices of a customer on the server",
    "no_such_thing_at_all",
])]
fn query(bencher: divan::Bencher<'_, '_>, query: &str) {
    let index = SearchIndex::new(&entries());
    bencher.bench_local(|| index.search(query, 5));
}

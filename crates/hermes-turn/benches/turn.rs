//! Planning a batch, and reading the text of arguments.

use std::path::PathBuf;

use divan::counter::BytesCount;
use hermes_registry::Access;
use hermes_turn::argument_text::{decide, repair_json_args};
use hermes_turn::duplicates::{Arguments, Call, find};
use hermes_turn::plan::{Slot, plan};

fn main() {
    divan::main();
}

/// Mixed calls: reads and writes of files in some folders, a search now and then, few barriers.
fn slots(count: usize) -> Vec<Slot> {
    (0..count)
        .map(|i| {
            let path =
                |name: &str| PathBuf::from(format!("/home/u/project/src/m{}/{name}", i % 17));
            match i % 20 {
                0 => Slot::Barrier,
                1..5 => Slot::Read,
                5 => Slot::Paths(vec![(Access::Read, path(""))]),
                6..12 => Slot::Paths(vec![(Access::Write, path(&format!("f{i}.rs")))]),
                _ => Slot::Paths(vec![(Access::Read, path(&format!("f{}.rs", i / 2)))]),
            }
        })
        .collect()
}

/// Argument text of about `bytes` bytes, mostly one string with line ends in it.
fn arguments(bytes: usize) -> String {
    let line = "    let value = compute(\\\"input\\\", 42);\\n";
    let content = line.repeat(bytes / line.len());
    format!(r#"{{"path": "src/main.rs", "content": "{content}", "mode": null}}"#)
}

#[divan::bench(args = [100, 10_000])]
fn plan_calls(bencher: divan::Bencher<'_, '_>, count: usize) {
    let slots = slots(count);
    bencher.bench_local(|| plan(&slots));
}

#[divan::bench(args = [1 << 10, 1 << 20])]
fn read_valid_text(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let text = arguments(bytes);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| decide(&text));
}

#[divan::bench(args = [1 << 10, 1 << 20])]
fn repair_text(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let text = format!("{}}}", arguments(bytes));
    bencher.counter(BytesCount::new(text.len())).bench_local(|| repair_json_args(&text));
}

#[divan::bench]
fn find_repeated_calls(bencher: divan::Bencher<'_, '_>) {
    let texts: Vec<String> =
        (0..100).map(|i| format!(r#"{{"path": "src/f{}.rs", "limit": 100}}"#, i % 90)).collect();
    let calls: Vec<Call<'_>> = texts
        .iter()
        .map(|text| Call { name: "read_file", arguments: Arguments::Text(text) })
        .collect();
    bencher.bench_local(|| find(&calls, &|_| false));
}

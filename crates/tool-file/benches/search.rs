//! Content search over a generated tree of about 2,000 files.

#![expect(clippy::unwrap_used, reason = "a bench without its files has nothing to measure")]

use std::path::Path;

use hermes_registry::{Invocation, Tool, ToolContext};
use serde_json::json;

fn main() {
    divan::main();
}

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in 0..40 {
        let folder = dir.path().join(format!("folder{folder}"));
        for file in 0..50 {
            write(&folder, file);
        }
    }
    dir
}

fn write(folder: &Path, file: usize) {
    let mut text = "fn ordinary(argument: usize) -> usize { argument + 1 }\n".repeat(200);
    if file.is_multiple_of(10) {
        text.push_str("// a needle in the stack\n");
    }
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(format!("file{file}.rs")), text).unwrap();
}

#[divan::bench(args = ["needle", r"needle\s+in", "usize"])]
fn content(bencher: divan::Bencher<'_, '_>, pattern: &str) {
    let dir = tree();
    let cx = ToolContext::new(dir.path());
    let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == "search_files").unwrap();
    let tool = Tool::linked(spec);
    bencher.bench(|| match tool.start(json!({"pattern": pattern}), cx.clone()) {
        Invocation::Blocking(run) => run().is_ok(),
        Invocation::Async(_) => false,
    });
}

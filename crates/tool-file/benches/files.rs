//! Pages of a large file, edits and whole writes, beside what the system itself needs.

#![expect(clippy::unwrap_used, reason = "a bench without its files has nothing to measure")]
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_registry::{Invocation, Tool, ToolContext};
use serde_json::{Value, json};

const LINE: &str = "2026-01-01T00:00:00Z INFO worker::queue: took the next item, 1234 are left\n";
const GIB: u64 = 1 << 30;
const ROUNDS: usize = 51;

fn main() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    page(dir.path());
    edit(dir.path());
    for size in [1_000, 100_000, 1_000_000] {
        write(dir.path(), size);
    }
}

fn call(cx: &ToolContext, name: &str, args: &Value) -> Value {
    let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == name).unwrap();
    match Tool::linked(spec).start(args.clone(), cx.clone()) {
        Invocation::Blocking(run) => serde_json::from_str(&run().unwrap().to_text()).unwrap(),
        Invocation::Async(_) => unreachable!(),
    }
}

/// The last 500 lines of 1 GiB.
fn page(dir: &Path) {
    let path = dir.join("large.log");
    let lines = GIB / LINE.len() as u64;
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for _ in 0..lines {
        file.write_all(LINE.as_bytes()).unwrap();
    }
    drop(file);
    let cx = ToolContext::new(dir);
    let before = resident("VmRSS");
    let args = json!({"path": "large.log", "offset": lines - 499, "limit": 500});
    let time = median(5, || {
        let start = Instant::now();
        let result = call(&cx, "read_file", &args);
        assert_eq!(result.get("total_lines"), Some(&json!(lines)));
        start.elapsed()
    });
    println!(
        "page at the end of 1 GiB: {time:.1?}, {:.2} GB/s, {} KiB at its highest ({} KiB before)",
        GIB as f64 / 1e9 / time.as_secs_f64(),
        resident("VmHWM"),
        before,
    );
    std::fs::remove_file(path).unwrap();
}

/// One edit in 50,000 lines whose place the slowest way of looking finds.
fn edit(dir: &Path) {
    let path = dir.join("program.rs");
    let mut program = String::new();
    for line in 0..50_000 {
        let _ = match line % 50 {
            0 => writeln!(program, "fn function_{}(input: &str) -> usize {{", line / 50),
            40 => writeln!(program, "    let value_{line} = compute(input, {line});"),
            49 => writeln!(program, "}}"),
            _ => writeln!(program, "    total += input.len() * {};  // “step”", line % 7),
        };
    }
    let old = "    total += input.len() * 1;  // “step”\n    let value_45040 = compute(input , 45040);\n\
               \x20   total += input.len() * 3;  // “step”";
    let cx = ToolContext::new(dir);
    let args =
        json!({"mode": "replace", "path": "program.rs", "old_string": old, "new_string": "x"});
    let time = median(ROUNDS, || {
        std::fs::write(&path, &program).unwrap();
        let start = Instant::now();
        let result = call(&cx, "patch", &args);
        assert_eq!(result.get("strategy"), Some(&json!("block_anchor")));
        start.elapsed()
    });
    println!("edit in 50,000 lines: {time:.1?}");
}

/// A whole file, beside a plain write with fsync and rename.
fn write(dir: &Path, size: usize) {
    let content = LINE.repeat(size / LINE.len());
    let cx = ToolContext::new(dir);
    let args = json!({"path": "f.log", "content": content});
    let (temp, target) = (dir.join("plain.tmp"), dir.join("plain.log"));
    let plain = || {
        let start = Instant::now();
        let mut file = File::create(&temp).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.sync_all().unwrap();
        std::fs::rename(&temp, &target).unwrap();
        start.elapsed()
    };
    let own = || {
        let start = Instant::now();
        call(&cx, "write_file", &args);
        start.elapsed()
    };
    let (mut owns, mut plains) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        owns.push(own());
        plains.push(plain());
    }
    let (own, plain) = (middle(owns), middle(plains));
    println!(
        "write of {size} bytes: {own:.1?}, plain {plain:.1?}, ratio {:.2}",
        own.as_secs_f64() / plain.as_secs_f64()
    );
}

fn median(rounds: usize, mut round: impl FnMut() -> Duration) -> Duration {
    middle((0..rounds).map(|_| round()).collect())
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A figure of this process's memory in KiB, as Linux tells it.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
}

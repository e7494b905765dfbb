//! `search_files` beside the real `rg`, on a large real tree.
//!
//! The tree is the folder named by `HERMES_BENCH_TREE`; without it, the workspace with its target
//! folder's neighbours. `rg` is looked up in `PATH`. Both are run in pairs, and the medians of the
//! pairs are printed.

#![expect(clippy::unwrap_used, reason = "a bench without its parts has nothing to measure")]
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]
#![expect(clippy::disallowed_methods, reason = "it is measured against another program")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_registry::{Invocation, Tool, ToolContext};
use serde_json::{Value, json};

const PAIRS: usize = 15;

fn main() {
    let root = std::env::var_os("HERMES_BENCH_TREE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned(),
        PathBuf::from,
    );
    println!("{:<34} {:>10} {:>10} {:>7}", root.display(), "tool", "rg", "ratio");
    for pattern in
        ["unlikely_word_nowhere", "PhantomPinned", r"impl\s+Drop\s+for", "unsafe fn", "fn "]
    {
        pair(
            &format!("content {pattern}"),
            &root,
            &json!({ "pattern": pattern }),
            &["-n", "-e", pattern],
        );
    }
    for pattern in ["fn ", "PhantomPinned"] {
        pair(
            &format!("files_only {pattern}"),
            &root,
            &json!({ "pattern": pattern, "output_mode": "files_only" }),
            &["-l", "-e", pattern],
        );
    }
    pair(
        "count fn",
        &root,
        &json!({"pattern": "fn ", "output_mode": "count"}),
        &["-c", "-e", "fn "],
    );
    pair(
        "names *.rs",
        &root,
        &json!({"pattern": "*.rs", "target": "files"}),
        &["--files", "-g", "*.rs"],
    );
    pair("names all", &root, &json!({"pattern": "", "target": "files"}), &["--files"]);
}

fn pair(label: &str, root: &Path, args: &Value, options: &[&str]) {
    let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == "search_files").unwrap();
    let tool = Tool::linked(spec);
    let cx = ToolContext::new(root);
    let own = || match tool.start(args.clone(), cx.clone()) {
        Invocation::Blocking(run) => assert!(run().is_ok()),
        Invocation::Async(_) => unreachable!(),
    };
    let theirs = || {
        Command::new("rg")
            .args(options)
            .arg("--")
            .arg(root)
            .stdout(Stdio::null())
            .status()
            .unwrap();
    };
    let (mut tool, mut rg) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        tool.push(time(own));
        rg.push(time(theirs));
    }
    let (tool, rg) = (median(tool), median(rg));
    println!(
        "{label:<34} {tool:>10.1?} {rg:>10.1?} {:>7.2}",
        tool.as_secs_f64() / rg.as_secs_f64()
    );
}

fn time(work: impl Fn()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

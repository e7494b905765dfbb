//! Very many commands of this machine at once, and what is left of them.
//!
//! The whole of it: `cargo nextest run -p hermes-processes --test local_soak --run-ignored all
//! --no-capture`.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers"
)]
#![expect(clippy::print_stdout, reason = "its counts are what it is for")]

mod soak;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_exec::local::Local;
use soak::{Plan, soak};

fn run(plan: Plan) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (temporary, home) = (dir.path().join("tmp"), dir.path().join("home"));
    std::fs::create_dir(&temporary).unwrap();
    let environment = Local::new(hermes_exec::local::Options {
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        cwd: PathBuf::from("/"),
        temp_dir: temporary.clone(),
        memory_dir: None,
        ..Default::default()
    });
    let table = runtime.block_on(soak(Arc::new(environment), home, plan, None));
    println!("{table}");
    // Neither scripts nor states.
    let files: Vec<_> = std::fs::read_dir(temporary).unwrap().collect();
    assert!(files.is_empty(), "files are left: {files:?}");
}

#[test]
fn a_short_one() {
    run(Plan { seed: 1, commands: 150, at_once: 40, terminals: true });
}

#[test]
#[ignore = "takes minutes"]
fn the_whole_of_it() {
    run(Plan { seed: 0x5eed, commands: 5000, at_once: 200, terminals: true });
}

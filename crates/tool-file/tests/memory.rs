//! How much memory a read takes. Alone in its program, since it looks at the whole process.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use hermes_registry::{Invocation, Tool, ToolContext};
use serde_json::json;

const SIZE: u64 = 2 * 1024 * 1024 * 1024;
const MAX_KIB: u64 = 50 * 1024;

#[test]
fn a_window_of_a_huge_file_takes_little() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = File::create(dir.path().join("huge")).unwrap();
    file.write_all("text\n".repeat(300).as_bytes()).unwrap();
    // The hole takes no room on the disk.
    file.seek(SeekFrom::Start(SIZE)).unwrap();
    file.write_all(b"\nlast\n").unwrap();
    drop(file);

    let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == "read_file").unwrap();
    let args = json!({"path": "huge", "offset": 302});
    let cx = ToolContext::new(dir.path());
    let Invocation::Blocking(run) = Tool::linked(spec).start(args, cx) else {
        panic!("read_file doesn't block");
    };
    let answer = run().unwrap().to_text();
    assert!(answer.contains("302|last"), "{answer}");

    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    println!("at most {peak} KiB");
    assert!(peak < MAX_KIB, "{peak} KiB");
}

//! What surrounds calls: hooks, permission, the log, the timeline, the dry run.

use std::fs;

use serde_json::{Value, json};

use crate::World;

impl World {
    /// A message with read calls of these files.
    fn reads(&self, paths: &[&str]) -> String {
        let calls: Vec<Value> = paths
            .iter()
            .enumerate()
            .map(|(i, path)| {
                let arguments = json!({"path": path}).to_string();
                json!({"id": format!("c{i}"), "function": {"name": "read_file", "arguments": arguments}})
            })
            .collect();
        json!({"role": "assistant", "tool_calls": calls}).to_string()
    }

    /// The log of calls.
    fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.home.path().join("logs/tool-calls.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[cfg(unix)]
#[test]
fn a_hook_blocks_asks_and_changes() {
    let world = World::new();
    fs::write(world.cwd().join("a"), "alpha").unwrap();
    fs::write(world.cwd().join("b"), "beta").unwrap();
    let block = world.script("block.sh", "echo 'not that one' >&2; exit 2");
    let ask = world.script("ask.sh", r#"echo '{"action":"approve","message":"sure?"}'"#);
    let change =
        world.script("change.sh", r#"echo '{"action":"modify","args":{"path":"b","limit":"1"}}'"#);
    let with = |script: &str| {
        world.hooks(&format!("  pre_tool_call:\n  - {{command: {script}, matcher: read_file}}\n"));
        world.run(&["hooks", "approve", "--all"]).exits(0);
    };
    with(&block);
    let run = world.run(&["call", "read_file", r#"{"path":"a"}"#]).exits(3);
    assert!(run.stdout.contains("not that one"), "{run:?}");
    world.pipe(&["exec"], &world.reads(&["a"])).exits(3).says("1 blocked");

    with(&ask);
    let run = world.run(&["call", "read_file", r#"{"path":"a"}"#]).exits(3);
    assert!(run.stdout.contains("nobody to ask"), "{run:?}");
    world.run(&["call", "read_file", r#"{"path":"a"}"#, "--approve", "once"]).exits(0);

    with(&change);
    let run = world.run(&["call", "read_file", r#"{"path":"a"}"#]).exits(0);
    assert!(run.stdout.contains("beta"), "{run:?}");
    let dry = world.run(&["call", "read_file", r#"{"path":"a"}"#, "--dry-run"]).exits(0).json();
    assert_eq!(dry["arguments"], json!({"path": "b", "limit": 1}));
    let hooks = dry["decisions"].as_array().unwrap().iter();
    let mut hooks = hooks.filter(|decision| decision["gate"] == "pre_tool_call");
    assert!(hooks.any(|decision| decision["note"].as_str().unwrap().contains("changed")), "{dry}");
}

#[test]
fn the_log_tells_what_was_called_without_secrets() {
    let world = World::new();
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let message = world.reads(&["missing", &format!("{token}/x"), "missing"]);
    world.pipe(&["exec"], &message).exits(1);
    world
        .run(&["call", "write_file", &json!({"path": "a", "content": token}).to_string()])
        .exits(0);
    world.run(&["call", token]);
    let log = world.log();
    assert_eq!(log.len(), 5);
    assert_eq!(log[0]["tool"], "read_file");
    assert_eq!((&log[0]["status"], &log[0]["failed"]), (&json!("error"), &json!(true)));
    assert_eq!(log[0]["args_sha256"].as_str().unwrap().len(), 64);
    assert!(log.iter().any(|line| line["status"] == "skipped"), "{log:?}");
    assert!(log[3]["duration_us"].is_u64() && log[3]["args"].as_str().unwrap().contains("path"));
    assert!(!log.iter().any(|line| line.to_string().contains(token)), "{log:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let file = fs::metadata(world.home.path().join("logs/tool-calls.jsonl")).unwrap();
        assert_eq!(file.mode() & 0o777, 0o600);
    }
    let quiet = World::with_config("audit:\n  enabled: false\n");
    quiet.run(&["call", "read_file", r#"{"path":"a"}"#]).exits(1);
    assert!(!quiet.home.path().join("logs").exists());
}

#[test]
fn the_timeline_shows_calls_and_what_mattered() {
    let world = World::new();
    fs::write(world.cwd().join("a"), "alpha").unwrap();
    let call = r#"{"name":"Read-File","arguments":"{\"path\": \"a\",}"}"#;
    let run = world.pipe(&["-v", "exec"], call).exits(0);
    run.says("was read as read_file");
    run.says("mended: trailing_comma");
    run.says("read_file ok");
    assert!(!run.stderr.contains("granted"), "{run:?}");
    world.pipe(&["-vv", "exec"], call).exits(0).says("granted through toolset file");
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let run = world.pipe(&["-vv", "exec"], &world.reads(&[token])).exits(1);
    assert!(run.stderr.contains("read_file") && !run.stderr.contains(token), "{run:?}");
}

#[test]
fn long_results_are_in_a_file_that_the_next_command_can_read() {
    let world = World::with_config("tool_output:\n  max_result_size:\n    search_files: 2000\n");
    for i in 0..200 {
        fs::write(world.cwd().join(format!("file-with-a-long-name-{i}.txt")), "needle\n").unwrap();
    }
    let search = json!({"pattern": "needle", "limit": 200}).to_string();
    let run = world.run(&["call", "search_files", &search]).exits(0);
    assert!(run.stdout.starts_with("<persisted-output>"), "{run:?}");
    let path = run.stdout.split_whitespace().find(|word| word.contains("hermes-results")).unwrap();
    let back = world.run(&["call", "read_file", &json!({"path": path}).to_string()]).exits(0);
    assert!(back.stdout.contains("untrusted_tool_result") && back.stdout.contains("needle"));
    fs::remove_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
}

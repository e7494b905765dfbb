//! `hermes exec`.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::World;

const WRITE: &str =
    r#"{"name":"todo","arguments":{"todos":[{"id":"1","content":"x","status":"pending"}]}}"#;

#[test]
fn every_call_has_its_message_in_order() {
    let world = World::new();
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "Todo", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "todo", "arguments": {"merge": "false"}}},
    ]});
    let run = world.pipe(&["exec"], &format!("{WRITE}\n\n{message}\n")).exits(0);
    let lines = run.lines();
    assert_eq!(lines.len(), 3);
    assert!(lines[0]["tool_call_id"].as_str().unwrap().starts_with("call_"));
    assert_eq!((&lines[1]["tool_call_id"], &lines[1]["name"]), (&json!("a"), &json!("Todo")));
    assert_eq!(lines[2]["tool_call_id"], "b");
    // The list written by the first message is still there.
    assert!(lines[2]["content"].as_str().unwrap().contains("\"total\":1"), "{run:?}");
    run.says("3 calls: 3 ok, 0 failed");
    let again = world.pipe(&["exec", "-", "-q"], &format!("{WRITE}\n{message}\n"));
    assert_eq!((again.stdout.lines().count(), again.stderr.as_str()), (3, ""));
}

#[test]
fn files_that_were_read_are_remembered_between_messages() {
    let world = World::new();
    std::fs::write(world.cwd().join("f"), "a\n").unwrap();
    let read = r#"{"name":"read_file","arguments":{"path":"f"}}"#;
    let lines = [read, read, read, WRITE, read].join("\n");
    let run = world.pipe(&["exec"], &format!("{lines}\n")).exits(3);
    let lines = run.lines();
    for (line, part) in [(0, "1|a"), (1, "unchanged"), (2, "BLOCKED"), (4, "unchanged")] {
        assert!(lines[line]["content"].as_str().unwrap().contains(part), "{run:?}");
    }
}

#[test]
fn a_failed_call_fails_the_run_and_the_others_go_on() {
    let world = World::new();
    let run = world.pipe(&["exec"], &format!("{{\"name\":\"nosuch\"}}\n{WRITE}\n")).exits(1);
    let lines = run.lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["effect_disposition"], "none");
    run.says("1 ok, 1 failed");
}

#[test]
fn bad_lines_are_named() {
    let world = World::new();
    for (line, fault) in
        [("{oops", "not JSON"), ("[]", "must be an object"), ("{\"tool_calls\":3}", "a list")]
    {
        let run = world.pipe(&["exec"], &format!("{WRITE}\n{line}\n{WRITE}\n")).exits(2);
        run.says("line 2: ");
        run.says(fault);
        assert_eq!(run.lines().len(), 1);
        // A file is looked at as a whole before anything runs.
        std::fs::write(world.cwd().join("calls.jsonl"), format!("{WRITE}\n{line}\n")).unwrap();
        let run = world.run(&["exec", "calls.jsonl"]).exits(2);
        run.says("calls.jsonl, line 2: ");
        assert_eq!(run.stdout, "");
    }
    world.run(&["exec", "missing.jsonl"]).exits(2).says("missing.jsonl");
    world.run(&["exec", "--cwd", "missing"]).exits(2).says("no folder");
    assert_eq!(world.pipe(&["exec", "-q"], "").exits(0).stdout, "");
}

#[test]
fn a_timeline_of_the_calls_is_told_on_request() {
    let world = World::new();
    let run = world.pipe(&["exec", "-v"], WRITE).exits(0);
    run.says("→ 📋 todo");
    run.says("← todo ok");
    assert!(!run.stderr.contains('\x1b'), "{run:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_wait_for_more_calls() {
    let world = World::new();
    let hermes = assert_cmd::cargo::cargo_bin!("hermes").display().to_string();
    // A pipe that stays open for as long as `sleep` holds its other end.
    let script = format!(
        "mkfifo pipe; sleep 20 >pipe & other=$!; '{hermes}' exec -q <pipe & pid=$!; sleep 1; \
         kill -INT $pid; wait $pid; echo $?; kill $other"
    );
    let mut command = assert_cmd::Command::new("bash");
    command.current_dir(world.cwd()).env("HERMES_HOME", world.home.path()).args(["-c", &script]);
    let run = crate::Run::of(command.timeout(std::time::Duration::from_secs(15)));
    assert_eq!(run.stdout.trim(), "130", "{run:?}");
}

//! `hermes call` and the example of the README.

use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::World;

#[test]
fn arguments_come_from_everywhere() {
    let world = World::new();
    std::fs::write(world.cwd().join("a.txt"), "hello\n").unwrap();
    let arguments = r#"{"path":"a.txt"}"#;
    std::fs::write(world.cwd().join("args.json"), arguments).unwrap();
    let typed = world.run(&["call", "read_file", arguments]).exits(0);
    assert!(typed.json()["content"].as_str().unwrap().contains("hello"), "{typed:?}");
    assert_eq!(world.run(&["call", "read_file", "@args.json"]).exits(0).stdout, typed.stdout);
    assert_eq!(world.pipe(&["call", "read_file", "-"], arguments).exits(0).stdout, typed.stdout);
    let elsewhere = world.cwd().join("sub");
    std::fs::create_dir(&elsewhere).unwrap();
    world.run(&["call", "read_file", arguments, "--cwd", "sub"]).exits(1);
    world.run(&["call", "read_file", r#"{"path":"../a.txt"}"#, "--cwd", "sub"]).exits(0);
}

#[test]
fn the_exit_code_tells_who_is_at_fault() {
    let world = World::new();
    for (args, code) in [
        (&["call", "read_file", r#"{"path":"missing"}"#][..], 1),
        (&["call", "read_file", "{}"], 2),
        (&["call", "read_file", "{oops}"], 2),
        (&["call", "read_file", "@missing"], 2),
        (&["call", "no_such_tool"], 2),
        (&["call"], 2),
        (&["call", "read_file", "{}", "--approve", "perhaps"], 2),
    ] {
        world.run(args).exits(code);
    }
}

#[test]
fn a_dry_run_shows_the_gates_and_runs_nothing() {
    let world = World::new();
    let arguments = r#"{"path":"new.txt","content":"x","cross_profile":"false"}"#;
    let run = world.run(&["call", "Write_File", arguments, "--dry-run"]).exits(0);
    let report = run.json();
    assert_eq!(report["tool"], "write_file");
    assert_eq!(report["arguments"]["cross_profile"], json!(false));
    assert!(report["decisions"].as_array().unwrap().iter().all(|it| it["passed"] == true));
    assert!(!world.cwd().join("new.txt").exists());
    let run = world.run(&["call", "write_file", "{}", "--dry-run"]).exits(2);
    assert_eq!(run.json()["decisions"].as_array().unwrap().last().unwrap()["passed"], false);
}

#[cfg(feature = "todo")]
#[test]
fn the_first_run_succeeds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example = root.join("examples/first-run.jsonl");
    let world = World::new();
    // On copies, so that the test writes nothing into the repository.
    std::fs::copy(root.join("README.md"), world.cwd().join("README.md")).unwrap();
    let krate = world.cwd().join("crates/one/src");
    std::fs::create_dir_all(&krate).unwrap();
    std::fs::write(world.cwd().join("crates/one/Cargo.toml"), "name = \"hermes-one\"\n").unwrap();
    std::fs::write(krate.join("pipeline.rs"), "").unwrap();
    let run = world.run(&["exec", example.to_str().unwrap()]).exits(0);
    let lines = run.lines();
    assert_eq!(lines.len(), 9);
    assert!(lines[7]["content"].as_str().unwrap().contains("one pipeline"), "{run:#?}");
}

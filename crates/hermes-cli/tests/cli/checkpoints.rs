//! Snapshots before calls, and the way back.

use std::fs;

use serde_json::json;

use crate::World;

/// A project below the home.
fn project(world: &World) -> std::path::PathBuf {
    let folder = world.cwd().join("p");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Makefile"), "all:\n").unwrap();
    fs::write(folder.join("src/a"), "1\n").unwrap();
    folder
}

#[test]
fn calls_take_them_where_they_are_wanted() {
    let world = World::new();
    let folder = project(&world);
    let cwd = folder.join("src");
    let cwd = cwd.to_str().unwrap();
    let write = |content: &str, flags: &[&str]| {
        let arguments = json!({"path": "a", "content": content}).to_string();
        world.run(&[&["call", "write_file", &arguments, "--cwd", cwd], flags].concat()).exits(0);
    };
    let list = || world.run(&["checkpoints", "list", "--json", "--cwd", cwd]).exits(0).json();
    write("2\n", &[]);
    assert_eq!(list(), json!([]));
    write("3\n", &["--checkpoints"]);
    fs::write(world.config_path(), "checkpoints: {enabled: true}\n").unwrap();
    write("4\n", &[]);
    let entries = list();
    assert_eq!(entries.as_array().unwrap().len(), 2);
    assert_eq!(entries[0]["reason"], "before write_file");
    assert_eq!((&entries[0]["files_changed"], &entries[0]["insertions"]), (&json!(1), &json!(1)));

    let run = world.run(&["checkpoints", "diff", "2", "--cwd", cwd]).exits(0);
    assert!(run.stdout.contains("-2\n+4\n"), "{run:?}");
    let hash = entries[1]["hash"].as_str().unwrap();
    world.run(&["checkpoints", "restore", hash, "--cwd", cwd]).exits(0);
    assert_eq!(fs::read_to_string(folder.join("src/a")).unwrap(), "2\n");
    let run = world.run(&["checkpoints", "restore", "1", "src/a", "--json", "--cwd", cwd]).exits(0);
    assert_eq!(run.json()["file"], "src/a");
    assert_eq!(fs::read_to_string(folder.join("src/a")).unwrap(), "4\n");
    let status = world.run(&["checkpoints", "status", "--json"]).exits(0).json();
    assert_eq!(status["projects"][0]["workdir"], json!(folder.canonicalize().unwrap()));
}

#[test]
fn what_is_wrong_is_told_with_the_right_code() {
    let world = World::new();
    let folder = project(&world);
    let run = |args: &[&str]| {
        world.run(&[&["checkpoints"], args, &["--cwd", folder.to_str().unwrap()]].concat())
    };
    run(&["list"]).exits(0);
    run(&["restore", "1"]).exits(2).says("no checkpoint 1");
    run(&["restore", "HEAD~1"]).exits(2).says("hex digits");
    run(&["diff", "abcd"]).exits(2);
    let arguments = json!({"path": "p/src/a", "content": "2"}).to_string();
    world.run(&["call", "write_file", &arguments, "--checkpoints"]).exits(0);
    run(&["restore", "1", "../x"]).exits(2).says("inside of the project");
    run(&["restore", "1", "none"]).exits(2).says("no file");
    world.run(&["checkpoints", "prune", "--json"]).exits(0);
    world.run(&["checkpoints", "status"]).exits(0);
    world.run(&["checkpoints", "clear"]).exits(0);
    world.run(&["checkpoints", "clear-legacy"]).exits(0);
    assert_eq!(run(&["list", "--json"]).exits(0).json(), json!([]));
}

#[test]
fn a_failure_never_stops_a_call() {
    let world = World::with_config("checkpoints: {enabled: true}\n");
    let folder = project(&world);
    fs::write(world.home.path().join("checkpoints"), "a file in the way").unwrap();
    let arguments = json!({"path": "src/a", "content": "2"}).to_string();
    let run =
        world.run(&["call", "write_file", &arguments, "--cwd", folder.to_str().unwrap()]).exits(0);
    assert_eq!(run.stderr, "");
    let run = world.run(&["call", "write_file", &arguments, "--dry-run", "--checkpoints"]).exits(0);
    let decisions = run.json();
    let decisions = decisions["decisions"].as_array().unwrap();
    assert!(decisions.iter().any(|decision| decision["gate"] == "checkpoint"), "{decisions:?}");
}

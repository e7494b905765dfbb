//! What the tools remember, where the host lends them a memory.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermes_file_state::{FileKey, FileState};
use hermes_registry::{CallIds, Services, Settings, ToolContext};
use serde_json::{Value, json};

use crate::world::{World, call, check};

const TEXT: &[u8] = b"a\nb\nc\n";

/// A world with a memory.
fn remembering(files: &[(&str, &[u8])]) -> (World, Arc<FileState>) {
    let mut world = World::new(files);
    let state = Arc::new(FileState::new());
    world.cx = world.cx.with_services(Services::new().with(Arc::clone(&state)));
    (world, state)
}

fn of_task(cx: &ToolContext, task: &str) -> ToolContext {
    cx.clone().with_ids(CallIds { task: task.into(), ..CallIds::default() })
}

fn key(path: &Path) -> FileKey {
    FileKey::new("local", &path.canonicalize().unwrap())
}

#[track_caller]
fn warned(answer: &Value, part: &str) {
    let warning = answer["_warning"].as_str().unwrap_or_default();
    assert!(!part.is_empty() && warning.contains(part), "{answer}");
}

#[track_caller]
fn clean(answer: &Value) {
    assert!(answer.get("error").is_none() && answer.get("_warning").is_none(), "{answer}");
}

#[test]
fn a_page_that_was_shown_is_not_sent_again() {
    let (world, state) = remembering(&[("f", TEXT)]);
    let read = |args: Value| world.call("read_file", args);
    let path = world.path("f").canonicalize().unwrap();
    clean(&read(json!({"path": "f"})));
    let stub = read(json!({"path": "f", "offset": "1", "limit": 500.0}));
    assert_eq!(stub.as_object().unwrap().len(), 5, "{stub}");
    check(
        &stub,
        &json!({
            "status": "unchanged", "path": path, "dedup": true, "content_returned": false
        }),
    );
    for times in [3, 4] {
        let blocked = read(json!({"path": "f"}));
        let expected = json!({"path": path, "already_read": times, "error_kind": "blocked"});
        check(&blocked, &expected);
        let error = blocked["error"].as_str().unwrap();
        assert!(error.starts_with("BLOCKED") && error.contains("search_files"), "{error}");
    }
    clean(&read(json!({"path": "f", "limit": 2})));
    state.compressed("");
    check(&read(json!({"path": "f"})), &json!({"content": "1|a\n2|b\n3|c"}));

    // The message is no content for a file.
    let message = stub["message"].as_str().unwrap();
    let patch = format!("*** Add File: n\n+{message}\n");
    for answer in [
        world.call("write_file", json!({"path": "f", "content": message})),
        world.call("patch", json!({"mode": "patch", "patch": patch})),
    ] {
        check(&answer, &json!({"error_kind": "display_text"}));
    }
    let about = format!("{message}\n{}\n", "What it means: ".repeat(message.len() / 10));
    clean(&world.call("write_file", json!({"path": "f", "content": about})));
}

#[test]
fn a_search_that_is_repeated_is_refused_in_the_end() {
    let (world, _) = remembering(&[("f", TEXT)]);
    let search = || world.call("search_files", json!({"pattern": "b"}));
    clean(&search());
    clean(&search());
    warned(&search(), "3rd time");
    let blocked = search();
    check(&blocked, &json!({"pattern": "b", "already_searched": 4, "error_kind": "blocked"}));
    assert!(blocked["error"].as_str().unwrap().starts_with("BLOCKED"));
    // Bad searches tell what is wrong with them each time.
    for _ in 0..5 {
        let bad = world.call("search_files", json!({"pattern": "("}));
        check(&bad, &json!({"error_kind": "bad_regex"}));
    }
}

#[test]
fn programs_get_what_they_ask_for() {
    let (world, _) = remembering(&[("f", TEXT)]);
    let nested = world.cx.nested();
    clean(&world.call("read_file", json!({"path": "f"})));
    for _ in 0..5 {
        let read = call("read_file", json!({"path": "f"}), nested.clone());
        check(&read, &json!({"content": "1|a\n2|b\n3|c"}));
        clean(&read);
        clean(&call("search_files", json!({"pattern": "b"}), nested.clone()));
    }
    check(&world.call("read_file", json!({"path": "f"})), &json!({"status": "unchanged"}));
}

#[test]
fn what_the_kernel_makes_up_is_read_each_time() {
    let (world, _) = remembering(&[]);
    if Path::new("/proc/meminfo").exists() {
        for _ in 0..5 {
            let read = world.call("read_file", json!({"path": "/proc/meminfo"}));
            assert!(read["content"].is_string(), "{read}");
        }
    }
}

#[test]
fn without_a_memory_nothing_is_remembered() {
    let world = World::new(&[("f", TEXT)]);
    for _ in 0..5 {
        clean(&world.call("read_file", json!({"path": "f"})));
        clean(&world.call("search_files", json!({"pattern": "b"})));
    }
    fs::write(world.path("f"), "x\n").unwrap();
    clean(&world.call("write_file", json!({"path": "f", "content": "y\n"})));
}

#[test]
fn stale_writes_are_warned_of_once() {
    let (world, _) = remembering(&[("f", TEXT)]);
    let write = |content| world.call("write_file", json!({"path": "f", "content": content}));
    clean(&world.call("read_file", json!({"path": "f"})));
    // Within one tick of the clock, and of the same size.
    fs::write(world.path("f"), "x\ny\nz\n").unwrap();
    warned(&write("q\n"), "someone else");
    clean(&write("r\n"));
    clean(&world.call(
        "patch",
        json!({"mode": "replace", "path": "f", "old_string": "r", "new_string": "s"}),
    ));
    fs::remove_file(world.path("f")).unwrap();
    clean(&write("t\n"));
}

#[test]
fn warnings_are_joined() {
    let (mut world, _) = remembering(&[("f", TEXT), ("d/g", b"")]);
    let inside = of_task(&world.cx, "a").with_cwd(world.path("d"));
    clean(&call("read_file", json!({"path": "../f"}), inside.clone()));
    world.cx = of_task(&world.cx, "b");
    clean(&world.call("write_file", json!({"path": "f", "content": "q\n"})));
    let answer = call("write_file", json!({"path": "../f", "content": "r\n"}), inside);
    let warning = answer["_warning"].as_str().unwrap();
    let (stale, outside) = warning.split_once(" | ").unwrap();
    assert!(stale.contains("another agent") && outside.contains("outside"), "{warning}");
}

#[test]
fn patches_of_several_files() {
    let (world, state) = remembering(&[("f", TEXT), ("g", TEXT), ("h", TEXT), ("i", TEXT)]);
    let patch = |text: &str| world.call("patch", json!({"mode": "patch", "patch": text}));
    clean(&world.call("read_file", json!({"path": "f", "offset": 2, "limit": 1})));
    clean(&world.call("read_file", json!({"path": "g", "offset": 2, "limit": 1})));
    clean(&world.call("read_file", json!({"path": "h"})));
    clean(&world.call("read_file", json!({"path": "i"})));
    let sibling = of_task(&world.cx, "sibling");
    clean(&call("write_file", json!({"path": "h", "content": "x\n"}), sibling));
    let answer = patch(
        "*** Update File: f\n@@\n a\n-b\n+B\n c\n*** Update File: g\n@@\n a\n b\n-c\n+C\n\
         *** Delete File: h\n*** Move File: i -> j\n*** Add File: k\n+k\n",
    );
    let warning = answer["_warning"].as_str().unwrap();
    let warnings: Vec<&str> = warning.split(" | ").collect();
    assert_eq!(warnings.len(), 2, "{answer}");
    assert!(warnings[0].contains("only a part") && warnings[0].contains("/g,"), "{warning}");
    assert!(warnings[1].contains("/h was written by another agent"), "{warning}");

    // All of it is known now.
    clean(&patch("*** Update File: f\n@@\n-a\n+A\n*** Update File: j\n@@\n-a\n+A\n"));
    clean(&world.call("write_file", json!({"path": "k", "content": "x\n"})));
    clean(&world.call("read_file", json!({"path": "g", "offset": 2, "limit": 1})));
    let known = state.known_reads("");
    let known: Vec<_> = known.iter().map(|it| it.path().file_name().unwrap()).collect();
    assert_eq!(known, ["g", "k", "j", "f"]);
    let gone = FileKey::new("local", &world.dir.path().canonicalize().unwrap().join("h"));
    assert_eq!(state.writes_since("sibling", 0, &[gone])[""].len(), 1);
}

#[test]
fn a_failed_patch_changes_nothing_that_is_known() {
    let (world, state) = remembering(&[("f", TEXT)]);
    clean(&world.call("read_file", json!({"path": "f"})));
    fs::write(world.path("f"), "x\n").unwrap();
    let since = state.now();
    for args in [
        json!({"mode": "replace", "path": "f", "old_string": "a", "new_string": "b"}),
        json!({"mode": "patch", "patch": "*** Update File: f\n@@\n-a\n+b\n"}),
    ] {
        assert!(world.call("patch", args)["error"].is_string());
    }
    assert_eq!(state.now(), since);
    warned(&world.call("write_file", json!({"path": "f", "content": "y\n"})), "someone else");
    assert!(state.writes_since("other", since, &[key(&world.path("f"))]).contains_key(""));
}

#[test]
fn misses_in_a_row_get_stronger_advice() {
    let (world, _) = remembering(&[("f", TEXT)]);
    let patch = |path: &str, old: &str| {
        let args = json!({"mode": "replace", "path": path, "old_string": old, "new_string": "q"});
        world.call("patch", args)
    };
    let hint = |answer: Value| answer["_hint"].as_str().unwrap_or_default().to_owned();
    for _ in 0..2 {
        assert!(hint(patch("f", "zzzzzz")).contains("read the file again"));
    }
    assert!(hint(patch("f", "zzzzzz")).contains("miss number 3"));
    assert!(hint(patch("f", "yyyyyy")).contains("miss number 4"));
    // A missing file is another matter, and so is an ambiguous passage.
    for _ in 0..4 {
        assert_eq!(hint(patch("n", "a")), "");
    }
    clean(&world.call("write_file", json!({"path": "f", "content": "a\na\n"})));
    for _ in 0..4 {
        check(&patch("f", "a"), &json!({"error_kind": "ambiguous"}));
    }
    assert!(hint(patch("f", "zzzzzz")).contains("read the file again"));
}

#[test]
fn the_guard_between_agents_can_be_switched_off() {
    let (world, _) = remembering(&[("f", TEXT)]);
    let settings = Settings::default().with_env([("HERMES_DISABLE_FILE_STATE_GUARD", "1")]);
    let other = of_task(&world.cx, "other");
    clean(&call("write_file", json!({"path": "f", "content": "q\n"}), other));
    let off = world.cx.with_settings(settings);
    clean(&call("write_file", json!({"path": "f", "content": "r\n"}), off));
}

//! `patch`.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::world::{World, call, check};

#[test]
fn patching() {
    let world = World::new(&[
        ("lat.txt", b"caf\xE9 one\ntwo\n"),
        ("w.txt", b"a\r\nb\r\nc\r\n"),
        ("many", b"x\ny\nx\n"),
        ("twice", b"x x\ny\nx x x\n"),
    ]);
    let patch = |path: &str, old: &str, new: &str| {
        let args = json!({"mode": "replace", "path": path, "old_string": old, "new_string": new});
        world.call("patch", args)
    };
    check(&patch("lat.txt", "two", "three"), &json!({"success": true, "replacements": 1}));
    assert_eq!(world.bytes("lat.txt"), b"caf\xE9 one\nthree\n");
    check(
        &patch("w.txt", "a\nb\n", "a\n\\n\n"),
        &json!({"diff": "--- a/w.txt\n+++ b/w.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+\\n\n c\n"}),
    );
    assert_eq!(world.bytes("w.txt"), b"a\r\n\\n\r\nc\r\n");
    check(
        &patch("many", "x", "z"),
        &json!({"error_kind": "ambiguous", "count": 2, "lines": [1, 3]}),
    );
    let twice = patch("twice", "x", "z");
    check(&twice, &json!({"error_kind": "ambiguous", "count": 5, "lines": [1, 3]}));
    assert!(twice["error"].as_str().unwrap().contains("5 times, at lines 1, 3;"), "{twice}");
    let all = json!({"path": "many", "old_string": "x\n", "new_string": "", "replace_all": true});
    check(&world.call("patch", all), &json!({"success": true, "replacements": 2}));
    assert_eq!(world.bytes("many"), b"y\n");
}

#[test]
fn patching_is_refused_before_anything_changes() {
    let world = World::new(&[
        ("f", b"def process(x):\n"),
        ("c.json", b"{\"a\": 1}"),
        ("lat", b"caf\xE9"),
        ("b", b"a\0b"),
        ("utf16", b"\xFF\xFEa\0\x00\xD8"),
        (".env", b"K=1\n"),
        ("q", b"print('x')\n"),
    ]);
    let edit = |path: &str, old: &str, new: &str| json!({"mode": "replace", "path": path, "old_string": old, "new_string": new});
    for (args, kind) in [
        (json!({"mode": "weird", "path": "f"}), "bad_mode"),
        (json!({"mode": "patch"}), "missing_argument"),
        (json!({"mode": "patch", "patch": "hello"}), "parse_error"),
        (json!({"mode": "replace", "old_string": "a", "new_string": "b"}), "missing_argument"),
        (json!({"mode": "replace", "path": "f", "old_string": "a"}), "missing_argument"),
        (edit("f", "", "x"), "empty_old"),
        (edit("f", "x", "x"), "identical"),
        (edit("f", "zzz", "x"), "not_found"),
        (edit("no.txt", "a", "b"), "not_found"),
        (edit(".", "a", "b"), "is_directory"),
        (edit("c.json", "1", ""), "invalid_content"),
        (edit("lat", "caf", "日"), "invalid_content"),
        (edit("f", "process(\\'x\\')", "p(\\'x\\')"), "not_found"),
        (edit("q", "print(\\'x\\')", "p(\\'x\\')"), "escape_drift"),
        (edit("f", " \n", "x"), "not_found"),
        (edit("b", "a", "x"), "binary"),
        (edit("utf16", "a", "x"), "binary"),
        (edit(".env", "K", "L"), "blocked"),
        (edit("f", "x", "«redacted:sk-…»"), "redaction_marker"),
    ] {
        check(&world.call("patch", args), &json!({"error_kind": kind}));
    }
    let near = world.call("patch", edit("f", "def proces(x):", "x"));
    assert!(near["error"].as_str().unwrap().contains("\n1|def process(x):"), "{near}");
    assert_eq!(world.bytes("f"), b"def process(x):\n");
}

#[test]
fn edits_at_the_same_time_are_all_kept() {
    let lines: String = (0..16).map(|n| format!("line {n} old\n")).collect();
    let world = World::new(&[("f", lines.as_bytes())]);
    std::thread::scope(|scope| {
        for n in 0..16 {
            let world = &world;
            scope.spawn(move || {
                let args = json!({"path": "f", "old_string": format!("line {n} old"),
                                  "new_string": format!("line {n} new")});
                check(&world.call("patch", args), &json!({"success": true}));
            });
        }
    });
    assert_eq!(world.bytes("f"), lines.replace("old", "new").as_bytes());
}

#[test]
fn slips_in_blanks_are_mended_and_told() {
    let world = World::new(&[("f", b"\tif a:\r\n\t\tb\r\n")]);
    let args =
        json!({"path": "f", "old_string": "if a:\n    b", "new_string": "if a:\n    c\n    d"});
    check(&world.call("patch", args), &json!({"success": true, "strategy": "line_trimmed"}));
    assert_eq!(world.bytes("f"), b"\tif a:\r\n\t\tc\r\n\t\td\r\n");
}

/// Where a process of `edits_of_several_processes_are_all_kept` works, and which lines are its own.
const PROCESS: &str = "HERMES_TEST_PATCH_PROCESS";
/// How many processes there are, and how many lines each of them changes.
const SIZE: usize = 6;

#[test]
#[expect(clippy::disallowed_methods, reason = "starts itself, which is no command of a model")]
fn edits_of_several_processes_are_all_kept() {
    let lines: String = (0..SIZE * SIZE).map(|n| format!("line {n} old\n")).collect();
    let world = World::new(&[("f", lines.as_bytes())]);
    let processes: Vec<_> = (0..SIZE)
        .map(|n| {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "patch::one_of_several_processes"])
                .env(PROCESS, format!("{n} {}", world.dir.path().display()))
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(world.bytes("f"), lines.replace("old", "new").as_bytes());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "told by the test that starts it")]
fn one_of_several_processes() {
    // On its own it has nothing to do.
    let Ok(told) = std::env::var(PROCESS) else { return };
    let (number, dir) = told.split_once(' ').unwrap();
    let number: usize = number.parse().unwrap();
    for n in (0..SIZE).map(|n| n * SIZE + number) {
        let args = json!({"path": "f", "old_string": format!("line {n} old"),
                          "new_string": format!("line {n} new")});
        let result = call("patch", args, hermes_registry::ToolContext::new(dir));
        check(&result, &json!({"success": true}));
    }
}

#[test]
fn edits_of_many_threads_in_the_same_and_in_other_files_are_all_kept() {
    let lines: String = (0..16).map(|n| format!("line {n} old\n")).collect();
    let own: Vec<String> = (0..16).map(|n| format!("own{n}")).collect();
    let files = own.iter().map(|name| (name.as_str(), lines.as_bytes()));
    let files: Vec<_> = files.chain([("shared", lines.as_bytes())]).collect();
    let world = World::new(&files);
    std::thread::scope(|scope| {
        for (n, own) in own.iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                for path in ["shared", own, own] {
                    let args = json!({
                        "mode": "replace", "path": path,
                        "old_string": format!("line {n} old"),
                        "new_string": format!("line {n} old new"),
                    });
                    check(&world.call("patch", args), &json!({"success": true}));
                }
            });
        }
    });
    assert_eq!(world.bytes("shared"), lines.replace("old", "old new").as_bytes());
    for (n, own) in own.iter().enumerate() {
        let changed = format!("line {n} old new new\n");
        let expected = lines.replace(&format!("line {n} old\n"), &changed);
        assert_eq!(world.bytes(own), expected.as_bytes());
    }
}

//! `write_file`.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::world::{World, call, check};

#[test]
fn writing() {
    let world = World::new(&[("w.txt", b"a\r\nb\r\n"), ("bom", b"\xEF\xBB\xBFa\n")]);
    let write = |path: &str, content: &str| {
        world.call("write_file", json!({"path": path, "content": content}))
    };
    let result = write("d/e/f.txt", "x");
    let shown = world.path("d/e/f.txt").canonicalize().unwrap().display().to_string();
    check(
        &result,
        &json!({"bytes_written": 1, "dirs_created": true, "resolved_path": shown,
                "files_modified": [shown], "_warning": null}),
    );
    check(&write("d/e/f.txt", "y"), &json!({"dirs_created": false}));
    check(&write("w.txt", "x\ny\n"), &json!({"bytes_written": 6}));
    assert_eq!(world.bytes("w.txt"), b"x\r\ny\r\n");
    write("bom", "b\n");
    assert_eq!(world.bytes("bom"), b"\xEF\xBB\xBFb\n");
    check(&write("c.json", "{}"), &json!({"lint": {"status": "ok"}}));
}

#[test]
fn writing_is_refused_before_anything_changes() {
    let world = World::new(&[
        ("adir/x", b""),
        ("c.json", b"{}\n"),
        ("c.yaml", b"token: ghp_abcdefghijklmnop1234\n"),
    ]);
    for (args, kind) in [
        (json!({"content": "x"}), "missing_argument"),
        (json!({"path": "n"}), "missing_argument"),
        (json!({"path": "n", "content": {"a": 1}}), "missing_argument"),
        (json!({"path": "adir", "content": "x"}), "is_directory"),
        (json!({"path": "new/", "content": "x"}), "is_directory"),
        (json!({"path": "c.json", "content": "{\"a\":"}), "invalid_content"),
        (json!({"path": "n", "content": "1|a\n2|b\n"}), "display_text"),
        (json!({"path": "c.yaml", "content": "token: «redacted:ghp_…»\n"}), "redaction_marker"),
        (json!({"path": "c.json/x", "content": "x"}), "io"),
        (json!({"path": "/dev/full", "content": "x"}), "device"),
    ] {
        check(&world.call("write_file", args), &json!({"error_kind": kind}));
    }
    assert_eq!(world.bytes("c.json"), b"{}\n");
    assert!(!world.path("n").exists() && !world.path("new").exists());
}

#[cfg(unix)]
#[test]
fn writing_goes_through_a_link() {
    let world = World::new(&[("real.txt", b"r\n")]);
    std::os::unix::fs::symlink("real.txt", world.path("l.txt")).unwrap();
    std::os::unix::fs::symlink("later.txt", world.path("dangling")).unwrap();
    world.call("write_file", json!({"path": "l.txt", "content": "via\n"}));
    world.call("write_file", json!({"path": "dangling", "content": "new\n"}));
    assert!(world.path("l.txt").is_symlink() && world.path("dangling").is_symlink());
    assert_eq!(world.bytes("real.txt"), b"via\n");
    assert_eq!(world.bytes("later.txt"), b"new\n");
}

#[test]
fn a_relative_path_out_of_the_folder_is_warned_of() {
    let world = World::new(&[("in/x", b"")]);
    let cx = world.cx.clone().with_cwd(world.path("in"));
    let result = call("write_file", json!({"path": "../out", "content": "x"}), cx);
    assert!(result["_warning"].as_str().unwrap().contains("out"), "{result}");
}

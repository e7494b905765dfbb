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

#[cfg(unix)]
#[test]
fn permissions_are_not_overridden() {
    use std::fs::{OpenOptions, Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(&[("f", b"old\n")]);
    set_permissions(world.path("f"), Permissions::from_mode(0o444)).unwrap();
    // Root may write to it.
    let may_write = OpenOptions::new().write(true).open(world.path("f")).is_ok();
    let kind = if may_write { json!(null) } else { json!("denied") };
    let edit = json!({"path": "f", "old_string": "old", "new_string": "new"});
    check(&world.call("patch", edit), &json!({"error_kind": kind}));
    check(
        &world.call("write_file", json!({"path": "f", "content": "new\n"})),
        &json!({"error_kind": kind}),
    );
    assert_eq!(world.bytes("f"), if may_write { b"new\n" } else { b"old\n" });
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_another_user_stays_theirs() {
    use std::os::unix::fs::MetadataExt;
    let world = World::new(&[("f", b"old\n")]);
    let foreign = 12_345;
    if std::os::unix::fs::chown(world.path("f"), Some(foreign), None).is_err() {
        return;
    }
    let result = world.call("write_file", json!({"path": "f", "content": "new\n"}));
    check(&result, &json!({"error_kind": null}));
    assert_eq!(world.bytes("f"), b"new\n");
    assert_eq!(world.path("f").metadata().unwrap().uid(), foreign);
}

//! `read_file`.

use std::fs;

use hermes_registry::Settings;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, call, check};

#[test]
fn reading() {
    let long = "line\n".repeat(2501);
    let world = World::new(&[
        ("a.txt", b"a\nb\nc\n"),
        ("empty", b""),
        ("long", long.as_bytes()),
        ("latin", b"caf\xE9\n"),
    ]);
    let read = |args| world.call("read_file", args);
    check(
        &read(json!({"path": "a.txt"})),
        &json!({"content": "1|a\n2|b\n3|c", "total_lines": 3, "file_size": 6, "truncated": false,
                "hint": null, "encoding": null}),
    );
    check(
        &read(json!({"path": "a.txt", "offset": "2", "limit": 1.9})),
        &json!({"content": "2|b", "truncated": true, "next_offset": 3}),
    );
    check(
        &read(json!({"path": "a.txt", "offset": 9})),
        &json!({"content": "", "total_lines": 3, "truncated": false, "next_offset": null,
                "hint": "offset 9 is past the end: the file has 3 lines"}),
    );
    check(&read(json!({"path": "empty"})), &json!({"content": "", "total_lines": 0}));
    check(
        &read(json!({"path": "long"})),
        &json!({"total_lines": 2501, "truncated": true, "next_offset": 501, "truncated_by": null}),
    );
    check(
        &read(json!({"path": "latin"})),
        &json!({"content": "1|café", "encoding": "windows-1252"}),
    );
}

#[test]
fn reading_is_bounded_by_characters() {
    let wide = format!("{}\n", "x".repeat(1500)).repeat(400);
    let world = World::new(&[("wide", wide.as_bytes())]);
    check(
        &world.call("read_file", json!({"path": "wide"})),
        &json!({"total_lines": 400, "truncated": true, "truncated_by": "bytes", "next_offset": 67}),
    );
    let settings = Settings::default().with_config(json!({"file_read_max_chars": 10}));
    let result = call("read_file", json!({"path": "wide"}), world.cx.with_settings(settings));
    check(&result, &json!({"content": "1|xxxxxxxx", "next_offset": 2}));
}

#[test]
fn reading_is_refused_for_what_is_no_text() {
    let world = World::new(&[
        ("bin.foo", b"abc\0\x01\x02def\n"),
        ("i.png", b"\x89PNG"),
        ("doc.pdf", b"%PDF-1.7\n"),
        ("sub/x", b"1\n"),
        ("config.yaml", b"a: 1\n"),
        (".env", b"K=1\n"),
        (".env.example", b"K=\n"),
    ]);
    let kind = |path: &str| world.call("read_file", json!({"path": path}))["error_kind"].clone();
    assert_eq!(kind("bin.foo"), "binary");
    assert_eq!(kind("i.png"), "binary");
    assert_eq!(kind("doc.pdf"), "binary");
    assert_eq!(kind(".env"), "blocked");
    assert_eq!(kind(".env.example"), Value::Null);
    assert_eq!(kind("/dev/./zero"), "device");
    assert_eq!(kind(""), "missing_argument");
    assert_eq!(kind("a\0b"), "not_found");
    check(
        &world.call("read_file", json!({"path": "sub"})),
        &json!({"error_kind": "is_directory", "entries": ["x"]}),
    );
    check(
        &world.call("read_file", json!({"path": "config.yml"})),
        &json!({"error_kind": "not_found", "similar_files": ["config.yaml"]}),
    );
    check(&world.call("read_file", json!({})), &json!({"error_kind": "missing_argument"}));
}

#[cfg(unix)]
#[test]
fn a_broken_link_is_called_so() {
    let world = World::new(&[("gone.txt.bak", b"")]);
    std::os::unix::fs::symlink("gone.txt", world.path("link")).unwrap();
    let target = world.dir.path().canonicalize().unwrap().join("gone.txt");
    let expected = format!("is a broken link to {}", target.display());
    for (tool, args) in [
        ("read_file", json!({"path": "link"})),
        ("search_files", json!({"path": "link", "pattern": "x"})),
        ("patch", json!({"path": "link", "old_string": "a", "new_string": "b"})),
    ] {
        let result = world.call(tool, args);
        check(&result, &json!({"error_kind": "not_found"}));
        assert!(result["error"].as_str().unwrap().contains(&expected), "{result}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_devices_secrets_and_sockets_are_refused() {
    use std::os::unix::fs::symlink;
    let world = World::new(&[(".env", b"K=1\n")]);
    symlink("/dev/zero", world.path("zero")).unwrap();
    symlink("zero", world.path("again")).unwrap();
    symlink(".env", world.path("innocent")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap();
    for (path, kind) in
        [("zero", "device"), ("again", "device"), ("socket", "device"), ("innocent", "blocked")]
    {
        check(&world.call("read_file", json!({"path": path})), &json!({"error_kind": kind}));
    }
    let args = json!({"path": "socket", "content": "x"});
    check(&world.call("write_file", args), &json!({"error_kind": "device"}));
}

#[cfg(target_os = "linux")]
#[test]
fn a_window_of_a_huge_file_is_read_without_holding_it() {
    let world = World::new(&[("big", "line\n".repeat(1000).as_bytes())]);
    let file = fs::OpenOptions::new().write(true).open(world.path("big")).unwrap();
    file.set_len(256 * 1024 * 1024).unwrap();
    check(
        &world.call("read_file", json!({"path": "big", "offset": 2, "limit": 2})),
        &json!({"content": "2|line\n3|line", "total_lines": 1001, "next_offset": 4}),
    );
}

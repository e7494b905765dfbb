//! `search_files`, and cancelling any tool.

use std::fs;
use std::path::Path;

use hermes_registry::CancellationToken;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, call, check};

fn searchable() -> World {
    let lots: String = (0..100).map(|n| format!("hit {n}\n")).collect();
    let world = World::new(&[
        ("src/main.py", b"import os\nTODO one\nx\nTODO two\n"),
        ("src/my file.py", b"TODO spaced\n"),
        (".hidden/h.py", b"TODO hid\n"),
        (".gitignore", b"ignored/\n*.tmp\n"),
        ("ignored/z.py", b"TODO ign\n"),
        ("bin.xyz", b"TODO\0\x01"),
        ("dash.txt", b"--flag here\n-v\nTODO|x\n"),
        ("a:12:b.txt", b"needle\n"),
        ("lots.txt", lots.as_bytes()),
        ("few.tmp", b"TODO tmp\n"),
    ]);
    fs::create_dir(world.path(".git")).unwrap();
    world
}

#[test]
fn searching_lines() {
    let world = searchable();
    let search = |args| world.call("search_files", args);
    check(
        &search(json!({"pattern": "TODO (one|two)"})),
        &json!({"total_count": 2, "truncated": false, "matches": [
            {"path": "src/main.py", "line": 2, "content": "TODO one"},
            {"path": "src/main.py", "line": 4, "content": "TODO two"},
        ]}),
    );
    check(
        &search(json!({"pattern": "--flag", "context": 1})),
        &json!({"matches": [{"path": "dash.txt", "line": 1, "content": "--flag here",
                             "after": ["-v"]}]}),
    );
    check(&search(json!({"pattern": "TODO\\|x"})), &json!({"total_count": 1}));
    check(&search(json!({"pattern": "todo"})), &json!({"matches": [], "total_count": 0}));
    check(
        &search(json!({"pattern": "hit", "limit": 3, "offset": 96})),
        &json!({"total_count": 100, "truncated": true, "next_offset": 99}),
    );
    check(
        &search(json!({"pattern": "hit", "limit": 3, "offset": 97})),
        &json!({"total_count": 100, "truncated": false, "next_offset": null}),
    );
    let text = search(json!({"pattern": "hit", "limit": 5}))["matches_text"].clone();
    assert_eq!(text, "lots.txt\n  1: hit 0\n  2: hit 1\n  3: hit 2\n  4: hit 3\n  5: hit 4");
    check(
        &search(json!({"pattern": "needle"})),
        &json!({"matches": [{"path": "a:12:b.txt", "line": 1, "content": "needle"}]}),
    );
    check(
        &search(json!({"pattern": "one\\nx"})),
        &json!({"matches": [{"path": "src/main.py", "line": 2, "content": "TODO one",
                             "end_line": 3}]}),
    );
    check(&search(json!({"pattern": "a\0b"})), &json!({"total_count": 0}));
}

#[test]
fn searching_where_it_is_told_to() {
    let world = searchable();
    let files = |args: Value| {
        let mut args = args;
        args["pattern"] = "TODO".into();
        args["output_mode"] = "files_only".into();
        world.call("search_files", args)["files"].clone()
    };
    assert_eq!(files(json!({"file_glob": "*.py"})), json!(["src/main.py", "src/my file.py"]));
    assert_eq!(files(json!({"file_glob": "!*.py"})), json!(["dash.txt"]));
    assert_eq!(files(json!({"file_glob": "*.tmp"})), json!(["few.tmp"]));
    assert_eq!(files(json!({"path": "src/main.py"})), json!(["src/main.py"]));
    assert_eq!(files(json!({"path": "./src/"})), json!(["src/main.py", "src/my file.py"]));
    assert_eq!(files(json!({"path": ".hidden"})), json!([".hidden/h.py"]));
    assert_eq!(files(json!({"path": "ignored"})), json!(["ignored/z.py"]));
    assert_eq!(files(json!({"path": "bin.xyz"})), json!([]));
    let counts = json!({"pattern": "TODO", "file_glob": "*.py", "output_mode": "count"});
    check(
        &world.call("search_files", counts),
        &json!({"counts": {"src/main.py": 2, "src/my file.py": 1}, "total_count": 3}),
    );
}

#[test]
fn searching_names() {
    let world = searchable();
    let search = |pattern: &str, limit: u32| {
        world.call("search_files", json!({"pattern": pattern, "target": "files", "limit": limit}))
    };
    check(&search("main.py", 9), &json!({"files": ["src/main.py"], "total_count": 1}));
    check(&search("*.py", 1), &json!({"total_count": 2, "truncated": true, "next_offset": 1}));
    check(&search("*.tmp", 9), &json!({"files": [], "truncated": false}));
}

#[test]
fn searches_that_are_refused() {
    let world = World::new(&[(".env", b"K=1\n"), ("src/x", b"")]);
    for (args, kind) in [
        (json!({}), "missing_argument"),
        (json!({"pattern": "foo("}), "bad_regex"),
        (json!({"pattern": "x", "path": "nope"}), "not_found"),
        (json!({"pattern": "x", "path": ".env"}), "blocked"),
        (json!({"pattern": "x", "path": "/dev/tty"}), "device"),
        (json!({"pattern": "x", "target": "lines"}), "bad_mode"),
        (json!({"pattern": "x", "output_mode": "json"}), "bad_mode"),
        (json!({"pattern": "x", "file_glob": "a["}), "bad_regex"),
        (json!({"pattern": "a[", "target": "files"}), "bad_regex"),
    ] {
        check(&world.call("search_files", args), &json!({"error_kind": kind}));
    }
    check(&world.call("search_files", json!({"pattern": "foo("})), &json!({"position": 4}));
    // An explicit glob may reveal a secret file, but its lines aren't shown.
    check(
        &world.call("search_files", json!({"pattern": "K", "file_glob": ".env*"})),
        &json!({"total_count": 0, "_omitted": 1}),
    );
}

#[test]
fn a_search_stops_counting_at_its_cap() {
    let many = "x\n".repeat(6000);
    let world = World::new(&[("a", many.as_bytes()), ("b", many.as_bytes()), ("c", b"x\n")]);
    check(
        &world.call("search_files", json!({"pattern": "x"})),
        &json!({"total_count": 10_000, "truncated": true, "limit_reason": "scan_cap"}),
    );
}

#[test]
fn a_cancelled_call_ends_with_an_error() {
    let world = searchable();
    let token = CancellationToken::new();
    token.cancel();
    let cx = world.cx.clone().with_cancel(token);
    for (tool, args) in [
        ("read_file", json!({"path": "dash.txt"})),
        ("write_file", json!({"path": "new", "content": "x"})),
        ("patch", json!({"path": "dash.txt", "old_string": "-v", "new_string": "x"})),
        ("search_files", json!({"pattern": "x"})),
        ("search_files", json!({"pattern": "x", "target": "files"})),
    ] {
        check(&call(tool, args, cx.clone()), &json!({"error_kind": "cancelled"}));
    }
    assert!(!world.path("new").exists());
    assert!(Path::new(&world.path("dash.txt")).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_unicode_are_shown_as_far_as_they_can_be() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new(&[("a\nb", b"hit\n")]);
    let odd = world.dir.path().join(std::ffi::OsStr::from_bytes(b"odd\xFF"));
    fs::write(odd, "hit\n").unwrap();
    let result = world.call("search_files", json!({"pattern": "hit", "output_mode": "files_only"}));
    assert_eq!(result["files"], json!(["a\nb", "odd\u{fffd}"]));
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_kernel_shows_is_searched_only_where_a_file_is_named() {
    let world = World::new(&[]);
    let search = |path: &str, pattern: &str, target: &str| {
        world.call("search_files", json!({"path": path, "pattern": pattern, "target": target}))
    };
    for path in ["/proc", "/proc/self", "/sys/kernel"] {
        let result = search(path, ".", "content");
        check(&result, &json!({"total_count": 0, "truncated": false}));
        assert!(result["hint"].as_str().unwrap().contains("/proc and /sys"), "{result}");
    }
    check(&search("/proc", "*", "files"), &json!({"total_count": 0}));
    check(&search("/proc/self/status", "^Pid:", "content"), &json!({"total_count": 1}));
    check(&search("/proc/kmsg", "x", "content"), &json!({"error_kind": "device"}));
    check(
        &world.call("read_file", json!({"path": "/proc/kmsg"})),
        &json!({"error_kind": "device"}),
    );
}

#[test]
fn a_page_is_bounded_by_characters() {
    let lines: String = (0..300).map(|n| format!("hit {n} {}\n", "x".repeat(480))).collect();
    let world = World::new(&[("a", lines.as_bytes()), ("b", b"hit last\n")]);
    let search = |offset: u64, context: u64| {
        world.call(
            "search_files",
            json!({"pattern": "hit", "limit": 1000, "offset": offset, "context": context}),
        )
    };
    let mut offset = 0;
    let mut pages = 0;
    while offset < 301 {
        let page = search(offset, 0);
        assert!(page.to_string().len() < 65_000);
        pages += 1;
        let next = page["next_offset"].as_u64();
        check(&page, &json!({"total_count": 301, "truncated": next.is_some()}));
        assert!(page["matches_text"].as_str().unwrap().contains(&format!("hit {offset} ")));
        offset = next.unwrap_or(301);
    }
    assert_eq!(pages, 3);
    let wide = search(150, 100);
    assert!((40_000..65_000).contains(&wide.to_string().len()));
    check(&wide, &json!({"truncated": true, "next_offset": 151}));
}

#[test]
fn what_is_not_searched_is_named() {
    let world = World::new(&[("bin.xyz", b"TODO\0\x01"), ("big.txt", b"a\n"), ("f", b"a\nb\n")]);
    let big = fs::OpenOptions::new().append(true).open(world.path("big.txt")).unwrap();
    big.set_len(33 * 1024 * 1024).unwrap();
    let search =
        |args: Value| world.call("search_files", json!({"pattern": args[0], "path": args[1]}));
    let result = search(json!(["a\\nb", "."]));
    check(
        &result,
        &json!({"total_count": 1, "warning": "1 file or folder couldn't be read: big.txt (larger \
            than 32 MiB, the most for a pattern that goes over lines)"}),
    );
    let result = search(json!(["TODO", "bin.xyz"]));
    check(&result, &json!({"total_count": 0}));
    assert!(result["hint"].as_str().unwrap().contains("is binary"), "{result}");
}

#[cfg(unix)]
#[test]
fn a_path_that_may_not_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(&[("f", b"x\n"), ("d/f", b"x\n")]);
    let kind = |path: &str, target: &str| {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(0o000)).unwrap();
        let closed = fs::File::open(world.path(path)).is_err();
        let args = json!({"pattern": "x", "path": path, "target": target});
        let result = world.call("search_files", args);
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(0o700)).unwrap();
        // Root may read everything.
        if closed { result["error_kind"].clone() } else { json!("denied") }
    };
    assert_eq!(kind("f", "content"), "denied");
    assert_eq!(kind("d", "content"), "denied");
    assert_eq!(kind("d", "files"), "denied");
}

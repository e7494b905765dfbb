//! `patch` in mode `patch`.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, check};

fn apply(world: &World, patch: &str) -> Value {
    world.call("patch", json!({"mode": "patch", "patch": patch}))
}

/// The names of all files and folders in the world's folder, sorted.
fn names(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.dir.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_are_listed_where_they_belong() {
    let world = World::new(&[
        ("a", b"one\n"),
        ("b", b"\0\x01"),
        ("c", b"caf\xE9\r\ntwo\r\n"),
        ("d", b"gone\n"),
        ("e", b"here\n"),
    ]);
    let answer = apply(
        &world,
        "*** Begin Patch\n*** Update File: a\n-one\n+1\n*** Move File: b -> n/b\n\
         *** Update File: c\n*** Move to: n/c\n-two\n+three\n+four\n*** Delete File: d\n\
         *** Move File: e -> n/e\n*** Add File: x.json\n+{}\n*** End Patch\n",
    );
    let root = world.dir.path().canonicalize().unwrap();
    let path = |name: &str| root.join(name).display().to_string();
    let moved = |name: &str| json!({"from": path(name), "to": path(&format!("n/{name}"))});
    check(
        &answer,
        &json!({
            "success": true,
            "files_modified": [path("a")],
            "files_created": [path("x.json")],
            "files_deleted": [path("d")],
            "files_moved": [moved("b"), moved("c"), moved("e")],
            "lint": {path("x.json"): {"status": "ok"}},
        }),
    );
    assert_eq!(names(&world), ["a", "n", "x.json"]);
    assert_eq!(world.bytes("n/b"), b"\0\x01");
    assert_eq!(world.bytes("n/c"), b"caf\xE9\r\nthree\r\nfour\r\n");
    let diff = answer["diff"].as_str().unwrap();
    for part in ["--- a/a\n+++ b/a\n", "rename from e\nrename to n/e\n", "--- a/d\n+++ /dev/null\n"]
    {
        assert!(diff.contains(part), "{diff}");
    }
}

#[test]
fn nothing_changes_when_anything_is_wrong() {
    let files: [(&str, &[u8]); 5] = [
        ("a", b"one\n"),
        ("b.json", b"{}\n"),
        ("lat", b"caf\xE9\n"),
        (".env", b"K=1\n"),
        ("bin", b"\0"),
    ];
    let world = World::new(&files);
    fs::create_dir(world.path("dir")).unwrap();
    let before = names(&world);
    let start = "*** Update File: a\n-one\n+two\n*** Add File: new/n\n+x\n";
    for (section, kind) in [
        ("*** Update File: b.json\n-{}\n+{", "invalid_content"),
        ("*** Update File: lat\n-café\n+日", "invalid_content"),
        ("*** Add File: k\n+«redacted:sk-…»", "redaction_marker"),
        ("*** Add File: k\n+1|a\n+2|b", "display_text"),
        ("*** Delete File: .env", "blocked"),
        ("*** Add File: ../k\n+x", "traversal"),
        ("*** Update File: bin\n-a\n+b", "binary"),
        ("*** Delete File: dir", "is_directory"),
        ("*** Delete File: /dev/zero", "device"),
        ("*** Add File: a/b\n+x", "rolled_back"),
        ("*** Move File: lat -> a", "already_exists"),
        ("*** Update File: ./a\n-one\n+two", "not_found"),
    ] {
        let answer = apply(&world, &format!("{start}{section}\n"));
        check(&answer, &json!({"error_kind": kind}));
        assert_eq!(names(&world), before, "{section}");
        for (path, content) in files {
            assert_eq!(world.bytes(path), content, "{section}");
        }
    }
    let several =
        apply(&world, "*** Delete File: x\n*** Move File: a -> lat\n*** Delete File: a\n");
    let kinds: Vec<&Value> =
        several["errors"].as_array().unwrap().iter().map(|error| &error["error_kind"]).collect();
    assert_eq!(kinds, ["not_found", "already_exists"]);
}

#[test]
fn files_change_places_and_keep_their_modes() {
    let world = World::new(&[("a", b"1\n"), ("b", b"2\n"), ("c", b"3\n")]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(world.path("a"), fs::Permissions::from_mode(0o751)).unwrap();
    }
    let patch = "*** Move File: a -> t\n*** Move File: b -> a\n*** Move File: t -> b\n\
                 *** Move File: c -> d\n*** Add File: c\n+new\n*** Update File: b\n-1\n+one\n";
    check(&apply(&world, patch), &json!({"success": true}));
    assert_eq!(names(&world), ["a", "b", "c", "d"]);
    for (path, content) in [("a", "2\n"), ("b", "one\n"), ("c", "new\n"), ("d", "3\n")] {
        assert_eq!(world.bytes(path), content.as_bytes(), "{path}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert_eq!(fs::metadata(world.path("b")).unwrap().mode() & 0o777, 0o751);
    }
}

#[test]
fn patches_of_the_same_files_at_the_same_time_are_all_kept() {
    let lines: String = (0..8).map(|n| format!("line {n} old\n")).collect();
    let world = World::new(&[("f", lines.as_bytes()), ("g", lines.as_bytes())]);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let world = &world;
            scope.spawn(move || {
                let hunk = format!("-line {n} old\n+line {n} new\n");
                let (first, second) = if n % 2 == 0 { ("f", "g") } else { ("g", "f") };
                let patch =
                    format!("*** Update File: {first}\n{hunk}*** Update File: {second}\n{hunk}");
                check(&apply(world, &patch), &json!({"success": true}));
            });
        }
    });
    for path in ["f", "g"] {
        assert_eq!(world.bytes(path), lines.replace("old", "new").as_bytes());
    }
}

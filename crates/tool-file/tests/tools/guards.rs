//! What the tools refuse to read, to show and to write.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use hermes_registry::{Settings, ToolContext};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, call, check};

const KEY: &[u8] = b"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n";

/// A user's home with a project and two profiles; the session has the profile `work`.
fn world(files: &[(&str, &[u8])], env: &[(&str, &str)]) -> World {
    let mut world = World::new(files);
    let home = world.dir.path().canonicalize().unwrap().join("home");
    fs::create_dir_all(home.join(".hermes/profiles/work")).unwrap();
    fs::create_dir_all(home.join("proj")).unwrap();
    let mut env: Vec<(String, String)> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    env.push(("HOME".to_owned(), home.display().to_string()));
    let settings = Settings::new(home.join(".hermes/profiles/work")).with_env(env);
    world.cx = ToolContext::new(home.join("proj")).with_settings(settings);
    world
}

fn write(world: &World, path: &str) -> Value {
    world.call("write_file", json!({"path": path, "content": "x\n"}))
}

fn patch(world: &World, path: &str) -> Value {
    let args = json!({"mode": "replace", "path": path, "old_string": "a", "new_string": "b"});
    world.call("patch", args)
}

fn read(world: &World, path: &str) -> Value {
    world.call("read_file", json!({"path": path}))
}

#[test]
fn secrets_are_neither_read_nor_changed_nor_found() {
    let world = world(
        &[
            ("home/proj/.env", b"a=needle\n"),
            ("home/proj/.env.example", b"needle\n"),
            ("home/proj/key.pem", KEY),
            ("home/proj/cert.pem", b"-----BEGIN CERTIFICATE-----\n"),
            ("home/.hermes/auth.json", b"a needle\n"),
            ("home/.hermes/profiles/other/.env", b"a\n"),
            ("home/.ssh/id_rsa", b"a\n"),
            ("home/.aws/credentials", b"a\n"),
        ],
        &[],
    );
    symlink(world.path("home/.hermes/auth.json"), world.path("home/proj/plain")).unwrap();
    symlink(world.path("home/proj/plain"), world.path("home/proj/again")).unwrap();
    for path in [
        ".env",
        "key.pem",
        "plain",
        "again",
        "~/.hermes/auth.json",
        "~/.hermes/profiles/other/.env",
        "~/.ssh/id_rsa",
        "~/.aws/credentials",
        "../.hermes/auth.json",
    ] {
        check(&read(&world, path), &json!({"error_kind": "blocked", "class": "credential"}));
        check(&patch(&world, path), &json!({"error_kind": "blocked"}));
        let search = world.call("search_files", json!({"path": path, "pattern": "a"}));
        if path != "key.pem" {
            check(&search, &json!({"error_kind": "blocked"}));
        }
    }
    check(&read(&world, "cert.pem"), &json!({"total_lines": 1}));
    let hits = |args: Value| world.call("search_files", args);
    check(
        &hits(json!({"path": "..", "pattern": "needle", "file_glob": "*"})),
        &json!({"total_count": 1, "_omitted": 2}),
    );
    check(
        &hits(json!({"path": "key.pem", "pattern": "MIIE"})),
        &json!({"total_count": 0, "_omitted": 1}),
    );
    check(
        &hits(json!({"target": "files", "pattern": "*.pem"})),
        &json!({"files": ["cert.pem"], "_omitted": 1}),
    );
}

#[test]
fn writes_to_protected_places_are_denied() {
    let world = world(&[("home/.ssh/config", b"a\n"), ("home/.hermes/state.db-wal", b"a\n")], &[]);
    symlink(world.path("home/.ssh"), world.path("home/proj/folder")).unwrap();
    for (path, class) in [
        ("~/.ssh/config", "credential"),
        ("folder/config", "credential"),
        ("folder/new/file", "credential"),
        ("x/../../.ssh/config", "credential"),
        ("~/.hermes/state.db-wal", "session"),
        ("~/.hermes/profiles/work/config.yaml", "system"),
        ("/etc/hermes-test", "system"),
        ("/proc/self/root/etc/hermes-test", "system"),
    ] {
        let expected = json!({"error_kind": "denied", "class": class});
        check(&write(&world, path), &expected);
        let patched = patch(&world, path);
        check(&patched, &expected);
        // A wish to go on all the same lifts the soft guards only.
        let args = json!({"path": path, "content": "x", "cross_profile": true});
        check(&world.call("write_file", args), &expected);
    }
    assert_eq!(world.bytes("home/.ssh/config"), b"a\n");
    assert!(!world.path("home/.ssh/new").exists());
}

#[test]
fn writes_stay_in_the_safe_roots() {
    let world = world(&[("home/other/f", b"a\n")], &[("HERMES_WRITE_SAFE_ROOT", "~/proj")]);
    symlink(world.path("home/other"), world.path("home/proj/out")).unwrap();
    for path in ["~/other/f", "out/f", "out/new", "../other/f"] {
        let expected = json!({"error_kind": "denied", "class": "safe_root"});
        check(&write(&world, path), &expected);
    }
    check(&write(&world, "f"), &json!({"bytes_written": 2}));
    check(&read(&world, "~/other/f"), &json!({"total_lines": 1}));
}

#[test]
fn other_profiles_are_left_alone_unless_that_is_meant() {
    let world = world(&[("home/.hermes/skills/s/SKILL.md", b"a\n")], &[]);
    let path = "~/.hermes/skills/s/SKILL.md";
    let expected = json!({
        "error_kind": "soft_guard", "class": "cross_profile", "active_profile": "work",
        "target_profile": "default", "area": "skills",
    });
    check(&write(&world, path), &expected);
    check(&patch(&world, path), &expected);
    let mirror = "~/.hermes/sandboxes/docker/t/home/.hermes/memories/M.md";
    check(
        &write(&world, mirror),
        &json!({"error_kind": "soft_guard", "class": "sandbox_mirror", "active_profile": "work"}),
    );
    check(
        &write(&world, "~/.hermes/profiles/work/skills/s/SKILL.md"),
        &json!({"bytes_written": 2}),
    );
    for path in [path, mirror] {
        let args = json!({"path": path, "content": "x\n", "cross_profile": true});
        check(&world.call("write_file", args), &json!({"bytes_written": 2}));
    }
    let args = json!({
        "mode": "replace", "path": path, "old_string": "x", "new_string": "y",
        "cross_profile": true,
    });
    check(&world.call("patch", args), &json!({"success": true}));
}

#[test]
fn secrets_in_shown_text_are_markers() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz";
    let text = format!("a\ntoken: {token}\nb {token}\n");
    let world = world(&[("home/proj/f", text.as_bytes())], &[]);
    check(
        &read(&world, "f"),
        &json!({"content": "1|a\n2|token: «redacted:ghp_…»\n3|b «redacted:ghp_…»", "total_lines": 3}),
    );
    let args = json!({"pattern": "token", "context": 1});
    let found = world.call("search_files", args.clone());
    assert!(!found.to_string().contains(token) && found.to_string().contains("«redacted:ghp_…»"));
    // What was shown can't be written back.
    let args_back = json!({"path": "f", "content": "a\ntoken: «redacted:ghp_…»\n"});
    check(&world.call("write_file", args_back), &json!({"error_kind": "redaction_marker"}));

    let settings = Settings::default().with_config(json!({"security": {"redact_secrets": false}}));
    let found = call("search_files", args, world.cx.with_settings(settings));
    assert!(found.to_string().contains(token), "{found}");
}

/// While another thread swaps a folder and a link, nothing of what the link leads to is
/// ever read or written.
#[cfg(target_os = "linux")]
#[test]
fn a_link_that_is_swapped_in_never_wins() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let world =
        world(&[("home/.ssh/id_rsa", b"a secret\n"), ("home/proj/d/id_rsa.pub", b"a\n")], &[]);
    let proj = world.path("home/proj");
    fs::copy(proj.join("d/id_rsa.pub"), proj.join("d/id_rsa")).unwrap();
    let (folder, link) = (proj.join("d"), proj.join("link"));
    symlink("../.ssh", &link).unwrap();
    let stop = AtomicBool::new(false);
    let mut shown = String::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &link, CWD, &folder, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for round in 0..300 {
            shown.push_str(&read(&world, "d/id_rsa").to_string());
            shown.push_str(&patch(&world, "d/id_rsa").to_string());
            write(&world, "d/id_rsa");
            write(&world, &format!("d/new{round}"));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(!shown.contains("a secret"), "{shown}");
    assert_eq!(world.bytes("home/.ssh/id_rsa"), b"a secret\n");
    let there: Vec<_> = fs::read_dir(world.path("home/.ssh")).unwrap().collect();
    assert_eq!(there.len(), 1, "{there:?}");
}

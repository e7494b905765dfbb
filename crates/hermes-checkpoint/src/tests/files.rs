//! Whatever lies in a folder comes back as it was.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{World, git};

#[tokio::test]
async fn odd_names_links_and_execute_bits() {
    let world = World::new();
    let names: [&[u8]; 12] = [
        "größe/日本.txt".as_bytes(),
        b"new\nline",
        b"-rf",
        b"--stdin",
        b" two  blanks ",
        b"\"quoted\"",
        b"back\\slash",
        b":(top)",
        b"*",
        b"git~1",
        b"not-utf8-\xff",
        b"tab\tand\rmore",
    ];
    for name in names {
        world.write(OsStr::from_bytes(name), name);
    }
    world.write("run", "#!/bin/sh\n");
    fs::set_permissions(world.at("run"), Permissions::from_mode(0o755)).unwrap();
    symlink("run", world.at("link")).unwrap();
    symlink("/nowhere/at all", world.at("broken")).unwrap();
    symlink(".", world.at("loop")).unwrap();
    world.taken("one").await;
    let then = world.tree();
    for name in names {
        fs::remove_file(world.at(OsStr::from_bytes(name))).unwrap();
        world.write(OsStr::from_bytes(&[name, b"-new"].concat()), "");
    }
    fs::set_permissions(world.at("run"), Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(world.at("link")).unwrap();
    world.write("link", "a file now");
    fs::remove_file(world.at("broken")).unwrap();
    symlink("run", world.at("broken")).unwrap();
    let now = world.tree();
    world.restore("1").await;
    assert_eq!(world.tree(), then);
    world.restore("1").await;
    assert_eq!(world.tree(), now);
}

#[tokio::test]
async fn bytes_stay_as_they_are() {
    let world = World::new();
    let attributes = "* text=auto eol=lf ident filter=lfs working-tree-encoding=UTF-16\n";
    let files: [(&str, &[u8]); 6] = [
        (".gitattributes", attributes.as_bytes()),
        ("crlf.txt", b"a\r\nb\r\n"),
        ("mixed", b"a\r\nb\nc\rd"),
        ("ident.c", b"$Id$ $Id: 123 $"),
        ("utf16", b"\xff\xfea\0\r\0\n\0"),
        ("empty", b""),
    ];
    for (name, bytes) in files {
        world.write(name, bytes);
    }
    world.taken("one").await;
    for (name, _) in files {
        fs::remove_file(world.at(name)).unwrap();
    }
    world.restore("1").await;
    for (name, bytes) in files {
        assert_eq!(fs::read(world.at(name)).unwrap(), bytes, "{name}");
    }
}

#[tokio::test]
async fn files_folders_and_links_change_places() {
    let world = World::new();
    world.write("a", "file");
    world.write("b/c", "in a folder");
    world.write("d/e/f", "deep");
    world.taken("one").await;
    let then = world.tree();
    fs::remove_file(world.at("a")).unwrap();
    world.write("a/x/y", "a folder now");
    fs::remove_dir_all(world.at("b")).unwrap();
    world.write("b", "a file now");
    let outside = world.dir.path().join("outside");
    fs::create_dir_all(outside.join("e")).unwrap();
    fs::write(outside.join("e/f"), "not ours").unwrap();
    fs::remove_dir_all(world.at("d")).unwrap();
    symlink(&outside, world.at("d")).unwrap();
    let now = world.tree();
    world.restore("1").await;
    assert_eq!(world.tree(), then);
    assert_eq!(fs::read_to_string(outside.join("e/f")).unwrap(), "not ours");
    world.restore("1").await;
    assert_eq!(world.tree(), now);
}

#[tokio::test]
async fn nested_repositories_are_plain_files() {
    let world = World::new();
    for (name, has_commit) in [("empty", false), ("full", true)] {
        world.write(format!("{name}/f"), "1");
        assert!(git(&world.at(name), &["init"]));
        if has_commit {
            assert!(git(&world.at(name), &["add", "f"]));
            assert!(git(&world.at(name), &["commit", "-m", "m"]));
        }
    }
    world.write("sub/.git", "gitdir: ../full/.git/modules/sub\n");
    world.write("sub/g", "1");
    world.taken("one").await;
    let then = world.tree();
    for name in ["empty/f", "full/f", "sub/g", "full/new"] {
        world.write(name, "2");
    }
    world.restore("1").await;
    assert_eq!(world.tree(), then);
}

#[tokio::test]
async fn a_rebase_goes_on_as_if_nothing_was() {
    let world = World::new();
    let p = world.project();
    assert!(git(&p, &["init"]));
    for (branch, text) in [("main", "base"), ("side", "side"), ("main", "main")] {
        if text != "base" {
            git(&p, &["checkout", "-B", branch, "main"]);
        }
        world.write("a", text);
        assert!(git(&p, &["add", "a"]) && git(&p, &["commit", "-m", text]));
    }
    assert!(git(&p, &["checkout", "side"]));
    git(&p, &["reset", "--hard", "main~1"]);
    world.write("a", "conflict");
    assert!(git(&p, &["commit", "-a", "-m", "conflict"]));
    assert!(!git(&p, &["rebase", "main"]), "the rebase has to stop");
    let then = world.tree();
    world.taken("one").await;
    assert_eq!(world.tree(), then, "nothing of the user's repository is touched");
    world.write("a", "broken");
    world.restore("1").await;
    assert_eq!(world.tree(), then);
    world.write("a", "resolved");
    assert!(git(&p, &["add", "a"]) && git(&p, &["rebase", "--continue"]));
}

#[tokio::test]
async fn ignored_files_are_never_touched() {
    let world = World::new();
    world.write(".gitignore", "*.secret\n/out/\n!kept.secret\n");
    world.write("kept.secret", "1");
    for name in ["a.secret", "out/x", "node_modules/m/x", ".env", "d/b.secret", "x.log"] {
        world.write(name, "1");
    }
    world.write("d/a", "1");
    world.taken("one").await;
    for name in ["a.secret", "out/x", "node_modules/m/x", ".env", "d/b.secret", "x.log"] {
        world.write(name, "2");
    }
    for name in ["new.secret", "new/c.secret", "new/d", "kept.secret"] {
        world.write(name, "2");
    }
    world.restore("1").await;
    for name in ["a.secret", "out/x", "node_modules/m/x", ".env", "d/b.secret", "new/c.secret"] {
        assert_eq!(world.read(name), "2", "{name}");
    }
    assert_eq!(world.read("kept.secret"), "1");
    assert!(!world.at("new/d").exists() && world.at("new.secret").exists());
}

#[tokio::test]
async fn a_file_in_the_way_that_no_snapshot_holds_is_not_destroyed() {
    let world = World::new();
    world.write("a", "1");
    world.write("b/c", "1");
    world.taken("one").await;
    fs::remove_file(world.at("a")).unwrap();
    fs::remove_dir_all(world.at("b")).unwrap();
    world.write(".gitignore", "a/\nb\n");
    world.write("a/x", "precious");
    world.write("b", "precious");
    let error = world.checkpoints.restore(&world.project(), "1", None).await.unwrap_err();
    assert!(error.to_string().contains("in the way"), "{error}");
    assert_eq!((&*world.read("a/x"), &*world.read("b")), ("precious", "precious"));
}

#[tokio::test]
async fn what_is_ignored_or_too_large_by_now_is_kept_before_it_is_overwritten() {
    let world = World::with(|config| config.max_file_size = Some(10));
    world.write("a", "1");
    world.write("big", "1");
    world.write("large", "larger than that");
    world.taken("one").await;
    world.write(".gitignore", "a\n");
    world.write("a", "2");
    world.write("big", "more than ten bytes");
    world.write("large", "changed, and too large");
    let now = world.tree();
    world.restore("1").await;
    assert_eq!((&*world.read("a"), &*world.read("big")), ("1", "1"));
    assert_eq!(world.read("large"), "changed, and too large");
    world.restore("1").await;
    assert_eq!(world.tree(), now);
}

#[tokio::test]
async fn unreadable_files_don_t_stop_a_snapshot() {
    let world = World::new();
    world.write("a", "1");
    world.write("locked", "1");
    world.write("closed/b", "1");
    for name in ["locked", "closed"] {
        fs::set_permissions(world.at(name), Permissions::from_mode(0o000)).unwrap();
    }
    world.taken("one").await;
    fs::set_permissions(world.at("closed"), Permissions::from_mode(0o755)).unwrap();
    world.write("a", "2");
    world.restore("1").await;
    assert_eq!(world.read("a"), "1");
}

#[tokio::test]
async fn empty_folders_and_pipes_do_no_harm() {
    let world = World::new();
    fs::create_dir_all(world.at("empty/inner")).unwrap();
    world.write("a", "1");
    world.taken("one").await;
    world.write("a", "2");
    world.restore("1").await;
    assert!(world.at("empty/inner").is_dir());
}

#[tokio::test]
async fn ten_thousand_files() {
    let world = World::new();
    for i in 0..10_000 {
        world.write(format!("d{}/f{i}", i % 100), i.to_string());
    }
    world.taken("one").await;
    for i in 0..5_000 {
        fs::remove_file(world.at(format!("d{}/f{i}", i % 100))).unwrap();
    }
    world.restore("1").await;
    for i in 0..10_000 {
        assert_eq!(world.read(&format!("d{}/f{i}", i % 100)), i.to_string());
    }
}

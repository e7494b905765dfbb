//! Whole plans.

use super::*;
use crate::backend::FileBackend;
use crate::local::LocalFs;
use crate::plan::Old;
use crate::stat::Stat;
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;
use std::fs;

/// All files below a folder with their contents.
fn contents(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), String::new());
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), fs::read_to_string(path).unwrap());
        }
    }
    found
}

fn stat(path: &Path) -> Stat {
    Stat::of(&fs::metadata(path).unwrap())
}

#[test]
fn what_was_done_is_taken_back_when_a_later_step_fails() {
    let other = tempfile::tempdir().unwrap();
    let staging = other.path().join("staging");
    fail_and_succeed(&LocalFs::default());
    fail_and_succeed(&LocalFs::default().with_staging(staging.clone()));
    assert_eq!(fs::read_dir(&staging).unwrap().count(), 0);
}

fn fail_and_succeed(local: &LocalFs) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["gone", "from", "x", "y", "text", "taken", "linked"] {
        fs::write(root.join(name), name).unwrap();
    }
    fs::hard_link(root.join("linked"), root.join("other")).unwrap();
    let before = contents(&root);
    let write = |name: &str, bytes: &str, is_there: bool| {
        let path = root.join(name);
        let old =
            is_there.then(|| Old { stat: stat(&path), bytes: Some(fs::read(&path).unwrap()) });
        let like = old.as_ref().map(|old| (path.clone(), old.stat.clone()));
        Write { path, old, like, bytes: bytes.as_bytes().to_vec() }
    };
    let pair = |from: &str, to: &str| {
        let from = root.join(from);
        Move { to: root.join(to), old: Some(stat(&from)), from }
    };
    let gone = root.join("gone");
    let mut plan = Plan {
        removals: vec![Removal { old: Some(stat(&gone)), path: gone }],
        moves: vec![pair("from", "d/e/to"), pair("x", "y"), pair("y", "x")],
        writes: vec![
            write("text", "new", true),
            write("linked", "new", true),
            write("d/new", "new", false),
            write("taken", "new", false),
        ],
    };
    let names = ["gone", "from", "x", "y", "text", "taken", "linked", "d/e/to", "d/new"];
    let paths = || names.iter().map(|name| root.join(name)).collect();
    let mut held = local.hold(paths(), &|| true).unwrap();
    let err = held.commit(&plan).unwrap_err();
    assert!(matches!(err.cause, FsError::Changed(_)), "{err:?}");
    assert_eq!(err.left, []);
    assert_eq!(contents(&root), before);

    drop(held);
    plan.writes = vec![write("text", "new", true), write("d/new", "new", false)];
    let mut held = local.hold(paths(), &|| true).unwrap();
    assert!(held.commit(&plan).unwrap().created_folders);
    let after = contents(&root);
    let get = |name: &str| after.get(&root.join(name)).map(String::as_str);
    assert_eq!((get("x"), get("y"), get("text")), (Some("y"), Some("x"), Some("new")));
    assert_eq!((get("gone"), get("from"), get("d/e/to")), (None, None, Some("from")));
    assert_eq!(after.len(), before.len() + 2);
}

#[cfg(target_os = "linux")]
#[test]
fn removals_and_moves_stay_in_the_folders_that_were_checked() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in ["own", "foreign"] {
        fs::create_dir(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("f"), folder).unwrap();
    }
    let (file, other) = (root.join("own/f"), root.join("own/other"));
    let old = Some(stat(&file));
    fs::rename(root.join("own"), root.join("away")).unwrap();
    symlink("foreign", root.join("own")).unwrap();
    let before = contents(&root);
    let local = LocalFs::default();
    let removal = Removal { path: file.clone(), old: None };
    let moved = |old| Move { from: file.clone(), to: other.clone(), old };
    for plan in [
        Plan { removals: vec![removal], ..Plan::default() },
        Plan { moves: vec![moved(None)], ..Plan::default() },
        Plan { moves: vec![moved(old)], ..Plan::default() },
    ] {
        let paths = [file.clone(), other.clone()].into();
        let err = local.hold(paths, &|| true).unwrap().commit(&plan).unwrap_err();
        assert_eq!(err.left, [], "{err:?}");
        assert_eq!(contents(&root), before);
    }
}

#[test]
fn what_changed_since_it_was_looked_at_is_neither_removed_nor_moved() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (file, other) = (root.join("f"), root.join("other"));
    fs::write(&file, "old").unwrap();
    let old = Some(stat(&file));
    fs::write(&file, "newer").unwrap();
    let local = LocalFs::default();
    let removals = vec![Removal { path: file.clone(), old: old.clone() }];
    let moves = vec![Move { from: file.clone(), to: other.clone(), old }];
    for plan in [Plan { removals, ..Plan::default() }, Plan { moves, ..Plan::default() }] {
        let mut held = local.hold([file.clone(), other.clone()].into(), &|| true).unwrap();
        let err = held.commit(&plan).unwrap_err();
        assert!(matches!(err.cause, FsError::Changed(_)), "{err:?}");
        assert_eq!(fs::read(&file).unwrap(), b"newer");
    }
}

#[cfg(unix)]
#[test]
fn a_file_with_two_names_keeps_both() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (a, b, staging) = (root.join("a"), root.join("b"), root.join("staging"));
    fs::write(&a, "a long old text").unwrap();
    fs::hard_link(&a, &b).unwrap();
    for local in [LocalFs::default(), LocalFs::default().with_staging(staging.clone())] {
        for text in ["new", "and a longer one again"] {
            let stat = stat(&a);
            let old = Some(Old { stat: stat.clone(), bytes: None });
            let like = Some((a.clone(), stat));
            let write = Write { path: a.clone(), old, like, bytes: text.into() };
            let plan = Plan { writes: vec![write], ..Plan::default() };
            local.hold([a.clone()].into(), &|| true).unwrap().commit(&plan).unwrap();
            assert_eq!(fs::read_to_string(&b).unwrap(), text);
        }
    }
    assert_eq!(fs::read_dir(staging).unwrap().count(), 0);
}

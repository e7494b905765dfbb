//! Plans.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_fs::{
    Closed, CommitError, Committed, FileBackend, FsError, Move, Old, Plan, RemoteFs, Removal, Write,
};
use pretty_assertions::assert_eq;

use crate::World;
use crate::looking::ODD_NAMES;
use crate::shell::ProcessShell;

const GO: &(dyn Fn() -> bool + Sync) = &|| true;

fn old(fs: &RemoteFs, path: &Path) -> Old {
    let opened = fs.open(path, GO).unwrap();
    let mut bytes = Vec::new();
    opened.content.unwrap().read_to_end(&mut bytes).unwrap();
    Old { stat: opened.stat, bytes: Some(bytes) }
}

fn write(fs: &RemoteFs, path: PathBuf, bytes: &[u8]) -> Write {
    let old = path.exists().then(|| old(fs, &path));
    let like = old.as_ref().map(|old| (path.clone(), old.stat.clone()));
    Write { path, old, like, bytes: bytes.to_vec() }
}

fn commit(fs: &RemoteFs, plan: &Plan) -> Result<Committed, CommitError> {
    let paths = plan.writes.iter().map(|write| write.path.clone());
    let mut held = fs.hold(paths.collect(), GO).unwrap();
    held.commit(plan)
}

fn writes(writes: Vec<Write>) -> Plan {
    Plan { writes, ..Plan::default() }
}

/// All files below a folder with their contents.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

#[test]
fn files_of_any_name_and_content_are_written() {
    let world = World::new();
    world.each(|fs, root| {
        let all: Vec<u8> = (0..=255_u8).cycle().take(300_000).collect();
        for name in ODD_NAMES {
            let path = root.join(OsStr::from_bytes(name));
            for bytes in [&b""[..], b"x", &all] {
                commit(fs, &writes(vec![write(fs, path.clone(), bytes)])).unwrap();
                assert!(fs::read(&path).unwrap() == bytes, "{path:?}");
            }
        }
        let plan = writes(
            ODD_NAMES
                .iter()
                .map(|name| write(fs, root.join(OsStr::from_bytes(name)), name))
                .collect(),
        );
        commit(fs, &plan).unwrap();
        for name in ODD_NAMES {
            assert_eq!(fs::read(root.join(OsStr::from_bytes(name))).unwrap(), name);
        }
        assert_eq!(fs::read_dir(root).unwrap().count(), ODD_NAMES.len());
    });
}

#[test]
fn mode_and_owner_are_kept_and_new_files_are_as_usual() {
    let world = World::new();
    world.each(|fs, root| {
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        let (path, plain) = (root.join("n/e/w"), root.join("plain"));
        let done = commit(fs, &writes(vec![write(fs, path.clone(), b"1")])).unwrap();
        assert!(done.created_folders && done.warnings.is_empty());
        fs::write(&plain, "").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).unwrap();
        let is_foreign = std::os::unix::fs::chown(&path, Some(12_345), Some(54_321)).is_ok();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        let done = commit(fs, &writes(vec![write(fs, path.clone(), b"2")])).unwrap();
        assert!(!done.created_folders);
        let now = fs::metadata(&path).unwrap();
        assert_eq!((now.mode() & 0o7777, fs::read(&path).unwrap()), (0o4751, b"2".to_vec()));
        assert_ne!(now.ino(), inode);
        if is_foreign {
            assert_eq!((now.uid(), now.gid()), (12_345, 54_321));
        }
    });
}

#[test]
fn a_file_with_two_names_keeps_both() {
    let world = World::new();
    world.each(|fs, root| {
        let (a, b) = (root.join("a"), root.join("b"));
        fs::write(&a, "a long old text").unwrap();
        fs::hard_link(&a, &b).unwrap();
        commit(fs, &writes(vec![write(fs, a, b"new")])).unwrap();
        assert_eq!(fs::read(&b).unwrap(), b"new");
        assert_eq!(fs::read_dir(root).unwrap().count(), 2);
    });
}

#[test]
fn what_changed_since_it_was_read_is_not_written_over() {
    let world = World::new();
    world.each(|fs, root| {
        let path = root.join("f");
        fs::write(&path, "read").unwrap();
        let plan = writes(vec![write(fs, path.clone(), b"mine")]);
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        // Not even when length and time say nothing.
        fs::write(&path, "else").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let err = commit(fs, &plan).unwrap_err();
        assert!(matches!(&err.cause, FsError::Changed(it) if *it == path), "{err:?}");
        let plan = writes(vec![Write { path: path.clone(), old: None, like: None, bytes: vec![] }]);
        let err = commit(fs, &plan).unwrap_err();
        assert!(matches!(err.cause, FsError::Changed(_)), "{err:?}");
        assert_eq!(fs::read(&path).unwrap(), b"else");
        assert_eq!(fs::read_dir(root).unwrap().count(), 1);
    });
}

#[test]
fn failures_name_the_reason_and_leave_nothing() {
    let world = World::new();
    world.each(|fs, root| {
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("f"), "").unwrap();
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        let before = contents(root);
        for (path, expected) in
            [("f/x", "io"), ("d", "changed"), ("link/x", "denied"), ("link/n/x", "denied")]
        {
            let path = root.join(path);
            let plan = writes(vec![Write { path, old: None, like: None, bytes: b"x".to_vec() }]);
            let err = commit(fs, &plan).unwrap_err();
            let kind = match &err.cause {
                FsError::Changed(_) => "changed",
                FsError::Io { source, .. }
                    if source.kind() == std::io::ErrorKind::PermissionDenied =>
                {
                    "denied"
                }
                FsError::Io { .. } => "io",
                _ => "other",
            };
            assert_eq!(kind, expected, "{err:?}");
            assert_eq!(contents(root), before);
        }
    });
}

#[test]
fn what_was_done_is_taken_back_when_a_later_step_fails() {
    let world = World::new();
    world.each(|fs, root| {
        for name in ["gone", "from", "x", "y", "text", "taken", "linked"] {
            fs::write(root.join(name), name).unwrap();
        }
        fs::hard_link(root.join("linked"), root.join("other")).unwrap();
        let before = contents(root);
        let moved = |from: &str, to: &str| {
            let from = root.join(from);
            let old = Some(fs.stat(&from, GO).unwrap());
            Move { from, to: root.join(to), old }
        };
        let new = |name: &str| Write {
            path: root.join(name),
            old: None,
            like: None,
            bytes: b"new".to_vec(),
        };
        let gone = root.join("gone");
        let mut plan = Plan {
            removals: vec![Removal { old: Some(fs.stat(&gone, GO).unwrap()), path: gone }],
            moves: vec![moved("from", "d/e/to"), moved("x", "y"), moved("y", "x")],
            writes: vec![
                write(fs, root.join("text"), b"new"),
                write(fs, root.join("linked"), b"new"),
                new("d/new"),
                new("taken"),
            ],
        };
        let err = commit(fs, &plan).unwrap_err();
        assert!(matches!(err.cause, FsError::Changed(_)), "{err:?}");
        assert_eq!(err.left, []);
        assert_eq!(contents(root), before);

        plan.writes = vec![write(fs, root.join("text"), b"new"), new("d/new")];
        assert!(commit(fs, &plan).unwrap().created_folders);
        let after = contents(root);
        let get = |name: &str| {
            after.get(&root.join(name)).map(|it| String::from_utf8_lossy(it).into_owned())
        };
        assert_eq!(
            (get("x").unwrap(), get("y").unwrap(), get("text").unwrap()),
            ("y".into(), "x".into(), "new".into())
        );
        assert_eq!((get("gone"), get("from"), get("d/e/to").unwrap()), (None, None, "from".into()));
        assert_eq!(after.len(), before.len() + 2);

        let exists = Plan { moves: vec![moved("x", "y")], ..Plan::default() };
        let err = commit(fs, &exists).unwrap_err();
        assert!(matches!(err.cause, FsError::Exists(_)), "{err:?}");
    });
}

#[test]
fn too_many_files_are_refused_before_anything_is_done() {
    let world = World::new();
    world.each(|fs, root| {
        let new = |number: usize| Write {
            path: root.join(format!("{number}{}", "x".repeat(200))),
            old: None,
            like: None,
            bytes: vec![],
        };
        let err = commit(fs, &writes((0..400).map(new).collect())).unwrap_err();
        assert!(matches!(err.cause, FsError::Unsupported(_)), "{err:?}");
        commit(fs, &writes((0..60).map(new).collect())).unwrap();
        assert_eq!(fs::read_dir(root).unwrap().count(), 60);
    });
}

/// Files and folders with permissions that don't allow everything. Root may do everything, so this
/// is another user; and only root can be that.
#[test]
fn what_permissions_leave_is_done() {
    const NOBODY: u32 = 65_534;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let own = |path: &Path, user: u32, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        std::os::unix::fs::chown(path, Some(user), Some(user)).is_ok()
    };
    fs::create_dir(root.join("closed")).unwrap();
    for path in ["closed/f", "foreign", "unwritable", "unreadable"] {
        fs::write(root.join(path), "old").unwrap();
    }
    if !own(&root.join("foreign"), 12_345, 0o666) || !own(&root, NOBODY, 0o755) {
        println!("this isn't root: it is left out");
        return;
    }
    for (path, mode) in
        [("closed/f", 0o644), ("closed", 0o555), ("unwritable", 0o444), ("unreadable", 0o200)]
    {
        own(&root.join(path), NOBODY, mode);
    }
    let shell = ProcessShell::new("/bin/sh", "/usr/bin:/bin", &root).by_user(NOBODY);
    let fs = RemoteFs::new(Arc::new(shell));

    let folder = commit(&fs, &writes(vec![write(&fs, root.join("closed/f"), b"new one")])).unwrap();
    assert!(folder.warnings[0].contains("the folder can't be written to"), "{folder:?}");
    let owner = commit(&fs, &writes(vec![write(&fs, root.join("foreign"), b"new")])).unwrap();
    assert!(owner.warnings[0].contains("another user"), "{owner:?}");
    for path in ["closed/f", "foreign"] {
        assert!(fs::read(root.join(path)).unwrap().starts_with(b"new"), "{path}");
    }
    assert_eq!(fs::metadata(root.join("foreign")).unwrap().uid(), 12_345);

    let closed = |path: &str| fs.stat(&root.join(path), GO).unwrap().closed;
    assert_eq!(closed("unwritable"), Some(Closed::Permissions));
    assert_eq!(closed("unreadable"), None);
    let err = fs.open(&root.join("unreadable"), GO).err().unwrap();
    assert_eq!(err.kind(), std::io::ErrorKind::PermissionDenied);
    // What can't be read may be replaced.
    let path = root.join("unreadable");
    let stat = fs.stat(&path, GO).unwrap();
    let old = Some(Old { stat: stat.clone(), bytes: None });
    let like = Some((path.clone(), stat));
    let blind = Write { path: path.clone(), old, like, bytes: b"new".to_vec() };
    commit(&fs, &writes(vec![blind])).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");

    let new = Write { path: root.join("closed/new"), old: None, like: None, bytes: vec![] };
    let err = commit(&fs, &writes(vec![new])).unwrap_err();
    assert!(
        matches!(&err.cause, FsError::Io { source, .. }
        if source.kind() == std::io::ErrorKind::PermissionDenied),
        "{err:?}"
    );
    let removal = Removal { path: root.join("closed/f"), old: None };
    let err = commit(&fs, &Plan { removals: vec![removal], ..Plan::default() }).unwrap_err();
    assert!(matches!(err.cause, FsError::Io { verb: "remove", .. }), "{err:?}");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 4);
    assert_eq!(fs::read_dir(root.join("closed")).unwrap().count(), 1);
}

//! Links, facts, contents and folders.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use hermes_fs::{FileBackend, Kind, LocalFs, Stat};
use hermes_guard::paths::links::follow;
use pretty_assertions::assert_eq;

use crate::World;

const GO: &(dyn Fn() -> bool + Sync) = &|| true;

/// Names that are hard on a shell.
pub(crate) const ODD_NAMES: [&[u8]; 12] = [
    b"a b",
    b"it's",
    b"\"q\"",
    b"-rf",
    b"$HOME",
    b"new\nline\n",
    b"tab\t",
    b"\xFF\xFE",
    b"back\\slash",
    b"*",
    b"`id`",
    "ä".as_bytes(),
];

#[test]
fn links_are_followed_there_in_one_journey() {
    let world = World::new();
    for (name, fs, shell) in &world.systems {
        let root = world.root.join(name);
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (target, link) in [
            ("a/b", "l"),
            ("missing/file", "dangling"),
            ("loop", "loop"),
            ("../l", "a/up"),
            ("new\nline\n", "odd"),
            ("/", "top"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        for path in [
            "l/x",
            "l/../x",
            "./a//b/.",
            "dangling",
            "no/../such",
            "a/up/x",
            "odd/x",
            "loop",
            "top/x",
        ] {
            let path = root.join(path);
            let (mut there, mut here) = (None, None);
            let before = shell.runs();
            fs.with_links(GO, &mut |read_link| there = Some(follow(&path, read_link))).unwrap();
            // What lies above a link's target is asked for when the target is known.
            let journeys = if path.ends_with("l/../x") { 2 } else { 1 };
            assert_eq!(shell.runs() - before, journeys, "{path:?}");
            LocalFs::default()
                .with_links(GO, &mut |read_link| here = Some(follow(&path, read_link)))
                .unwrap();
            assert_eq!(there.unwrap().ok(), here.unwrap().ok(), "{name} {path:?}");
        }
    }
}

#[test]
fn facts_are_those_of_the_host() {
    let world = World::new();
    world.each(|fs, root| {
        for (number, name) in ODD_NAMES.iter().enumerate() {
            let path = root.join(OsStr::from_bytes(name));
            fs::write(&path, name.repeat(number + 1)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
            let there = fs.stat(&path, GO).unwrap();
            let here = LocalFs::default().stat(&path, GO).unwrap();
            let facts = |it: &Stat| (it.kind, it.stamp(), it.mode, it.links, it.uid, it.gid);
            assert_eq!(facts(&there), facts(&here), "{path:?}");
        }
        assert_eq!(fs.stat(root, GO).unwrap().kind, Kind::Folder);
        assert_eq!(fs.stat(Path::new("/dev/null"), GO).unwrap().kind, Kind::Other);
        let kind = |path: &str| fs.stat(&root.join(path), GO).unwrap_err().kind();
        assert_eq!(kind("missing"), ErrorKind::NotFound);
        assert_eq!(kind("a b/x"), ErrorKind::NotADirectory);
    });
}

#[test]
fn contents_come_whole_and_in_pieces() {
    let world = World::new();
    world.each(|fs, root| {
        let all: Vec<u8> = (0..=255_u8).cycle().take(2_500_001).collect();
        for (name, bytes) in
            [(&b"big"[..], all.as_slice()), (b"empty", b""), (b"\xFF\n", b"\0\r\n")]
        {
            let path = root.join(OsStr::from_bytes(name));
            fs::write(&path, bytes).unwrap();
            let opened = fs.open(&path, GO).unwrap();
            let (mut content, mut found) = (opened.content.unwrap(), Vec::new());
            content.read_to_end(&mut found).unwrap();
            assert!(found == bytes, "{path:?}");
            content.rewind().unwrap();
            let mut start = [0; 2];
            assert_eq!(content.read(&mut start).unwrap(), bytes.len().min(2));
            for at in [1_048_575_u64, 2_400_000, 2_500_001, 9_999_999] {
                content.seek(SeekFrom::Start(at)).unwrap();
                let mut rest = Vec::new();
                content.read_to_end(&mut rest).unwrap();
                assert!(rest == bytes.get(at as usize..).unwrap_or_default(), "{at}");
            }
        }
        assert!(fs.open(root, GO).unwrap().content.is_none());
        assert!(fs.open(Path::new("/dev/null"), GO).unwrap().content.is_none());
        let file = fs.open(Path::new("/proc/version"), GO).unwrap();
        let mut status = String::new();
        file.content.unwrap().read_to_string(&mut status).unwrap();
        assert!(status.contains("Linux"));
        assert_eq!(fs.open(&root.join("missing"), GO).err().unwrap().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let world = World::new();
    world.each(|fs, root| {
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("d/f"), "x").unwrap();
        symlink("d", root.join("folder")).unwrap();
        symlink("d/f", root.join("file")).unwrap();
        for path in ["folder/f", "file"] {
            let err = fs.open(&root.join(path), GO).err().unwrap();
            assert_eq!(err.kind(), ErrorKind::PermissionDenied, "{path}: {err}");
        }
        assert!(fs.open(&root.join("d/f"), GO).is_ok());
    });
}

#[test]
fn folders_are_listed_with_names_of_any_bytes() {
    let world = World::new();
    world.each(|fs, root| {
        let folder = root.join("d");
        fs::create_dir(&folder).unwrap();
        for name in ODD_NAMES {
            fs::create_dir(folder.join(OsStr::from_bytes(name))).unwrap();
        }
        for name in [".hidden", "..two", "plain"] {
            fs::write(folder.join(name), "").unwrap();
        }
        symlink("it's", folder.join("link")).unwrap();
        let empty = folder.join("*");
        let paths = [&folder, &empty, &folder.join("plain"), &root.join("missing")];
        let paths = paths.map(PathBuf::as_path);
        let sorted = |fs: &dyn FileBackend| {
            let mut lists = fs.list(&paths, 100, GO).unwrap();
            lists.iter_mut().flatten().for_each(|list| list.sort_by(|a, b| a.name.cmp(&b.name)));
            lists
        };
        assert_eq!(sorted(fs), sorted(&LocalFs::default()));
    });
}

#[test]
fn first_bytes_of_many_files_and_homes() {
    let world = World::new();
    for (_, fs, shell) in &world.systems {
        let root = fs.home(None, GO).unwrap().unwrap();
        fs::write(root.join("a"), "0123456789").unwrap();
        let (a, missing) = (root.join("a"), root.join("missing"));
        let heads = fs.heads(&[&a, &missing, &root], 4, GO).unwrap();
        assert_eq!(heads, [Some(b"0123".to_vec()), None, None]);
        let before = shell.runs();
        assert_eq!(fs.home(None, GO).unwrap().as_ref(), Some(&root));
        assert_eq!(shell.runs(), before);
        assert_eq!(fs.home(Some("root"), GO).unwrap(), Some("/root".into()));
        assert_eq!(fs.home(Some("nobody-of-that-name"), GO).unwrap(), None);
        assert_eq!(fs.home(Some("$(id)"), GO).unwrap(), None);
    }
}

#[test]
fn a_call_that_ended_asks_nothing_more() {
    let world = World::new();
    world.each(|fs, root| {
        let err = fs.stat(root, &|| false).unwrap_err();
        assert!(err.to_string().contains("interrupted"), "{err}");
    });
}

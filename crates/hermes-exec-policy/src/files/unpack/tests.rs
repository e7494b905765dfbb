//! Sending files and bringing them back.

use std::time::Instant;

use pretty_assertions::assert_eq;
use tar::{Builder, Header};

use super::super::{FileKind, Sources, SyncFile, pack};
use super::preface::MAX_PREFACE;
use super::*;

const BASE: &str = "/r/.hermes";

/// A home whose files the other side has.
struct Scene {
    _dir: tempfile::TempDir,
    home: PathBuf,
    files: Vec<SyncFile>,
    state: SyncState,
    sent: Vec<u8>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("home");
        for file in ["skills/a.md", "skills/b.md", "cache/images/x.png", "token.json"] {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, file.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
        let credentials = vec!["token.json".to_owned()];
        let sources = Sources { home: home.clone(), credentials, ..Sources::default() };
        let listing = sources.listing(BASE, &mut Vec::new());
        let mut state = SyncState::default();
        let mut plan = state.plan(&listing);
        let sent = pack(&mut plan, BASE, Vec::new()).unwrap();
        state.commit(plan, Instant::now());
        Self { _dir: dir, home, files: listing.files, state, sent }
    }

    fn unpack(&self, archive: &[u8]) -> Result<SyncBack, UnpackError> {
        let map = SyncMap::of(BASE, &self.state, &self.files);
        let found = unpack(archive, &map, &self.state, &self.home);
        let litter = fs::read_dir(&self.home).unwrap().filter_map(Result::ok);
        let mut litter = litter.map(|entry| entry.file_name().into_string().unwrap());
        assert!(!litter.any(|name| name.starts_with(".sync-")));
        found
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.home.join(path)).ok()
    }
}

fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, kind, text) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(0o755);
        // As it is, since the library refuses to write bad paths.
        let bytes = name.as_bytes();
        header.as_old_mut().name[..bytes.len()].copy_from_slice(bytes);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_size(0);
            header.as_old_mut().linkname[..text.len()].copy_from_slice(text.as_bytes());
            header.set_cksum();
            builder.append(&header, io::empty()).unwrap();
        } else {
            header.set_size(text.len() as u64);
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
    }
    builder.into_inner().unwrap()
}

const FILE: EntryType = EntryType::Regular;

#[test]
fn what_is_sent_is_relative_and_credentials_are_private() {
    let scene = Scene::new();
    let mut sent = Archive::new(&*scene.sent);
    let entries: Vec<_> = sent
        .entries()
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            (path, entry.header().mode().unwrap())
        })
        .collect();
    let entries: Vec<_> = entries.iter().map(|(path, mode)| (&**path, *mode)).collect();
    assert_eq!(
        entries,
        [
            ("cache/images/x.png", 0o644),
            ("skills/a.md", 0o644),
            ("skills/b.md", 0o644),
            ("token.json", 0o600),
        ]
    );
}

#[test]
fn changes_come_back_and_nothing_else() {
    let scene = Scene::new();
    let long = format!("r/.hermes/skills/{}/n.md", "deep/".repeat(40).trim_end_matches('/'));
    let mut tar = Builder::new(archive(&[]));
    tar.get_mut().clear();
    let mut put = |name: &str, text: &str| {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    };
    put("r/.hermes/skills/a.md", "changed");
    put("r/.hermes/skills/b.md", "b.md");
    put("r/.hermes/token.json", "stolen");
    put("r/.hermes/new.txt", "new");
    put("r/.hermes/skills/run.sh", "new");
    put(&long, "long");
    let back = scene.unpack(&tar.into_inner().unwrap()).unwrap();
    assert_eq!((back.written.len(), back.unchanged, back.conflicts.len()), (3, 1, 0));
    assert_eq!(back.refused, ["r/.hermes/token.json", "r/.hermes/new.txt"]);
    assert_eq!(scene.text("skills/a.md").unwrap(), "changed");
    assert_eq!(scene.text("token.json").unwrap(), "token.json");
    assert_eq!(scene.text("skills/run.sh").unwrap(), "new");
    assert_eq!(scene.text(long.strip_prefix("r/.hermes/").unwrap()).unwrap(), "long");
}

#[test]
fn both_versions_of_a_conflict_are_kept() {
    let scene = Scene::new();
    fs::write(scene.home.join("skills/a.md"), "ours").unwrap();
    fs::write(scene.home.join("skills/b.md"), "ours").unwrap();
    fs::write(scene.home.join("skills/c.md"), "ours").unwrap();
    let back = scene
        .unpack(&archive(&[
            ("r/.hermes/skills/a.md", FILE, "theirs"),
            ("r/.hermes/skills/b.md", FILE, "b.md"),
            ("r/.hermes/skills/c.md", FILE, "ours"),
        ]))
        .unwrap();
    assert_eq!((back.conflicts.len(), back.unchanged), (1, 2));
    assert_eq!(scene.text("skills/a.md").unwrap(), "theirs");
    assert_eq!(fs::read_to_string(&back.conflicts[0].kept).unwrap(), "ours");
    assert_eq!(scene.text("skills/b.md").unwrap(), "ours");
}

#[test]
fn hostile_entries_are_left_out() {
    let scene = Scene::new();
    let entries = [
        ("r/.hermes/skills/../../../evil", FILE, "x"),
        ("/r/.hermes/skills/abs.md", FILE, "x"),
        ("../r/.hermes/skills/up.md", FILE, "x"),
        ("r/.hermes/skills/link", EntryType::Symlink, "/etc/passwd"),
        ("r/.hermes/skills/hard", EntryType::Link, "r/.hermes/token.json"),
        ("r/.hermes/skills/device", EntryType::Char, ""),
        ("r/.hermes/skills/fifo", EntryType::Fifo, ""),
        ("r/.hermes/skills/.hub/lock.json", FILE, "x"),
        ("r/.hermes/skills/.env", FILE, "x"),
        ("r/.hermes/skills//x.md", FILE, "x"),
        ("etc/passwd", FILE, "x"),
    ];
    let back = scene.unpack(&archive(&entries)).unwrap();
    assert_eq!((back.written.len(), back.refused.len()), (0, entries.len()), "{back:?}");
}

#[cfg(unix)]
#[test]
fn links_of_the_host_lead_nowhere() {
    let scene = Scene::new();
    let outside = scene.home.join("../outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, scene.home.join("skills/out")).unwrap();
    fs::remove_file(scene.home.join("skills/a.md")).unwrap();
    std::os::unix::fs::symlink("../token.json", scene.home.join("skills/a.md")).unwrap();
    let entries =
        [("r/.hermes/skills/out/x", FILE, "x"), ("r/.hermes/skills/a.md", FILE, "stolen")];
    let back = scene.unpack(&archive(&entries)).unwrap();
    assert_eq!((back.written.len(), back.refused.len()), (0, 2));
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    assert_eq!(scene.text("token.json").unwrap(), "token.json");
}

#[test]
fn what_is_broken_or_too_large_changes_nothing() {
    let scene = Scene::new();
    let whole = archive(&[
        ("r/.hermes/skills/a.md", FILE, "changed"),
        ("r/.hermes/skills/b.md", FILE, &"x".repeat(600)),
    ]);
    let error = scene.unpack(&whole[..1700]).unwrap_err();
    assert!(matches!(error, UnpackError::Archive(_)), "{error}");

    let name = "n".repeat(MAX_PREFACE as usize + 1);
    let long = archive(&[("x", EntryType::GNULongName, &name)]);
    assert!(matches!(scene.unpack(&long).unwrap_err(), UnpackError::Archive(_)));

    // The zeros of a huge file that is of no interest are still counted.
    let mut header = Header::new_gnu();
    header.set_path("r/.hermes/other").unwrap();
    header.set_size(MAX_ARCHIVE * 2);
    header.set_cksum();
    let map = SyncMap::of(BASE, &scene.state, &scene.files);
    let endless = header.as_bytes().as_slice().chain(io::repeat(0));
    let error = unpack(endless, &map, &scene.state, &scene.home).unwrap_err();
    assert!(matches!(error, UnpackError::TooLarge), "{error}");
    assert_eq!(scene.text("skills/a.md").unwrap(), "a.md");
}

#[test]
fn a_file_that_changes_while_it_is_sent_is_no_success() {
    let dir = tempfile::tempdir().unwrap();
    let host = dir.path().join("gone");
    fs::write(&host, "x").unwrap();
    let file =
        SyncFile { remote: format!("{BASE}/gone"), host: host.clone(), kind: FileKind::Cache };
    let elsewhere = SyncFile { remote: "/etc/passwd".into(), ..file.clone() };
    let plan = |file: SyncFile| {
        let listing = super::super::Listing { files: vec![file], is_partial: false };
        SyncState::default().plan(&listing)
    };
    let mut outside = plan(elsewhere);
    assert!(pack(&mut outside, BASE, Vec::new()).is_err());
    let mut gone = plan(file);
    fs::remove_file(host).unwrap();
    assert!(pack(&mut gone, BASE, Vec::new()).is_err());
}

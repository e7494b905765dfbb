//! Snapshots of real folders with the real git.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests; clippy knows only the functions marked so"
)]

mod files;
mod keeping;
mod processes;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{CheckpointConfig, Checkpoints, Outcome, Skipped};

/// A project and a store of its own.
struct World {
    dir: TempDir,
    checkpoints: Checkpoints,
}

impl World {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut CheckpointConfig)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("p")).unwrap();
        let mut config = CheckpointConfig::new(dir.path().join("checkpoints"));
        change(&mut config);
        Self { checkpoints: Checkpoints::new(config), dir }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("p")
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("checkpoints/store")
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.project().join(path)
    }

    fn write(&self, path: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) {
        let path = self.at(Path::new(path.as_ref()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    async fn take(&self, reason: &str) -> Outcome {
        self.checkpoints.checkpoint(&self.project(), reason, None).await.unwrap()
    }

    /// Takes one that must be new, and gives its hash.
    async fn taken(&self, reason: &str) -> String {
        match self.take(reason).await {
            Outcome::Taken(hash) => hash,
            skipped => panic!("{skipped:?}"),
        }
    }

    async fn restore(&self, name: &str) {
        self.checkpoints.restore(&self.project(), name, None).await.unwrap();
    }

    async fn reasons(&self) -> Vec<String> {
        let entries = self.checkpoints.list(&self.project()).await.unwrap();
        entries.into_iter().map(|entry| entry.reason).collect()
    }

    /// Everything in the project, folders too.
    fn tree(&self) -> BTreeMap<PathBuf, String> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![self.project()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let shown = if meta.is_dir() {
                    folders.push(path.clone());
                    "/".to_owned()
                } else if meta.is_symlink() {
                    format!("-> {}", fs::read_link(&path).unwrap().display())
                } else {
                    let bytes = fs::read(&path).unwrap().escape_ascii().to_string();
                    format!("{} {bytes}", is_executable(&meta))
                };
                found.insert(path, shown);
            }
        }
        found
    }
}

fn is_executable(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0
}

/// Git as a user runs it.
fn git(folder: &Path, args: &[&str]) -> bool {
    #[expect(clippy::disallowed_methods, reason = "the tests are the user here")]
    let mut command = std::process::Command::new("git");
    command
        .current_dir(folder)
        .args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_EDITOR", "true")
        .output()
        .unwrap()
        .status
        .success()
}

#[tokio::test]
async fn there_and_back_and_there_again() {
    let world = World::new();
    world.write("a", "1\n");
    world.write("d/b", "1\n");
    world.taken("one").await;
    let then = world.tree();
    world.write("a", "2\n");
    world.write("new/deep/c", "n\n");
    fs::remove_dir_all(world.at("d")).unwrap();
    let now = world.tree();
    let restored = world.checkpoints.restore(&world.project(), "1", None).await.unwrap();
    assert_eq!(world.tree(), then);
    assert_eq!((restored.files_written, restored.files_removed), (2, 1));
    assert_eq!((&*restored.reason, restored.restored_to.len()), ("one", 8));
    // The state before is the newest snapshot now.
    world.restore("1").await;
    assert_eq!(world.tree(), now);
    let entries = world.checkpoints.list(&world.project()).await.unwrap();
    let [last, first, .., oldest] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((entries.len(), &*oldest.reason), (3, "one"));
    assert!(last.reason.starts_with("before rollback to "), "{last:?}");
    assert_eq!((first.files_changed, first.insertions, first.deletions), (3, 2, 2));
    assert_eq!(last.hash.get(..8), Some(&*last.short_hash));
}

#[tokio::test]
async fn one_for_each_turn_and_folder() {
    let world = World::new();
    let take = async |folder: &Path, turn| {
        world.checkpoints.checkpoint(folder, "r", Some(turn)).await.unwrap()
    };
    let (p, q) = (world.project(), world.dir.path().join("q"));
    fs::create_dir(&q).unwrap();
    world.write("a", "1");
    assert!(matches!(take(&p, "1").await, Outcome::Taken(_)));
    world.write("a", "2");
    assert_eq!(take(&p, "1").await, Outcome::Skipped(Skipped::ThisTurn));
    assert!(matches!(take(&q, "1").await, Outcome::Taken(_)));
    assert!(matches!(take(&p, "2").await, Outcome::Taken(_)));
    assert_eq!(take(&p, "3").await, Outcome::Skipped(Skipped::Unchanged));
}

#[tokio::test]
async fn some_folders_are_left_alone() {
    let world = World::with(|config| config.max_entries = 3);
    let take = async |folder: &Path| world.checkpoints.checkpoint(folder, "r", None).await.unwrap();
    assert_eq!(take(Path::new("/")).await, Outcome::Skipped(Skipped::Protected));
    assert_eq!(take(&world.at("none")).await, Outcome::Skipped(Skipped::NoFolder));
    for name in ["a", "b", "c", "node_modules/x/y", "d"] {
        world.write(name, "");
        let _ = world.take("r").await;
    }
    assert_eq!(take(&world.project()).await, Outcome::Skipped(Skipped::TooMany));
    let inside = world.store().join("objects");
    assert_eq!(take(&inside).await, Outcome::Skipped(Skipped::Protected));

    let home = world.project();
    let world = World::with(|config| config.home = Some(home.clone()));
    for folder in [&*home, home.parent().unwrap()] {
        let taken = world.checkpoints.checkpoint(folder, "r", None).await.unwrap();
        assert_eq!(taken, Outcome::Skipped(Skipped::Protected));
    }
}

#[tokio::test]
async fn a_diff_is_of_the_present_state() {
    let world = World::new();
    world.write("größe", "1\n");
    world.taken("one").await;
    world.write("größe", "2\n");
    world.write("new", "n\n");
    let diff = world.checkpoints.diff(&world.project(), "1").await.unwrap();
    assert!(diff.diff.contains("-1\n+2\n") && diff.diff.contains("+++ b/größe"), "{diff:?}");
    assert!(diff.stat.contains("2 files changed") && !diff.truncated, "{diff:?}");
    assert_eq!(world.reasons().await, ["one"]);
}

#[tokio::test]
async fn single_files_and_folders_come_back_alone() {
    let world = World::new();
    for name in ["a", "d/b", "d/c", "de"] {
        world.write(name, "1");
    }
    world.taken("one").await;
    for name in ["a", "d/b", "de", "d/new"] {
        world.write(name, "2");
    }
    let restore = async |file| world.checkpoints.restore(&world.project(), "1", Some(file)).await;
    for bad in ["../p/a", "/etc/passwd", "", "none", "d/../a", "d/new", ":/", "*"] {
        assert!(restore(bad).await.unwrap_err().is_bad_input(), "{bad}");
    }
    assert_eq!(world.reasons().await, ["one"]);
    restore("./d").await.unwrap();
    assert_eq!((&*world.read("d/b"), &*world.read("d/new")), ("1", "2"));
    assert_eq!((&*world.read("a"), &*world.read("de")), ("2", "2"));
}

#[tokio::test]
async fn a_hash_of_another_project_is_refused() {
    let world = World::new();
    let q = world.dir.path().join("q");
    fs::create_dir(&q).unwrap();
    fs::write(q.join("a"), "1").unwrap();
    world.write("a", "1");
    let own = world.taken("same").await;
    world.checkpoints.checkpoint(&q, "same", None).await.unwrap();
    let other = world.checkpoints.list(&q).await.unwrap().remove(0).hash;
    assert_ne!(own, other);
    world.write("a", "2");
    let refused = world.checkpoints.restore(&world.project(), &other, None).await;
    assert!(refused.unwrap_err().is_bad_input());
    assert!(world.checkpoints.diff(&world.project(), &other).await.is_err());
    assert_eq!(world.read("a"), "2");
}

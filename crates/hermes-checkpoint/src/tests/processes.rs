//! Others at the same store, and ends in the middle.

use std::fs;
use std::time::Duration;

use super::World;
use crate::{Checkpoints, Outcome};

/// As another process would have it: nothing in common but the disk.
fn other(world: &World) -> Checkpoints {
    Checkpoints::new(world.checkpoints.config().clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once() {
    let world = World::with(|config| config.max_snapshots = 100);
    let mut running = Vec::new();
    for process in 0..4 {
        let checkpoints = other(&world);
        let (own, shared) = (world.dir.path().join(format!("own{process}")), world.project());
        fs::create_dir(&own).unwrap();
        running.push(hermes_task::spawn(async move {
            for i in 0..5 {
                fs::write(own.join("a"), i.to_string()).unwrap();
                fs::write(shared.join(format!("{process}")), i.to_string()).unwrap();
                let taken = checkpoints.checkpoint(&own, "r", None).await.unwrap();
                assert!(matches!(taken, Outcome::Taken(_)));
                checkpoints.checkpoint(&shared, "r", None).await.unwrap();
                if i == 2 {
                    checkpoints.prune().await.unwrap();
                }
            }
            checkpoints.list(&own).await.unwrap().len()
        }));
    }
    for process in running {
        assert_eq!(process.await.unwrap(), 5);
    }
    world.write("a", "last");
    world.taken("last").await;
}

#[tokio::test]
async fn what_a_killed_git_leaves_is_mended() {
    let world = World::new();
    world.write("a", "1");
    world.taken("one").await;
    let id = world.checkpoints.status().await.unwrap().projects.remove(0).id;
    let store = world.store();
    for lock in [
        format!("indexes/{id}.lock"),
        format!("refs/hermes/{id}.lock"),
        "packed-refs.lock".to_owned(),
        "shallow.lock".to_owned(),
        "HEAD.lock".to_owned(),
        "gc.pid".to_owned(),
        "objects/tmp_obj_x".to_owned(),
    ] {
        fs::write(store.join(lock), "half").unwrap();
    }
    world.write("a", "2");
    world.taken("two").await;
    // A torn index, and one that knows of objects that are gone.
    fs::write(store.join("indexes").join(&id), "DIRC half").unwrap();
    world.write("a", "3");
    world.taken("three").await;
    fs::remove_file(store.join("HEAD")).unwrap();
    world.write("a", "4");
    world.taken("four").await;
    world.checkpoints.prune().await.unwrap();
    assert_eq!(world.reasons().await, ["four", "three", "two", "one"]);
    world.restore("4").await;
    assert_eq!(world.read("a"), "1");
}

#[tokio::test]
async fn an_index_that_knows_too_much_is_made_anew() {
    let world = World::new();
    world.write("a", "1");
    world.taken("one").await;
    let id = world.checkpoints.status().await.unwrap().projects.remove(0).id;
    // As after an end between the index and the commit, with a collection of another process.
    let before = fs::read_dir(world.store().join("objects")).unwrap().count();
    world.write("b", "never committed");
    let git = &world.checkpoints.store.git;
    let index = world.store().join("indexes").join(id);
    let add = git.run(["update-index", "--add", "b"]).work_tree(&world.project()).index(&index);
    add.bytes().await.unwrap();
    other(&world).prune().await.unwrap();
    assert!(before > 0);
    world.taken("two").await;
    fs::remove_file(world.at("b")).unwrap();
    world.restore("1").await;
    assert_eq!(world.read("b"), "never committed");
}

#[tokio::test]
async fn ends_at_any_moment_leave_a_store_that_works() {
    let world = World::with(|config| config.max_snapshots = 5);
    for i in 0..200 {
        world.write(format!("f{i}"), i.to_string());
    }
    for i in 0..60_u64 {
        world.write("a", i.to_string());
        // Dropping the work kills git and all it has started.
        let project = world.project();
        let work = world.checkpoints.checkpoint(&project, "r", None);
        let _ = tokio::time::timeout(Duration::from_micros(i * 700), work).await;
    }
    world.write("a", "then");
    let _ = world.take("whole").await;
    world.write("a", "now");
    world.restore("1").await;
    assert_eq!(world.read("a"), "then");
    let fsck = world.checkpoints.store.git.run(["fsck", "--connectivity-only"]).bytes().await;
    fsck.unwrap();
}

#[tokio::test]
async fn without_git_there_is_an_error_and_nothing_else() {
    let world = World::with(|config| config.path = Some("/nowhere".to_owned()));
    let failed = world.checkpoints.checkpoint(&world.project(), "r", None).await;
    assert!(matches!(failed, Err(crate::CheckpointError::NoGit(_))), "{failed:?}");
    assert!(world.checkpoints.status().await.unwrap().problem.is_some());
}

#[tokio::test]
async fn a_store_in_use_is_waited_for() {
    let world = World::with(|config| config.timeout = Duration::from_millis(200));
    world.write("a", "1");
    let held = world.checkpoints.store.hold().await.unwrap();
    let failed = world.checkpoints.checkpoint(&world.project(), "r", None).await;
    assert!(matches!(failed, Err(crate::CheckpointError::Busy)), "{failed:?}");
    drop(held);
}

#[tokio::test]
async fn a_git_in_the_project_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::with(|config| config.path = Some(".::bin:/usr/bin:/bin".to_owned()));
    for name in ["git", "bin/git"] {
        world.write(name, "#!/bin/sh\ntouch ran\nexit 1\n");
        fs::set_permissions(world.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.taken("one").await;
    assert!(!world.at("ran").exists());
}

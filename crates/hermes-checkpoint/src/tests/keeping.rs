//! What stays and what goes.

use std::fs;
use std::time::Duration;

use super::World;
use crate::Outcome;

#[tokio::test]
async fn trimming_keeps_hashes_and_dates() {
    let world = World::with(|config| config.max_snapshots = 3);
    let mut hashes = Vec::new();
    for i in 0..6 {
        world.write("a", i.to_string());
        hashes.push(world.taken(&format!("r{i}")).await);
    }
    assert_eq!(world.reasons().await, ["r5", "r4", "r3"]);
    let before = world.checkpoints.list(&world.project()).await.unwrap();
    let listed: Vec<_> = before.iter().rev().map(|entry| entry.hash.clone()).collect();
    assert_eq!(listed, hashes[3..]);
    // What was cut off is gone, and the rest survives a collection.
    assert!(world.checkpoints.restore(&world.project(), &hashes[2], None).await.is_err());
    world.checkpoints.prune().await.unwrap();
    assert_eq!(world.checkpoints.list(&world.project()).await.unwrap(), before);
    // The oldest is pushed out by the snapshot before the rollback, but only afterwards.
    world.write("a", "changed");
    world.restore("3").await;
    assert_eq!(world.read("a"), "3");
    assert_eq!(world.reasons().await.len(), 3);
}

#[tokio::test]
async fn the_store_stays_below_its_limit() {
    let world = World::with(|config| config.max_total_size = Some(300_000));
    let mut state = 1_u64;
    for i in 0..6 {
        let noise: Vec<u8> = (0..100_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            })
            .collect();
        world.write("noise", noise);
        world.taken(&format!("r{i}")).await;
    }
    let reasons = world.reasons().await;
    assert!(!reasons.is_empty() && reasons.len() < 4 && reasons[0] == "r5", "{reasons:?}");
    assert!(world.checkpoints.status().await.unwrap().size < 400_000);

    let world = World::with(|config| config.max_total_size = Some(1));
    world.write("a", "1");
    world.taken("one").await;
    assert_eq!(world.reasons().await, ["one"], "the newest stays");
}

#[tokio::test]
async fn pruning_forgets_what_is_gone_or_old() {
    let world = World::with(|config| config.retention = None);
    for name in ["gone", "kept"] {
        let folder = world.dir.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), name).unwrap();
        let taken = world.checkpoints.checkpoint(&folder, "r", None).await.unwrap();
        assert!(matches!(taken, Outcome::Taken(_)));
    }
    fs::remove_dir_all(world.dir.path().join("gone")).unwrap();
    let pruned = world.checkpoints.prune().await.unwrap();
    assert_eq!((pruned.scanned, pruned.deleted_orphan, pruned.deleted_stale), (2, 1, 0));
    let status = world.checkpoints.status().await.unwrap();
    assert_eq!(status.projects.len(), 1);
    assert_eq!((status.projects[0].snapshots, status.projects[0].exists), (1, true));

    let old = crate::Checkpoints::new(crate::CheckpointConfig {
        retention: Some(Duration::ZERO),
        ..world.checkpoints.config().clone()
    });
    assert_eq!(old.prune().await.unwrap().deleted_stale, 1);
    assert_eq!(old.status().await.unwrap().projects, []);
    assert_eq!(old.prune_if_due().await.unwrap(), None, "it was just done");
}

#[tokio::test]
async fn an_older_layout_is_moved_aside() {
    let world = World::new();
    let old = world.dir.path().join("checkpoints/0123456789abcdef");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("HEAD"), "old").unwrap();
    world.write("a", "1");
    world.taken("one").await;
    let status = world.checkpoints.status().await.unwrap();
    let [legacy] = &status.legacy[..] else { panic!("{status:?}") };
    assert_eq!(fs::read_to_string(legacy.join("0123456789abcdef/HEAD")).unwrap(), "old");
    assert!(!old.exists());
    assert!(world.checkpoints.clear_legacy().await.unwrap() > 0);
    assert_eq!(world.reasons().await, ["one"]);
    assert!(world.checkpoints.clear().await.unwrap() > 0);
    assert!(world.reasons().await.is_empty());
    world.taken("again").await;
}

#[tokio::test]
async fn nothing_is_made_by_looking() {
    let world = World::new();
    assert!(world.reasons().await.is_empty());
    assert!(world.checkpoints.status().await.unwrap().projects.is_empty());
    assert!(world.checkpoints.restore(&world.project(), "1", None).await.is_err());
    world.checkpoints.prune().await.unwrap();
    assert!(!world.dir.path().join("checkpoints").exists());
}

#[tokio::test]
async fn reasons_are_texts() {
    let world = World::new();
    let reasons = ["", "two\nlines", "  blanks", "größe 🎉", "-m", "# not a comment"];
    for (i, reason) in reasons.iter().enumerate() {
        world.write("a", i.to_string());
        world.taken(reason).await;
    }
    let mut listed = world.reasons().await;
    listed.reverse();
    assert_eq!(listed, reasons);
}

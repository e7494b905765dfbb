//! What becomes of containers: taken again, replaced, recovered, removed.

use std::time::Duration;

use hermes_exec::environment::{Close, Environment as _, Exit, Start};
use hermes_exec_docker::{Mount, Options};
use pretty_assertions::{assert_eq, assert_ne};
use tokio::io::AsyncReadExt as _;

use crate::world::{By, World, by_both, finish};

#[tokio::test(flavor = "multi_thread")]
async fn a_container_is_taken_again() {
    by_both(|world, _| async move {
        let first = world.open().await;
        let (id, identity) = (first.0.container_id().to_owned(), first.0.identity());
        first.run("echo kept >/kept").await;
        first.0.close(Close::AsConfigured).await;
        let again = world.open().await;
        assert_eq!((again.0.container_id(), again.0.identity()), (&*id, identity.clone()));
        assert_eq!(again.run("cat /kept").await.0, "kept\n");
        // Stopped: started again, but with other temporary files.
        world.docker(&["stop", "-t", "1", &id]).await;
        let started = world.open().await;
        assert_eq!(started.0.container_id(), id);
        assert_ne!(started.0.identity(), identity);
        // Another task's is left alone, though its label looks the same.
        let other = Options { task_id: "x/y".into(), ..world.options() };
        let other = world.open_with(other).await;
        let like = Options { task_id: "x_y".into(), ..world.options() };
        let like = world.open_with(like).await;
        assert_ne!(other.0.container_id(), like.0.container_id());
        assert_eq!(world.containers().await.len(), 3);
        // Of the same task with other settings: replaced.
        let env = [("A".to_owned(), "1".to_owned())].into();
        let changed = world.open_with(Options { env, ..world.options() }).await;
        assert_ne!(changed.0.container_id(), id);
        assert!(!world.containers().await.contains(&id));
        for machine in [changed, other, like] {
            machine.remove().await;
        }
        assert_eq!(world.containers().await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_gone_is_said_to_be() {
    by_both(|world, _| async move {
        let machine = world.open().await;
        let id = machine.0.container_id();
        let mut running = machine.start(Start::new("echo on; sleep 1000")).await;
        let mut said = [0; 3];
        running.output.read_exact(&mut said).await.unwrap();
        world.docker(&["rm", "-f", id]).await;
        let (_, exit) = finish(running).await;
        let Exit::Lost(how) = exit else { panic!("{exit:?}") };
        assert!(how.starts_with("the container "), "{how}");
        assert!(machine.0.start(Start::new("true")).await.unwrap_err().is_gone);
        // Removed without anybody having noticed.
        let next = world.open().await;
        assert_ne!(next.0.container_id(), id);
        world.docker(&["rm", "-f", next.0.container_id()]).await;
        let failure = next.0.start(Start::new("true")).await.unwrap_err();
        assert!(failure.is_gone && failure.message.contains("removed"), "{failure:?}");
        // Merely stopped; and what was lost stays lost, though it runs again.
        let next = world.open().await;
        world.docker(&["stop", "-t", "1", next.0.container_id()]).await;
        assert!(next.0.start(Start::new("true")).await.unwrap_err().is_gone);
        let again = world.open().await;
        assert_eq!(again.0.container_id(), next.0.container_id());
        assert!(next.0.start(Start::new("true")).await.unwrap_err().is_gone);
        assert_eq!(again.run("echo again").await.0, "again\n");
        // What a command says about that is its own business.
        let lie = "echo 'Error: No such container: x' >&2; exit 1";
        assert_eq!(again.run(lie).await.1, Exit::Code(1));
        assert_eq!(again.run("echo on").await.0, "on\n");
        again.remove().await;
        assert_eq!(world.containers().await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_not_kept_is_removed() {
    by_both(|world, _| async move {
        let options = Options { persist_across_processes: false, ..world.options() };
        let machine = world.open_with(options.clone()).await;
        machine.0.close(Close::AsConfigured).await;
        assert_eq!(world.containers().await, [""; 0]);
        // Forgotten: removed a moment later.
        drop(world.open_with(options).await);
        for _ in 0..100 {
            if world.containers().await.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{:?}", world.containers().await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_and_limits() {
    let Some(world) = World::new(By::Socket).await else { return };
    let root = tempfile::tempdir().unwrap();
    let shown = root.path().join("shown");
    std::fs::write(&shown, "shown").unwrap();
    let options = Options {
        persistent: true,
        sandbox_root: root.path().to_owned(),
        task_id: "../escape".into(),
        cpu: 0.5,
        memory_mb: 64,
        cwd: "/workspace/sub".into(),
        mounts: vec![Mount {
            host: shown.clone(),
            container: "/root/.hermes/credentials/shown".into(),
            read_only: true,
        }],
        ..world.options()
    };
    let machine = world.open_with(options.clone()).await;
    let (said, exit) = machine
        .run("pwd; cat ~/.hermes/credentials/shown; echo x >~/.hermes/credentials/shown || exit 9")
        .await;
    assert!(said.starts_with("/workspace/sub\nshown"), "{said}");
    assert_eq!(exit, Exit::Code(9));
    machine.run("echo kept >~/kept; echo work >/workspace/work").await;
    machine.remove().await;
    let machine = world.open_with(options).await;
    assert_eq!(machine.run("cat ~/kept /workspace/work").await.0, "kept\nwork\n");
    // Nothing but loopback.
    assert_eq!(machine.run("ls /sys/class/net").await.0, "lo\n");
    let facts = "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} \
                 {{.HostConfig.NetworkMode}}";
    let facts = world.docker(&["inspect", "--format", facts, machine.0.container_id()]).await;
    assert_eq!(facts, "500000000 67108864 256 none");
    machine.remove().await;
    let names: Vec<_> = std::fs::read_dir(root.path().join("docker")).unwrap().collect();
    assert_eq!(names.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_are_reaped() {
    let Some(world) = World::new(By::Client).await else { return };
    let profile = format!("hermes-profile={}", world.profile);
    let make = |rest: &'static [&'static str]| {
        let words = [rest, &["--network=none", "--label", "hermes-agent=1", "--label"]].concat();
        let words = [&words[..], &[profile.as_str(), &world.image]].concat();
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let world = &world;
        async move {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            world.docker(&[&words[..], &["sleep", "1000"]].concat()).await
        }
    };
    let (created, running, exited) =
        (make(&["create"]).await, make(&["run", "-d"]).await, make(&["run", "-d"]).await);
    world.docker(&["kill", &exited]).await;
    // All of them are young.
    assert_eq!(world.engine.reap_orphans(&world.profile, Duration::from_secs(300)).await, 0);
    let mut left = world.containers().await;
    left.sort_unstable();
    let mut all = vec![created, running, exited];
    all.sort_unstable();
    assert_eq!(left, all);
    for id in all {
        world.docker(&["rm", "-f", &id]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_can_not_be_had() {
    let Some(world) = World::new(By::Socket).await else { return };
    for (image, words) in [("127.0.0.1:9/none:1", "can't be had"), ("--privileged", "no name")] {
        let options = Options { image: image.into(), ..world.options() };
        let failure = world.engine.open(options).await.unwrap_err();
        assert!(failure.message.contains(words), "{failure}");
    }
    let options = Options { extra_args: vec!["--no-such-option".into()], ..world.options() };
    let failure = world.engine.open(options).await.unwrap_err();
    assert!(failure.message.contains("no-such-option"), "{failure}");
    assert_eq!(world.containers().await, [""; 0]);
}

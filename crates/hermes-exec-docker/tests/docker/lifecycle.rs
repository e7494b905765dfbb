//! What becomes of containers: taken again, replaced, recovered, removed.

use std::time::Duration;

use hermes_exec::environment::{Close, Environment as _, Exit, Start};
use hermes_exec_docker::{Mount, Options};
use pretty_assertions::{assert_eq, assert_ne};
use tokio::io::AsyncReadExt as _;

use crate::world::{By, World, finish, on_docker, on_podman};

on_docker!(
    young_orphans_are_left,
    a_container_is_taken_again,
    one_that_is_gone_is_said_to_be,
    an_image_with_an_init_of_its_own,
    one_that_is_not_kept_is_removed
);
on_podman!(
    young_orphans_are_left,
    a_container_is_taken_again,
    one_that_is_gone_is_said_to_be,
    an_image_with_an_init_of_its_own
);

async fn a_container_is_taken_again(world: World) {
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
}

async fn one_that_is_gone_is_said_to_be(world: World) {
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
}

async fn one_that_is_not_kept_is_removed(world: World) {
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

/// Containers as they are left: one made, one that runs, and one that ended.
async fn leftovers(world: &World) -> [String; 3] {
    let profile = format!("hermes-profile={}", world.profile);
    let make = async |rest: &[&str]| {
        let words = [rest, &["--network=none", "--label", "hermes-agent=1", "--label"]].concat();
        world.docker(&[&words[..], &[&profile, &world.image, "sleep", "1000"]].concat()).await
    };
    // With a first process that ends when it is told to.
    let run = ["run", "-d", "--init"];
    let made = [make(&["create"]).await, make(&run).await, make(&run).await];
    world.docker(&["kill", &made[2]]).await;
    made
}

async fn young_orphans_are_left(world: World) {
    let mut all = leftovers(&world).await.to_vec();
    assert_eq!(world.engine.reap_orphans(&world.profile, Duration::from_secs(300)).await, 0);
    let mut left = world.containers().await;
    left.sort_unstable();
    all.sort_unstable();
    assert_eq!(left, all);
    world.remove(&all).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes two minutes: younger ones are left whatever the settings say"]
async fn orphans_are_reaped() {
    let mut worlds = Vec::new();
    for by in [By::Client, By::Podman] {
        let Some(world) = World::new(by).await else { continue };
        let made = leftovers(&world).await;
        worlds.push((world, made));
    }
    tokio::time::sleep(Duration::from_secs(125)).await;
    for (world, [_, running, _]) in worlds {
        assert_eq!(world.engine.reap_orphans(&world.profile, Duration::ZERO).await, 2);
        assert_eq!(world.containers().await, [running.as_str()]);
        world.remove(&[running]).await;
    }
}

async fn an_image_with_an_init_of_its_own(world: World) {
    let image = world.image.replace(":latest", ":init");
    let options = Options { image, ..world.options() };
    let machine = world.open_with(options.clone()).await;
    // It is the first process, and what it needs to run from `/run` runs.
    let (first, _) = machine.run("tr '\\0' ' ' </proc/1/cmdline").await;
    assert_eq!(first, "/bin/sh /init sleep infinity ");
    let script = "/run/s6/basedir/bin/busybox echo on; grep -c '^tmpfs /run .*noexec' /proc/mounts";
    assert_eq!(machine.run(script).await.0, "on\n0\n");
    // Those that nobody waits for are its business.
    let running = machine.start(Start::new("(setsid sleep 7500 &); sleep 7500")).await;
    machine.becomes("^sleep 7500", 2).await;
    running.handle.terminate(Duration::ZERO).await;
    assert_eq!(running.handle.wait().await, Exit::Code(137));
    assert_eq!(machine.count("^sleep 7500").await, 0);
    // Its own time: those that ended stay until it looks.
    let look = "grep -l '^State:.Z' /proc/[0-9]*/status";
    for tries in 0.. {
        let (zombies, _) = machine.run(look).await;
        if zombies.is_empty() {
            break;
        }
        assert!(tries < 50, "{zombies}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let again = world.open_with(options).await;
    assert_eq!(again.0.container_id(), machine.0.container_id());
    machine.remove().await;
    assert_eq!(world.containers().await, [""; 0]);
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

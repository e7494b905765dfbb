//! Instances of a stand-in for apptainer, which needs root, `unshare` and `nsenter`, and busybox for
//! the image.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod world;

use std::fs;
use std::time::Duration;

use hermes_exec::environment::{Close, Dialect, Environment as _, Exit, Size, Start, Stdin};
use hermes_exec_singularity::{Mount, Options, is_available, open};
use pretty_assertions::{assert_eq, assert_ne};
use tokio::io::AsyncReadExt as _;

use crate::world::{World, finish};

#[tokio::test(flavor = "multi_thread")]
async fn commands() {
    let Some(world) = World::new() else { return };
    assert!(is_available(&world.options().env).await);
    let forward = vec![("GIVEN".to_owned(), "a 'b".to_owned())];
    let machine = open(Options { forward, ..world.options() }).await.unwrap();
    assert_eq!((machine.home(), machine.kind()), (Some("/root"), "singularity"));
    let run = |start: Start| async { finish(machine.start(start).await.unwrap()).await };
    for (script, output, code) in [
        ("echo $0 $#; exit 3", "bash 0\n", 3),
        ("echo $GIVEN; env | grep -c SECRET", "a 'b\n0\n", 1),
        ("kill -9 $$", "", 137),
        ("cat", "", 0),
    ] {
        assert_eq!(
            run(Start::new(script)).await,
            (output.to_owned(), Exit::Code(code)),
            "{script}"
        );
    }
    let input = Start { stdin: Stdin::Bytes(vec![b'x'; 1_000_000]), ..Start::new("wc -c") };
    assert_eq!(run(input).await.0, "1000000\n");
    let long = format!(": {}\necho $LINENO", "x".repeat(300_000));
    assert_eq!(run(Start::new(long)).await, ("2\n".to_owned(), Exit::Code(0)));
    let posix = Start { dialect: Dialect::Posix, ..Start::new("echo $0") };
    assert_eq!(run(posix).await.0, "sh\n");
    let terminal = Some(Size { rows: 12, cols: 34 });
    let terminal = Start { terminal, ..Start::new("stty size; exit 4") };
    assert_eq!(run(terminal).await, ("12 34\r\n".to_owned(), Exit::Code(4)));
    machine.close(Close::AsConfigured).await;
    let calls = world.calls();
    assert!(calls.iter().any(|call| {
        call.starts_with("instance start --containall --no-home --writable-tmpfs ")
    }));
    assert!(calls.last().unwrap().starts_with("instance stop hermes_"), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_of_it_ends() {
    let Some(world) = World::new() else { return };
    let machine = open(world.options()).await.unwrap();
    let script = "sleep 7001 & setsid sleep 7002 & (setsid sleep 7003 &); echo ready; wait";
    let count = || async {
        let look = "ps -o args | grep -c '^sleep 700'";
        finish(machine.start(Start::new(look)).await.unwrap()).await.0.trim().to_owned()
    };
    for is_dropped in [false, true] {
        let mut running = machine.start(Start::new(script)).await.unwrap();
        let mut ready = [0; 6];
        running.output.read_exact(&mut ready).await.unwrap();
        for _ in 0..100 {
            if count().await == "3" {
                break;
            }
        }
        assert_eq!(count().await, "3");
        if is_dropped {
            drop(running);
            for _ in 0..100 {
                if count().await == "0" {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        } else {
            running.handle.terminate(Duration::from_millis(200)).await;
            running.handle.release();
        }
        assert_eq!(count().await, "0");
    }
    machine.close(Close::Remove).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_gone_is_said_to_be() {
    let Some(world) = World::new() else { return };
    let machine = open(world.options()).await.unwrap();
    let mut running = machine.start(Start::new("echo on; sleep 1000")).await.unwrap();
    let mut said = [0; 3];
    running.output.read_exact(&mut said).await.unwrap();
    world.stop(machine.name()).await;
    let (_, exit) = finish(running).await;
    assert!(matches!(exit, Exit::Lost(_)), "{exit:?}");
    assert!(machine.start(Start::new("true")).await.unwrap_err().is_gone);
    // Without anybody having noticed.
    let next = open(world.options()).await.unwrap();
    assert_ne!(next.name(), machine.name());
    world.stop(next.name()).await;
    let failure = next.start(Start::new("true")).await.unwrap_err();
    assert!(failure.is_gone, "{failure:?}");
    machine.close(Close::Remove).await;
    next.close(Close::Remove).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn images_and_overlays() {
    let Some(world) = World::new() else { return };
    let shown = world.folder().join("shown");
    fs::write(&shown, "shown").unwrap();
    let options = Options {
        image: "docker://a/b:c".into(),
        persistent: true,
        task_id: "../t".into(),
        memory_mb: 64,
        mounts: vec![Mount { host: shown, container: "/root/shown".into(), read_only: true }],
        ..world.options()
    };
    let machine = open(options.clone()).await.unwrap();
    let script = Start::new("cat /root/shown; echo kept >/kept");
    assert_eq!(finish(machine.start(script).await.unwrap()).await.0, "shown");
    let overlay = machine.overlay().unwrap().to_owned();
    assert!(overlay.starts_with(world.folder().join("scratch/hermes-overlays")), "{overlay:?}");
    machine.close(Close::Remove).await;
    // Built once.
    let machine = open(options.clone()).await.unwrap();
    let script = Start::new("cat /kept");
    assert_eq!(finish(machine.start(script).await.unwrap()).await.0, "kept\n");
    machine.close(Close::AsConfigured).await;
    assert!(overlay.is_dir());
    let calls = world.calls();
    assert_eq!(calls.iter().filter(|call| call.starts_with("build ")).count(), 1, "{calls:?}");
    assert!(world.folder().join("scratch/.apptainer/a-b-c.sif").exists());
    // One that can't be built is left to the client, which refuses it here.
    let broken = Options { image: "docker://broken".into(), ..options };
    let failure = open(broken).await.unwrap_err();
    assert!(failure.message.contains("could not open image docker://broken"), "{failure}");
}

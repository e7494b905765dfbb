//! How commands are ended: with everything they started, in the container.

use std::time::Duration;

use hermes_exec::environment::{Exit, Start};
use pretty_assertions::assert_eq;
use tokio::io::AsyncReadExt as _;

use crate::world::{Machine, World, finish, on_docker, on_podman};

on_docker!(
    all_of_it_ends,
    who_is_told_to_end_may_have_a_last_word,
    dropping_ends_it,
    what_was_let_go_goes_on,
    other_users_processes_end_too
);
on_podman!(all_of_it_ends);

/// Starts one that leaves traces everywhere: a child, a child in a session of its own, one that
/// was adopted, and one that has forgotten its variables.
const FAMILY: &str = "sleep 7001 & setsid sleep 7002 & (setsid sh -c 'sleep 7003 & exec sleep 7004' &) ; \
                      env -i sleep 7005 & env -i setsid sleep 7006 & echo ready; wait";

async fn family(machine: &Machine) -> hermes_exec::environment::Running {
    let mut running = machine.start(Start::new(FAMILY)).await;
    let mut ready = [0; 6];
    running.output.read_exact(&mut ready).await.unwrap();
    for number in [7001, 7002, 7003, 7004, 7005, 7006] {
        machine.becomes(&format!("^sleep {number}"), 1).await;
    }
    running
}

async fn all_of_it_ends(world: World) {
    let machine = world.open().await;
    let bystander = machine.start(Start::new("sleep 8000")).await;
    let running = family(&machine).await;
    running.handle.terminate(Duration::from_millis(300)).await;
    assert_eq!(machine.count("^sleep 70").await, 0);
    let (_, exit) = finish(running).await;
    assert!(matches!(exit, Exit::Code(143 | 137)), "{exit:?}");
    assert_eq!(machine.count("^sleep 8000").await, 1);
    bystander.handle.terminate(Duration::ZERO).await;
    assert_eq!(bystander.handle.wait().await, Exit::Code(137));
    machine.remove().await;
}

async fn who_is_told_to_end_may_have_a_last_word(world: World) {
    let machine = world.open().await;
    let script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.1; done";
    let mut running = machine.start(Start::new(script)).await;
    let mut ready = [0; 6];
    running.output.read_exact(&mut ready).await.unwrap();
    running.handle.terminate(Duration::from_secs(20)).await;
    let (said, exit) = finish(running).await;
    // The shell may complain about its child before.
    assert!(said.ends_with("bye\n") && exit == Exit::Code(5), "{said} {exit:?}");
    let deaf = machine.start(Start::new("trap '' TERM; sleep 7100; sleep 7100")).await;
    machine.becomes("^sleep 7100", 1).await;
    deaf.handle.terminate(Duration::from_millis(300)).await;
    assert_eq!(deaf.handle.wait().await, Exit::Code(137));
    assert_eq!(machine.count("^sleep 7100").await, 0);
    machine.remove().await;
}

async fn dropping_ends_it(world: World) {
    let machine = world.open().await;
    drop(family(&machine).await);
    machine.becomes("^sleep 70", 0).await;
    // One that was given up while it was being started.
    let start = machine.0.start_for(Duration::from_millis(60), "sleep 7200").await;
    drop(start);
    tokio::time::sleep(Duration::from_secs(2)).await;
    machine.becomes("^sleep 7200", 0).await;
    machine.remove().await;
}

async fn what_was_let_go_goes_on(world: World) {
    let machine = world.open().await;
    let running = machine.start(Start::new("sleep 7300")).await;
    machine.becomes("^sleep 7300", 1).await;
    running.handle.release();
    drop(running);
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(machine.count("^sleep 7300").await, 1);
    machine.remove().await;
}

async fn other_users_processes_end_too(world: World) {
    let machine = world.open().await;
    // Root has no right to signal others here.
    let script = "su user -c 'sleep 7400' & echo ready; wait";
    let mut running = machine.start(Start::new(script)).await;
    let mut ready = [0; 6];
    running.output.read_exact(&mut ready).await.unwrap();
    machine.becomes("^sleep 7400", 1).await;
    running.handle.terminate(Duration::from_millis(100)).await;
    assert_eq!(machine.count("^sleep 7400").await, 0);
    machine.remove().await;
}

/// Starting with a limit of time.
trait StartFor {
    async fn start_for(
        &self,
        limit: Duration,
        script: &str,
    ) -> Option<hermes_exec::environment::Running>;
}

impl StartFor for hermes_exec_docker::DockerEnvironment {
    async fn start_for(
        &self,
        limit: Duration,
        script: &str,
    ) -> Option<hermes_exec::environment::Running> {
        use hermes_exec::environment::Environment as _;
        tokio::time::timeout(limit, self.start(Start::new(script))).await.ok()?.ok()
    }
}

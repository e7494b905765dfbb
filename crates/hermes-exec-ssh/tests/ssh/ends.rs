//! How commands end, and that all of them do.

use std::time::Duration;

use hermes_exec::environment::{Close, Environment as _, Exit, Pid, Start};
use hermes_exec_ssh::Ssh;
use pretty_assertions::assert_eq;
use rustix::process::{Signal, kill_process};
use tokio::io::AsyncReadExt as _;

use crate::host::{Host, await_sleepers, finish, on_hosts, output, run, sleepers, unique_sleep};
use crate::server::kill_clients;

on_hosts!(
    all_that_was_started_is_ended,
    the_stubborn_are_killed,
    what_is_dropped_is_killed,
    what_is_released_goes_on_until_the_host_is_given_up,
    the_shell_ends_before_its_children,
    a_lost_relay_takes_all_with_it,
    a_lost_keeper_takes_its_command_with_it,
);

/// Children in sessions of their own, without variables, without parents.
fn brood(seconds: &str) -> String {
    format!(
        "sleep {seconds} & setsid sleep {seconds} & setsid env -i sleep {seconds} >/dev/null 2>&1 &\n\
         (setsid env -i sleep {seconds} >/dev/null 2>&1 & ) ; (sleep {seconds} & sleep {seconds} & )\n\
         sleep {seconds}"
    )
}

async fn start_brood(ssh: &Ssh, prelude: &str) -> (hermes_exec::environment::Running, String) {
    let seconds = unique_sleep();
    let script = format!("{prelude}{}", brood(&seconds));
    let running = ssh.start(Start::new(script)).await.unwrap();
    await_sleepers(&seconds, 7).await;
    (running, seconds)
}

async fn all_that_was_started_is_ended(host: &Host) {
    let ssh = host.connect().await;
    let (running, seconds) = start_brood(&ssh, "").await;
    assert!(matches!(running.handle.pid(), Some(Pid::Inside(2..))));
    running.handle.terminate(Duration::from_secs(20)).await;
    assert_eq!(sleepers(&seconds), 0);
    assert_eq!(finish(running).await.1, Exit::Code(143));
    assert_eq!(output(&ssh, "echo on").await, "on\n");
    host.close(&ssh).await;
}

async fn the_stubborn_are_killed(host: &Host) {
    let ssh = host.connect().await;
    let (running, seconds) = start_brood(&ssh, "trap '' TERM\n").await;
    running.handle.terminate(Duration::from_millis(200)).await;
    assert_eq!(sleepers(&seconds), 0);
    assert_eq!(running.handle.wait().await, Exit::Code(137));
    // Once more, with nobody left.
    running.handle.terminate(Duration::from_secs(1)).await;
    host.close(&ssh).await;
}

async fn what_is_dropped_is_killed(host: &Host) {
    let ssh = host.connect().await;
    let (running, seconds) = start_brood(&ssh, "trap '' TERM\n").await;
    drop(running);
    await_sleepers(&seconds, 0).await;
    host.close(&ssh).await;
}

async fn what_is_released_goes_on_until_the_host_is_given_up(host: &Host) {
    let ssh = host.connect().await;
    let seconds = unique_sleep();
    let script = format!(
        "(while sleep 0.01; do echo noise; done; exec sleep {seconds}) & sleep {seconds} & echo end"
    );
    let mut running = ssh.start(Start::new(script)).await.unwrap();
    let mut said = [0; 4];
    running.output.read_exact(&mut said).await.unwrap();
    assert_eq!(running.handle.wait().await, Exit::Code(0));
    running.handle.release();
    drop(running);
    await_sleepers(&seconds, 1).await;
    assert_eq!(output(&ssh, "sleep 0.1; echo on").await, "on\n");
    assert_eq!(sleepers(&seconds), 1);
    host.close(&ssh).await;
    assert_eq!(sleepers(&seconds), 0);
    let failure = ssh.start(Start::new("true")).await.unwrap_err();
    assert!(failure.is_gone);
}

async fn the_shell_ends_before_its_children(host: &Host) {
    let ssh = host.connect().await;
    let seconds = unique_sleep();
    let script = format!("sleep {seconds} & head -c 60000 /dev/zero; exit 7");
    let mut running = ssh.start(Start::new(script)).await.unwrap();
    assert_eq!(running.handle.wait().await, Exit::Code(7));
    // All that it wrote has come by then.
    let mut zeros = vec![1; 60_000];
    running.output.read_exact(&mut zeros).await.unwrap();
    await_sleepers(&seconds, 1).await;
    running.handle.terminate(Duration::from_secs(1)).await;
    assert_eq!(sleepers(&seconds), 0);
    assert_eq!(running.output.read(&mut zeros).await.unwrap(), 0);
    // A child that never stops writing.
    let mut running = ssh.start(Start::new("yes & exit 8")).await.unwrap();
    let wait = running.handle.wait();
    let mut drain = tokio::io::sink();
    tokio::select! {
        exit = wait => assert_eq!(exit, Exit::Code(8)),
        _ = tokio::io::copy(&mut running.output, &mut drain) => panic!("it never ends"),
    }
    drop(running);
    host.close(&ssh).await;
}

/// The process that is so many above the shell of a command.
async fn ancestor(
    ssh: &Ssh,
    script: &str,
    above: usize,
) -> (hermes_exec::environment::Running, i32) {
    let mut pid = "$$".to_owned();
    for _ in 0..above {
        pid = format!("$(awk '/^PPid/ {{ print $2 }}' /proc/{pid}/status)");
    }
    let mut running = ssh.start(Start::new(format!("echo {pid}\n{script}"))).await.unwrap();
    let mut line = String::new();
    while !line.ends_with('\n') {
        line.push(char::from(running.output.read_u8().await.unwrap()));
    }
    (running, line.trim().parse().unwrap())
}

fn kill(pid: i32) {
    kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

async fn a_lost_relay_takes_all_with_it(host: &Host) {
    let ssh = host.connect().await;
    let seconds = unique_sleep();
    let (running, relay) = ancestor(&ssh, &brood(&seconds), 2).await;
    await_sleepers(&seconds, 7).await;
    kill(relay);
    let (_, exit) = finish(running).await;
    assert!(matches!(&exit, Exit::Lost(why) if why.contains("was lost")), "{exit:?}");
    await_sleepers(&seconds, 0).await;
    assert_eq!(output(&ssh, "echo again").await, "again\n");
    host.close(&ssh).await;
}

async fn a_lost_keeper_takes_its_command_with_it(host: &Host) {
    let ssh = host.connect().await;
    let seconds = unique_sleep();
    let (running, keeper) = ancestor(&ssh, &brood(&seconds), 1).await;
    await_sleepers(&seconds, 7).await;
    kill(keeper);
    assert!(matches!(running.handle.wait().await, Exit::Lost(_)));
    await_sleepers(&seconds, 0).await;
    assert_eq!(output(&ssh, "echo on").await, "on\n");
    host.close(&ssh).await;
}

async fn lose(cut: impl Fn(&Host)) {
    let Some(host) = Host::real("/bin/sh").await else { return };
    let ssh = host.connect().await;
    let (running, seconds) = start_brood(&ssh, "").await;
    cut(&host);
    let (_, exit) = finish(running).await;
    assert!(matches!(&exit, Exit::Lost(why) if why.contains("was lost")), "{exit:?}");
    await_sleepers(&seconds, 0).await;
    assert_eq!(run(&ssh, Start::new("echo again")).await, ("again\n".into(), Exit::Code(0)));
    host.close(&ssh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_client_takes_all_with_it() {
    lose(|host| assert_eq!(kill_clients(host.options.port), 1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_session_of_the_server_takes_all_with_it() {
    lose(|host| host.server.as_ref().unwrap().kill_sessions()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_keep_the_shared_connection() {
    let Some(host) = Host::real("/bin/sh").await else { return };
    let (one, other) = (host.connect().await, host.connect().await);
    one.close(Close::AsConfigured).await;
    assert_eq!(output(&other, "echo on").await, "on\n");
    other.close(Close::Remove).await;
    assert_eq!(host.files(), [] as [std::path::PathBuf; 0]);
    let server = host.server.as_ref().unwrap();
    server.is_idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_environment_leaves_nothing() {
    let Some(host) = Host::real("/bin/sh").await else { return };
    let ssh = host.connect().await;
    let (running, seconds) = start_brood(&ssh, "").await;
    running.handle.release();
    drop(running);
    drop(ssh);
    await_sleepers(&seconds, 0).await;
    for _ in 0..500 {
        if host.files().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?} is left", host.files());
}

//! Much of everything.

use std::fs;
use std::time::Duration;

use hermes_exec::environment::{Environment as _, Exit, Start, Stdin};
use hermes_exec_ssh::Ssh;
use pretty_assertions::assert_eq;
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinSet;

use crate::host::{Host, await_sleepers, on_hosts, output, run, unique_sleep};

on_hosts!(
    two_hundred_at_once,
    many_come_and_go,
    output_is_bounded,
    bytes_are_kept,
    a_stuck_reader_is_alone,
);

async fn two_hundred_at_once(host: &Host) {
    let ssh = std::sync::Arc::new(host.connect().await);
    let mut all = JoinSet::new();
    for number in 0..200 {
        let ssh = ssh.clone();
        let script = format!("echo {number}; head -c 20000 /dev/zero; sleep 0.2; exit {number}");
        let _ = all.spawn(async move {
            let (said, exit) = run(&ssh, Start::new(script)).await;
            assert_eq!(exit, Exit::Code(number));
            assert_eq!(said.len(), 20_001 + number.to_string().len());
            assert!(said.starts_with(&format!("{number}\n")));
        });
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
    host.close(&ssh).await;
}

/// What the relay holds: open files, children, and files of scripts.
async fn holdings(ssh: &Ssh) -> String {
    let script = "relay=$(awk '/^PPid/ { print $2 }' /proc/$PPID/status)\n\
                  ls /proc/$relay/fd | wc -l; ps -A -o ppid= | grep -cw $relay; ls $TMPDIR/*/ | wc -l";
    output(ssh, script).await
}

async fn many_come_and_go(host: &Host) {
    let ssh = std::sync::Arc::new(host.connect().await);
    let before = holdings(&ssh).await;
    let seconds = unique_sleep();
    for round in 0..6 {
        let mut all = JoinSet::new();
        for number in 0..50 {
            let (ssh, seconds) = (ssh.clone(), seconds.clone());
            all.spawn(async move {
                let script =
                    format!("yes | head -c 100000 & setsid sleep {seconds} & sleep 0.0{number}");
                let stdin = Stdin::Bytes(vec![b'x'; 1000 * number]);
                let start = ssh.start(Start { stdin, ..Start::new(script) });
                let pause = Duration::from_millis((number * 7 % 40) as u64);
                match (number + round) % 4 {
                    // Given up while it starts, or while it runs.
                    0 => drop(tokio::time::timeout(pause, start).await),
                    1 => {
                        let running = start.await.unwrap();
                        tokio::time::sleep(pause).await;
                        drop(running);
                    }
                    2 => start.await.unwrap().handle.terminate(pause).await,
                    _ => {
                        let running = start.await.unwrap();
                        assert_eq!(running.handle.wait().await, Exit::Code(0));
                    }
                }
            });
        }
        while let Some(done) = all.join_next().await {
            done.unwrap();
        }
    }
    await_sleepers(&seconds, 0).await;
    let mut after = String::new();
    for _ in 0..200 {
        after = holdings(&ssh).await;
        if after == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(after, before);
    host.close(&ssh).await;
}

/// The most memory that a process has had, in KiB.
const HIGHEST: &str = "awk '/VmHWM/ { print $2 }'";

async fn output_is_bounded(host: &Host) {
    let ssh = host.connect().await;
    let own = || -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let before = own();
    let mut running = ssh.start(Start::new("head -c 100000000 /dev/zero")).await.unwrap();
    // A reader that comes late.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (mut count, mut chunk) = (0, vec![0; 30_000]);
    loop {
        match running.output.read(&mut chunk).await.unwrap() {
            0 => break,
            more => count += more,
        }
    }
    assert_eq!((count, running.handle.wait().await), (100_000_000, Exit::Code(0)));
    let script =
        format!("{HIGHEST} /proc/$(awk '/^PPid/ {{ print $2 }}' /proc/$PPID/status)/status");
    let relay: u64 = output(&ssh, &script).await.trim().parse().unwrap();
    assert!(relay < 24 * 1024, "{relay} KiB");
    assert!(own() - before < 24 * 1024, "{} KiB before, {} after", before, own());
    host.close(&ssh).await;
}

async fn bytes_are_kept(host: &Host) {
    let ssh = host.connect().await;
    let script = "head -c 3000000 /dev/urandom | tee random";
    let mut running = ssh.start(Start::new(script)).await.unwrap();
    let mut bytes = Vec::new();
    running.output.read_to_end(&mut bytes).await.unwrap();
    assert!(bytes == fs::read(host.home().join("random")).unwrap());
    host.close(&ssh).await;
}

async fn a_stuck_reader_is_alone(host: &Host) {
    let ssh = host.connect().await;
    let mut stuck = Vec::new();
    for _ in 0..5 {
        stuck.push(ssh.start(Start::new("yes")).await.unwrap());
    }
    assert_eq!(output(&ssh, "echo on").await, "on\n");
    let mut noisy = stuck.pop().unwrap();
    let mut some = vec![0; 5_000_000];
    noisy.output.read_exact(&mut some).await.unwrap();
    // Nobody reads any more: it is told as by a pipe.
    drop(noisy.output);
    assert_eq!(noisy.handle.wait().await, Exit::Code(141));
    drop(stuck);
    host.close(&ssh).await;
}

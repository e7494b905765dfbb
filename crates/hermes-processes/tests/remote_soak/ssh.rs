//! Very many commands of a host behind ssh at once.

use std::sync::Arc;

use hermes_exec::environment::{Close, Environment as _};

use crate::host::Host;
use crate::server::kill_sessions;
use crate::soak::table::Table;
use crate::soak::{Cut, Plan, soak};

/// With `cut_after` the server's end of the connection is killed after so many commands.
async fn run(host: Host, plan: Plan, cut_after: Option<u64>) -> Table {
    let ssh = Arc::new(host.connect().await);
    let home = host.folder.path().join("lists");
    let cut = cut_after.map(|after| {
        let server = host.server.as_ref().unwrap().pid();
        Cut { after, how: Box::pin(async move { kill_sessions(server) }) }
    });
    let table = soak(Arc::clone(&ssh) as Arc<_>, home, plan, cut).await;
    ssh.close(Close::Remove).await;
    // The folders of the two sessions stay there; nothing of the relay does.
    assert!(host.files().len() <= 2, "{:?}", host.files());
    println!("{table}");
    table
}

fn plan(seed: u64, commands: u64, at_once: u64) -> Plan {
    Plan { seed, commands, at_once, terminals: true }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_one() {
    run(Host::stand_in("sh"), plan(4, 80, 20), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_one_by_the_other_relay() {
    let host = Host::stand_in("sh").without_perl();
    if host.has_python().await {
        run(host, plan(4, 80, 20), None).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_goes() {
    let Some(host) = Host::real("/bin/sh").await else { return };
    let table = run(host, plan(5, 100, 20), Some(40)).await;
    // What comes later has a new one.
    assert!(table.of("lost") < 60, "{table}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn the_whole_of_it() {
    let Some(host) = Host::real("/bin/sh").await else { return };
    run(host, plan(0x55, 1000, 50), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn many_over_a_connection_that_goes() {
    let Some(host) = Host::real("/bin/sh").await else { return };
    let table = run(host, plan(0x56, 1000, 50), Some(500)).await;
    assert!(table.of("lost") < 400, "{table}");
}

//! Sessions of commands on a host.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::Environment as _;
use hermes_exec::session::{Ended, Foreground, Initial, Session};
use pretty_assertions::assert_eq;

use crate::host::{Host, on_hosts, sleepers, unique_sleep};

on_hosts!(a_session_keeps_its_state, a_command_has_its_time);

async fn run(session: &Session, cwd: &mut String, command: Foreground) -> (String, Ended) {
    let mut said = Vec::new();
    let mut take = |bytes: &[u8]| said.extend_from_slice(bytes);
    let finished = session.run(command, &mut take, std::future::pending()).await.unwrap();
    if let Some(new) = finished.cwd {
        *cwd = new;
    }
    (String::from_utf8_lossy(&said).into_owned(), finished.ended)
}

async fn a_session_keeps_its_state(host: &Host) {
    let ssh = Arc::new(host.connect().await);
    let session = Session::new(ssh.clone(), Initial { is_login: true, ..Initial::default() });
    let mut cwd = ssh.initial_cwd().to_owned();
    for (command, said, code) in [
        ("pwd", format!("{}\n", host.home().display()), 0),
        ("export A=1; f() { echo f $A; }; mkdir -p x/y; cd x/y && exit 3", String::new(), 3),
        ("f; basename \"$PWD\"; set -e; cd ..; false", "f 1\ny\n".to_owned(), 1),
        ("basename \"$PWD\"; (sleep 5; echo late) & echo now", "x\nnow\n".to_owned(), 0),
        ("printf 'no end'; exit 4", "no end".to_owned(), 4),
    ] {
        let foreground = Foreground::new(command, &*cwd);
        let done = run(&session, &mut cwd, foreground).await;
        assert_eq!(done, (said, Ended::Exited(code)), "{command}");
    }
    drop(session);
    ssh.close(hermes_exec::environment::Close::AsConfigured).await;
}

async fn a_command_has_its_time(host: &Host) {
    let ssh = Arc::new(host.connect().await);
    let session = Session::new(ssh.clone(), Initial::default());
    let mut cwd = "~".to_owned();
    let seconds = unique_sleep();
    let script = format!("echo begin; setsid sleep {seconds} & sleep {seconds}");
    let limit = Some(Duration::from_millis(500));
    let slow = Foreground { timeout: limit, ..Foreground::new(script, "~") };
    let (said, ended) = run(&session, &mut cwd, slow).await;
    // The shell may speak of the end of its children.
    assert!(said.starts_with("begin\n"), "{said}");
    assert_eq!(ended, Ended::TimedOut);
    assert_eq!(sleepers(&seconds), 0);
    ssh.close(hermes_exec::environment::Close::AsConfigured).await;
}

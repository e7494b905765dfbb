//! A host behind ssh, from start to end.
//!
//! What a host must do is tried on two kinds: a stand-in, where a script takes the place of `ssh`
//! and runs on this machine what it is told to, and a real server on 127.0.0.1, where there is one.
//! `HERMES_TEST_SSHD` names the server's program, as unpacked from Debian's package beside that of
//! nss_wrapper, which makes up the users; `HERMES_TEST_SSH` the client's, if it isn't in `PATH`.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

mod commands;
mod ends;
mod host;
mod limits;
mod refusals;
mod server;
mod sessions;

/// Says what is skipped, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_a_server() {
    match host::Host::real("/bin/sh").await {
        Some(_) => println!("hosts behind ssh: tried on a real server"),
        None => println!("hosts behind ssh: tried on a stand-in only"),
    }
}

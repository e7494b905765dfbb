//! Very many commands at once in a container and on a host behind ssh, and what is left of them.
//!
//! The whole of it: `cargo nextest run -p hermes-processes --test remote_soak --run-ignored all
//! --no-capture`. The machines are those of the tests of `hermes-exec-docker` and
//! `hermes-exec-ssh`, by the same variables.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers"
)]
#![expect(clippy::print_stdout, reason = "its counts are what it is for")]

mod docker;
#[allow(dead_code, unused_imports, unused_macros, reason = "more than is needed here")]
#[path = "../../../hermes-exec-ssh/tests/ssh/host.rs"]
mod host;
#[allow(dead_code, reason = "more than is needed here")]
#[path = "../../../hermes-exec-ssh/tests/ssh/server.rs"]
mod server;
#[path = "../soak/mod.rs"]
mod soak;
mod ssh;

//! Confined shells, run for real by each mechanism that this machine has.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests aren't seen as tests, and they tell what was skipped"
)]

mod development;
mod files;
mod lives;
mod network;
mod world;

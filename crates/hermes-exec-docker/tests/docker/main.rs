//! Containers of a real engine: what runs in them, how it ends, and what becomes of them.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod commands;
mod ending;
mod lifecycle;
mod world;

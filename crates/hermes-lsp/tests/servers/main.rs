//! Language servers, started as the tools start them: a fake one that behaves badly, and real ones.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests aren't seen as tests, and they tell what was skipped"
)]

mod fake;
mod real;
mod world;

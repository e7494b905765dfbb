//! Tests over several crates.
//!
//! [`runner`] runs the conformance cases in `cases/` against the crates that own the functions;
//! [`fixture`] is the world those cases live in. Run them with
//! `cargo nextest run -p hermes-tests --test cases`; `HERMES_CASES_DIR` names another folder of
//! cases.

#![expect(
    clippy::indexing_slicing,
    reason = "reading a JSON value by key never panics, and a slip in test code has to fail"
)]

mod bind;
mod compare;
#[cfg(unix)]
pub mod environment;
pub mod fixture;
pub mod pending;
pub mod runner;
#[cfg(unix)]
#[path = "../../crates/hermes-fs/tests/remote/shell.rs"]
mod shell;
mod world;

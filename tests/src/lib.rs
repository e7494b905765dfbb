//! Tests over several crates.
//!
//! [`runner`] runs the conformance cases in `cases/` against the crates that own the functions;
//! [`fixture`] is the world those cases live in. Run them with
//! `cargo nextest run -p hermes-tests --test cases`; `HERMES_CASES_DIR` names another folder of
//! cases.

mod bind;
mod compare;
pub mod fixture;
pub mod pending;
pub mod runner;
mod world;

#![doc = include_str!("../README.md")]
#![cfg(unix)]

mod api;
mod cli;
mod container;
mod engine;
mod environment;
mod instant;
mod options;
mod orphans;
mod reuse;
mod run_args;
mod transport;
pub mod values;

pub use engine::Engine;
pub use environment::DockerEnvironment;
pub use hermes_exec_container::Mount;
pub use options::Options;
pub use orphans::is_orphan;
pub use reuse::{Pick, reuse_pick};
pub use run_args::{Facts, own_folders, run_args};

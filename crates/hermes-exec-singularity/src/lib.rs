#![doc = include_str!("../README.md")]
#![cfg(unix)]

mod client;
mod environment;
mod image;
mod instance;
mod options;
mod overlays;
mod scratch;

pub use client::is_available;
pub use environment::{SingularityEnvironment, open};
pub use hermes_exec_container::Mount;
pub use instance::start_args;
pub use options::Options;
pub use overlays::Overlays;

#![doc = include_str!("../README.md")]

mod checkpointer;
mod checkpoints;
mod config;
mod diff;
mod error;
mod exclude;
mod git;
mod history;
mod layout;
mod names;
mod project;
mod prune;
mod restore;
mod room;
mod snapshot;
mod stage;
mod status;
mod store;
#[cfg(all(test, unix))]
mod tests;
mod walk;

pub use checkpoints::{Checkpoints, Outcome, Skipped};
pub use config::CheckpointConfig;
pub use diff::Diff;
pub use error::CheckpointError;
pub use history::Entry;
pub use project::project_root;
pub use prune::Pruned;
pub use restore::Restored;
pub use status::{ProjectStatus, Status};

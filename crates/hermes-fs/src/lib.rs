#![doc = include_str!("../README.md")]

mod backend;
mod error;
mod local;
mod plan;
mod remote;
pub mod search;
mod secrets;
mod stat;
mod turn;
mod workplace;

pub use backend::{Content, FileBackend, GoesOn, Name, Opened, ReadLink};
pub use error::{CommitError, FsError};
pub use local::LocalFs;
pub use plan::{Committed, Held, Move, Old, Plan, Removal, Write};
pub use remote::{Ran, RemoteFs, Run, Shell};
pub use secrets::hidden;
pub use stat::{Closed, Kind, Stamp, Stat};
pub use workplace::{Bases, Workplace, Workplaces, working_directory};

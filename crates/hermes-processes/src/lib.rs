#![doc = include_str!("../README.md")]

mod checkpoint;
mod events;
mod job;
mod processes;
mod pump;
mod recovered;
mod screen;
mod spool;
mod state;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod tagged;

pub use checkpoint::Routing;
pub use events::{Event, EventKind, Recipient};
pub use job::{InputError, Killed, Process, Waited};
pub use processes::{Mask, Options, Processes, Spawn};
pub use screen::Screen;
pub use state::{Ended, Reason, Source};

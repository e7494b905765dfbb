#![doc = include_str!("../README.md")]
#![cfg(unix)]

mod census;
mod commands;
mod ending;
mod handle;
mod marks;
mod mount;
mod names;
mod pump;
mod reaper;
mod transport;
mod upload;
mod wrapper;

pub use commands::Commands;
pub use mount::Mount;
pub use names::{path_segment, unique};
pub use transport::{Exec, Fate, Transport};

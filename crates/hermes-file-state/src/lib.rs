#![doc = include_str!("../README.md")]

mod bounded;
mod command;
mod delegate;
mod key;
mod lines;
mod reading;
mod stamp;
mod state;
mod task;
mod writing;

#[cfg(test)]
mod tests;

pub use command::{CommandWatch, command_note};
pub use key::{FileKey, Window};
pub use reading::{Repeated, Shown, WARN_AFTER};
pub use stamp::{HASHED_SIZE, Stamp};
pub use state::{FileState, task_of};
pub use writing::{Edit, Warning};

#![doc = include_str!("../README.md")]

mod file;
mod log;
mod rotate;

pub use log::{AuditLog, LONGEST_RECORD, Limits};

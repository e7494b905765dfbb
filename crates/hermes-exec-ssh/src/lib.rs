#![doc = include_str!("../README.md")]
#![cfg(unix)]

mod command;
mod connect;
mod connection;
mod failure;
mod options;
mod output;
mod protocol;
mod socket;
mod ssh;

pub use options::Options;
pub use ssh::Ssh;

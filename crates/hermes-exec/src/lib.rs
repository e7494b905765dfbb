#![doc = include_str!("../README.md")]

pub mod environment;
#[cfg(unix)]
pub mod local;
pub mod program;
pub mod remote;
#[cfg(unix)]
pub mod session;

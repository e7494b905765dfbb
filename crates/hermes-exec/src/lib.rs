#![doc = include_str!("../README.md")]

pub mod environment;
#[cfg(unix)]
pub mod local;
pub mod program;
#[cfg(unix)]
pub mod session;

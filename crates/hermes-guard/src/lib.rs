#![doc = include_str!("../README.md")]

pub mod destructive;
pub mod packages;
pub mod paths;
pub mod redact;
pub mod threats;
pub mod urls;

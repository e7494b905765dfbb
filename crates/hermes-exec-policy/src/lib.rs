#![doc = include_str!("../README.md")]

pub mod child_env;
pub mod choice;
pub mod config;
mod digest;
pub mod files;
pub mod isolation;

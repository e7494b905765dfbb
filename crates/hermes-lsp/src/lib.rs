#![doc = include_str!("../README.md")]

mod catalog;
mod config;
mod delta;
mod lines;
mod place;
mod problem;
mod report;
mod uri;
mod wire;

pub use config::{Command, LspConfig, ServerConfig, Strategy, WaitMode};

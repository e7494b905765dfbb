#![doc = include_str!("../README.md")]

mod catalog;
mod config;
mod conversation;
mod delta;
mod file;
mod lines;
mod place;
mod problem;
mod protocol;
mod report;
mod server;
mod service;
mod threads;
mod uri;
mod wait;
mod wire;

pub use config::{Command, LspConfig, ServerConfig, Strategy, WaitMode};
pub use service::LanguageServers;

#![doc = include_str!("../README.md")]

mod api;
mod command;
mod control;
mod daytona;
mod frames;
mod logs;
mod multipart;
mod options;
mod sandbox;
mod terminal;
mod toolbox;
mod wrapper;

pub use daytona::Daytona;
pub use options::{Credentials, Options};

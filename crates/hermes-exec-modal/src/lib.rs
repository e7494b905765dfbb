#![doc = include_str!("../README.md")]

mod api;
mod channel;
mod command;
mod direct;
mod image;
mod managed;
mod options;
mod profile;
mod proto;
mod router;
mod rpc;
mod sandbox;
mod snapshots;

pub use direct::Modal;
pub use managed::{ManagedModal, ManagedOptions, Tokens};
pub use options::Options;
pub use profile::{Credentials, Profile};

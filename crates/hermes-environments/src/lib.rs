#![doc = include_str!("../README.md")]

mod environments;
mod factory;
mod files;
mod folders;
mod lease;
mod overrides;
mod reaper;

pub use environments::{Environments, Setup};
pub use factory::{Factory, Local, Request};
pub use lease::Lease;
pub use overrides::Overrides;

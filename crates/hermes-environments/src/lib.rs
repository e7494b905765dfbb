#![doc = include_str!("../README.md")]

mod carried;
mod confine;
mod environments;
mod factory;
mod facts;
mod files;
mod folders;
mod lease;
mod overrides;
mod reaper;
mod sync;

pub use carried::Bind;
pub use confine::Confined;
pub use environments::{Environments, Setup};
pub use factory::{Factory, Request};
pub use lease::Lease;
pub use overrides::Overrides;
pub use sync::Synced;

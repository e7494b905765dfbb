#![doc = include_str!("../README.md")]

mod carried;
mod confine;
mod environments;
mod factory;
mod facts;
mod files;
mod folders;
mod lease;
mod memory;
mod overrides;
#[cfg(unix)]
mod owner;
mod reaper;
mod sync;

pub use carried::Bind;
pub use confine::Confined;
pub use environments::{Environments, Setup};
pub use factory::{Factory, Request};
pub use lease::Lease;
pub use overrides::Overrides;
#[cfg(unix)]
pub use owner::Abandoned;
pub use sync::Synced;

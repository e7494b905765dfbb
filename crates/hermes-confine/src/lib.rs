#![doc = include_str!("../README.md")]

mod bubblewrap;
mod confinement;
mod explain;
mod kernel;
mod mode;
mod probe;
mod report;
mod rules;
mod sockets;

pub use self::confinement::{Confinement, Unavailable};
pub use self::mode::{Mode, UnknownMode};
pub use self::probe::Probe;
pub use self::report::{Filesystem, Mechanism, Network, Report};
pub use self::rules::Rules;

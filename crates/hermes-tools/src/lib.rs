//! hermes-tools

pub mod credentials;
pub mod distribution;
pub mod suggest;
pub mod toolset;

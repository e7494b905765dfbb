//! hermes-tests

mod bind;
pub mod world;

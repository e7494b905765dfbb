#![doc = include_str!("../README.md")]

mod data;
#[cfg(any(feature = "grammars", feature = "python", feature = "rust"))]
mod deep;
mod diagnostics;
mod kind;
mod lint;
mod problem;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "rust")]
mod rust;
#[cfg(feature = "grammars")]
mod syntax;
#[cfg(test)]
mod tests;

pub use diagnostics::{Change, Diagnostics};
pub use kind::Kind;
pub use lint::{Before, Lint, check};

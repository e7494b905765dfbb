#![doc = include_str!("../README.md")]

mod config;
mod error;
mod exporter;
mod pairs;
mod send;

pub use error::OtelError;
pub use exporter::{Exporter, PATIENCE};

#![doc = include_str!("../README.md")]

mod document;
#[cfg(any(feature = "office", feature = "pdf"))]
mod inflate;
mod notebook;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(any(feature = "office", feature = "pdf"))]
mod text;

pub use document::{Document, ExtractError, Kind, MAX_BYTES, Options, extract};

#![doc = include_str!("../README.md")]

mod ansi;
mod clean;
mod collect;
mod settle;
mod store;
mod utf8;
mod window;

pub use ansi::{Stripper, sanitize_display_text, strip_ansi};
pub use clean::Cleaner;
pub use collect::Collector;
pub use settle::Settler;
pub use utf8::Decoder;
pub use window::{DEFAULT_LIMIT, Output, Window};

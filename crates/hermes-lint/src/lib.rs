//! What is said about a file after it was written: whether it still parses, and what language
//! servers make of it.

mod diagnostics;

pub use diagnostics::{Change, Diagnostics};

//! How long a result may be, and what stands in for a longer one.
//!
//! A result over its [`Threshold`] is stored in a file, and a short block with the path and the
//! beginning goes into the conversation: [`limit`] says whether and with what. [`spill_order`]
//! does the same for the results of a turn that are too much together. Whether a result has been
//! stored is for the caller to remember; nothing here looks for marks in the text, which could be
//! the tool's own words.
//!
//! Lengths are in characters (Unicode scalar values) unless bytes are said.

mod budget;
mod file_name;
mod spill;
mod stand_in;

pub use budget::{LimitConfig, ResultBudget, Threshold, threshold};
pub use file_name::file_name;
pub use spill::{Item, spill_order};
pub use stand_in::{Limited, limit, longer_than, persisted_block, preview, truncated};

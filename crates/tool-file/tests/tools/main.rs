//! The tools as a host starts them: JSON in, JSON out, on real files.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]

mod checks;
mod declarations;
mod guards;
mod patch;
mod patch_files;
mod read;
mod search;
mod world;
mod write;

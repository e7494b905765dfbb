//! The tools as a host starts them: JSON in, JSON out, on real files.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]

#[cfg(feature = "languages")]
mod checks;
mod consent;
mod declarations;
mod documents;
#[cfg(unix)]
mod elsewhere;
mod guards;
mod patch;
mod patch_files;
mod read;
mod search;
#[cfg(unix)]
#[path = "../../../hermes-fs/tests/remote/shell.rs"]
mod shell;
mod state;
mod world;
mod write;

//! What machines that are reached by a protocol of requests have in common: how a command is
//! started there so that it can be found again, and how it is ended.

mod feed;
mod launch;
mod told;

pub use feed::{Fed, Feed, feed, pumped};
pub(crate) use launch::is_name;
pub use launch::{LONGEST_ARGUMENT, TAG, ending, from_file, launch, quoted, with_env};
pub use told::told;

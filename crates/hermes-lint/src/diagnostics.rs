//! What is asked of language servers, whoever runs them.

use std::path::Path;

/// A change of one file that was written to disk.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The file: absolute, without symbolic links.
    pub path: &'a Path,
    /// What was in it; none when it is new or had no text.
    pub old: Option<&'a str>,
    /// What is in it now.
    pub new: &'a str,
}

/// Tells what is wrong with a file that was changed. A host lends one to the tools that write.
///
/// Its methods may block, for a bounded time. They never fail: where there is nothing to tell,
/// for want of a server too, nothing is told.
pub trait Diagnostics: Send + Sync {
    /// Whether a server looks after files such as this one, so that lesser checks can be left out.
    fn covers(&self, path: &Path) -> bool;

    /// Looks at a file that is about to be changed, to tell later what was wrong before.
    ///
    /// Where several files change together, this is called for each of them, then all are written,
    /// then [`after`](Self::after) is called for each: what is wrong with one may depend on others.
    /// Also for files that aren't there yet.
    fn before(&self, path: &Path);

    /// The errors that the change brought, as a text for the model; none when there are none.
    fn after(&self, change: &Change<'_>) -> Option<String>;
}

//! Putting a full file aside.

use std::fs;
use std::io;
use std::path::Path;

use crate::file::with_suffix;

/// Renames the file at `path` to `NAME.1` and those put aside before to the next numbers; with
/// `keep` of them there already, the oldest goes. Whoever calls this holds the lock.
pub(crate) fn rotate(path: &Path, keep: u32) -> io::Result<()> {
    if keep == 0 {
        return fs::remove_file(path);
    }
    let aside = |number: u32| with_suffix(path, &format!(".{number}"));
    // A gap is filled, and what is after it stays.
    let last = (1..keep).find(|number| fs::symlink_metadata(aside(*number)).is_err());
    for number in (1..last.unwrap_or(keep)).rev() {
        fs::rename(aside(number), aside(number + 1))?;
    }
    fs::rename(path, aside(1))
}

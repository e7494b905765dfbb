//! Where a command finds programs.

use std::path::Path;

#[cfg(windows)]
const SEPARATOR: char = ';';
#[cfg(not(windows))]
const SEPARATOR: char = ':';

/// Where programs usually are.
#[cfg(windows)]
const USUAL: [&str; 0] = [];
#[cfg(not(windows))]
const USUAL: [&str; 8] = [
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// A `PATH` without empty and repeated entries, with the usual folders at its end, and with the
/// folder of this program at its start unless it is somewhere in it.
#[must_use]
pub fn repair_path(path: &str, program_dir: Option<&Path>) -> String {
    // An empty entry stands for the working directory, where anybody's program may lie.
    let own = path.split(SEPARATOR).filter(|entry| !entry.is_empty());
    let mut entries: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    entries.extend(own.chain(USUAL).filter(|entry| seen.insert(*entry)));
    let program_dir = program_dir.and_then(Path::to_str);
    if let Some(dir) = program_dir.filter(|dir| !dir.is_empty() && !dir.contains(SEPARATOR))
        && !seen.contains(dir)
    {
        entries.insert(0, dir);
    }
    entries.join(&SEPARATOR.to_string())
}

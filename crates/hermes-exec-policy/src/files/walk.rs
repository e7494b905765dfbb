//! The ordinary files of a tree.

use std::fs;
use std::path::{Path, PathBuf};

/// How many entries of a tree are looked at.
const MAX_ENTRIES: usize = 50_000;

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Ordinary files by their path below the root, divided by `/`; sorted.
    pub(super) files: Vec<(String, PathBuf)>,
    /// Whether something was left out: a link, something that is no file, a name that is no text.
    pub(super) has_others: bool,
    /// Whether the tree was too large to be looked at as a whole, or part of it can't be read.
    pub(super) is_partial: bool,
}

/// Walks a tree without ever following a link below its root.
pub(super) fn walk(root: &Path) -> Walked {
    let mut walked = Walked::default();
    let mut folders = vec![(String::new(), root.to_owned())];
    let mut count = 0;
    while let Some((prefix, folder)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            walked.is_partial = true;
            continue;
        };
        for entry in entries {
            count += 1;
            let Ok(entry) = entry else {
                walked.is_partial = true;
                continue;
            };
            if count > MAX_ENTRIES {
                walked.is_partial = true;
                walked.files.sort();
                return walked;
            }
            let name = entry.file_name();
            // A backslash would divide names on the other side of some transports.
            let name = name.to_str().filter(|name| !name.contains(['\\', '\n']));
            match (name, entry.file_type()) {
                (Some(name), Ok(kind)) if kind.is_dir() => {
                    folders.push((format!("{prefix}{name}/"), entry.path()));
                }
                (Some(name), Ok(kind)) if kind.is_file() => {
                    walked.files.push((format!("{prefix}{name}"), entry.path()));
                }
                _ => walked.has_others = true,
            }
        }
    }
    walked.files.sort();
    walked
}

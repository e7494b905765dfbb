//! Keeping a path within a folder.

use std::io;
use std::path::{Path, PathBuf};

use super::links::follow;

/// Whether a part of the path is `..`. Both `/` and `\` separate parts, whatever the system.
#[must_use]
pub fn has_traversal(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == "..")
}

/// Where `path` leads, if that is `root` or below it; an absolute path replaces the root. Parts
/// that don't exist yet are taken by their letters. What can't be told (links in circles, a link
/// that can't be read, a NUL) isn't inside.
///
/// `read_link` is as for [`follow`]. Between this and opening the path, links may change: open
/// what this gives, without following links.
#[must_use]
pub fn inside(
    root: &Path,
    path: &Path,
    mut read_link: impl FnMut(&Path) -> io::Result<Option<PathBuf>>,
) -> Option<PathBuf> {
    if !root.is_absolute() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return None;
    }
    let real_root = follow(root, &mut read_link).ok()?.real;
    let real = follow(&real_root.join(path), read_link).ok()?.real;
    real.starts_with(real_root).then_some(real)
}

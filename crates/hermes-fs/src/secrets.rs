//! Which of the files that a search comes upon aren't shown.

use std::path::Path;

use hermes_guard::paths::{Places, read};

use crate::backend::{FileBackend, GoesOn};

/// Whether the name and content of each file are left out. The paths have no links.
///
/// A file that may be a private key by its name, and can't be looked at, is left out.
#[must_use]
pub fn hidden(
    backend: &dyn FileBackend,
    places: &Places,
    paths: &[&Path],
    go: GoesOn<'_>,
) -> Vec<bool> {
    let mut hidden: Vec<bool> =
        paths.iter().map(|path| read::denied_below(places, path).is_some()).collect();
    let (slots, doubtful): (Vec<&mut bool>, Vec<&Path>) = hidden
        .iter_mut()
        .zip(paths)
        .filter(|(hidden, path)| !**hidden && read::may_hold_private_key(path))
        .map(|(hidden, path)| (hidden, *path))
        .unzip();
    if doubtful.is_empty() {
        return hidden;
    }
    let heads = backend.heads(&doubtful, read::KEY_SAMPLE, go).unwrap_or_default();
    let mut heads = heads.into_iter();
    for slot in slots {
        let head = heads.next().flatten();
        *slot = head.is_none_or(|head| read::holds_private_key(&head));
    }
    hidden
}

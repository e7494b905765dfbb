//! Which files a snapshot is to hold.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::exclude;
use crate::names::{Name, to_name, to_path};

/// What the files of a project are looked up by.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The checkpoint folder itself, which may lie in the project.
    pub(crate) base: PathBuf,
    pub(crate) max_entries: usize,
    pub(crate) max_file_size: Option<u64>,
}

/// What git is to do with its index.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// Files to take as they are now.
    pub(crate) present: BTreeSet<Name>,
    /// Files of the index to drop.
    pub(crate) gone: BTreeSet<Name>,
}

/// Decides about all files: those found, those `tracked` by the index, and those that are to be
/// kept whatever their size. None if there are too many. Blocks.
pub(crate) fn plan(
    root: &Path,
    limits: &Limits,
    tracked: HashSet<Name>,
    keep: &[Name],
) -> Option<Plan> {
    let mut present = walk(root, limits)?;
    let mut folders = Folders::new(root);
    let is_too_large = |meta: &Metadata| is_too_large(meta, limits.max_file_size);
    for name in &tracked {
        // Ignored by now, or in a folder that became a link.
        if !present.contains(name) && !exclude::path(name) {
            let meta = folders.file(name);
            if meta.is_some_and(|meta| !is_too_large(&meta)) {
                present.insert(name.clone());
            }
        }
    }
    for name in keep {
        if !present.contains(name) && folders.file(name).is_some() {
            present.insert(name.clone());
        }
    }
    let gone = tracked.into_iter().filter(|name| !present.contains(name)).collect();
    Some(Plan { present, gone })
}

/// Takes the files out of a plan that can't be read. Blocks.
pub(crate) fn drop_unreadable(root: &Path, plan: &mut Plan) {
    let is_readable = |name: &Name| {
        let Some(path) = to_path(name).map(|path| root.join(path)) else { return false };
        match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => path.read_link().is_ok(),
            Ok(meta) if meta.is_file() => File::open(path).is_ok(),
            _ => false,
        }
    };
    let unreadable: Vec<Name> =
        plan.present.iter().filter(|name| !is_readable(name)).cloned().collect();
    for name in unreadable {
        plan.present.remove(&name);
        plan.gone.insert(name);
    }
}

/// The files and links that are neither ignored nor excluded nor too large.
fn walk(root: &Path, limits: &Limits) -> Option<BTreeSet<Name>> {
    let base = limits.base.canonicalize().unwrap_or_else(|_| limits.base.clone());
    let found = WalkBuilder::new(root)
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        // The rules hold where there is no repository too, but none from above the project: a
        // home kept in git may ignore all there is.
        .require_git(false)
        .parents(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            let name = entry.file_name().as_encoded_bytes();
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || if is_folder {
                    !exclude::folder(name) && entry.path() != base
                } else {
                    !exclude::file(name)
                }
        })
        .build();
    let mut names = BTreeSet::new();
    let mut entries = 0_usize;
    // What can't be looked at is left out.
    for entry in found.flatten().filter(|entry| entry.depth() > 0) {
        entries += 1;
        if entries > limits.max_entries {
            return None;
        }
        let Some(kind) = entry.file_type() else { continue };
        let is_file = kind.is_file()
            && entry.metadata().is_ok_and(|meta| !is_too_large(&meta, limits.max_file_size));
        if !is_file && !kind.is_symlink() {
            continue;
        }
        let below = entry.path().strip_prefix(root).ok();
        names.extend(below.and_then(to_name));
    }
    Some(names)
}

fn is_too_large(meta: &Metadata, limit: Option<u64>) -> bool {
    meta.is_file() && limit.is_some_and(|limit| meta.len() > limit)
}

/// Looks files up without going through links.
pub(crate) struct Folders<'r> {
    root: &'r Path,
    known: HashMap<PathBuf, bool>,
}

impl<'r> Folders<'r> {
    pub(crate) fn new(root: &'r Path) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// The file or link of that name, if it is one and all folders above it are folders.
    pub(crate) fn file(&mut self, name: &[u8]) -> Option<Metadata> {
        let path = to_path(name)?;
        let meta = self.root.join(&path).symlink_metadata().ok()?;
        let is_file = meta.is_file() || meta.is_symlink();
        (is_file && self.are_folders(&path)).then_some(meta)
    }

    /// Whether everything above a relative path is a folder itself.
    fn are_folders(&mut self, path: &Path) -> bool {
        path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).all(|part| {
            if let Some(known) = self.known.get(part) {
                return *known;
            }
            let is = self.root.join(part).symlink_metadata().is_ok_and(|meta| meta.is_dir());
            self.known.insert(part.to_owned(), is);
            is
        })
    }
}

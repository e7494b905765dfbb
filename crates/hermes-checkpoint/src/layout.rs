//! Where everything lies below the checkpoint folder.

use std::path::{Path, PathBuf};

/// The paths of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) base: PathBuf,
}

impl Layout {
    /// The bare repository of all projects.
    pub(crate) fn store(&self) -> PathBuf {
        self.base.join("store")
    }

    /// Where it is made.
    pub(crate) fn new_store(&self) -> PathBuf {
        self.base.join("store.new")
    }

    /// The file that whoever changes the store holds locked.
    pub(crate) fn lock(&self) -> PathBuf {
        self.base.join(".lock")
    }

    /// When calls pruned last: the time of this file.
    pub(crate) fn last_prune(&self) -> PathBuf {
        self.base.join(".last_prune")
    }

    pub(crate) fn indexes(&self) -> PathBuf {
        self.store().join("indexes")
    }

    /// The index of a project.
    pub(crate) fn index(&self, id: &str) -> PathBuf {
        self.indexes().join(id)
    }

    /// An index for what is not to disturb the project's.
    pub(crate) fn scratch_index(&self, id: &str) -> PathBuf {
        self.indexes().join(format!("{id}.scratch"))
    }

    pub(crate) fn projects(&self) -> PathBuf {
        self.store().join("projects")
    }

    /// The note about a project.
    pub(crate) fn project(&self, id: &str) -> PathBuf {
        self.projects().join(format!("{id}.json"))
    }

    pub(crate) fn refs(&self) -> PathBuf {
        self.store().join("refs").join("hermes")
    }

    /// The commits whose parents count as missing.
    pub(crate) fn shallow(&self) -> PathBuf {
        self.store().join("shallow")
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.store().join("objects")
    }

    /// Whether a file of the checkpoint folder belongs to the present layout.
    pub(crate) fn is_ours(name: &str) -> bool {
        matches!(name, "store" | "store.new" | ".lock" | ".last_prune") || Self::is_legacy(name)
    }

    /// Whether it is an older layout that was moved aside.
    pub(crate) fn is_legacy(name: &str) -> bool {
        name.starts_with("legacy-")
    }
}

/// The ref of a project.
pub(crate) fn ref_name(id: &str) -> String {
    format!("refs/hermes/{id}")
}

/// Whether the present folder of a project may be gone for good.
pub(crate) fn is_gone(folder: &Path) -> bool {
    // A name that was no text when it was noted can't be looked for; a place that can't be looked
    // at may still be there.
    !folder.to_string_lossy().contains('\u{fffd}')
        && matches!(folder.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

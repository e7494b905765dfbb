//! Which folder a snapshot is of.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// What lies in the top folder of a project.
const MARKERS: [&str; 9] = [
    ".git",
    ".hg",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "pom.xml",
    "Gemfile",
];

/// The folder of the project that `path`, a file or a folder, belongs to: the nearest one with a
/// marker such as `.git` or `Cargo.toml`, else the folder itself or the file's.
///
/// The search ends below `home`: a marker there says nothing about what lies beneath. A path that
/// doesn't exist yet belongs where its nearest existing folder does. Looks at the file system.
#[must_use]
pub fn project_root(path: &Path, home: Option<&Path>) -> PathBuf {
    let folder = path.ancestors().find(|place| place.is_dir()).unwrap_or(path);
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let home = home.and_then(|home| home.canonicalize().ok());
    let root = folder
        .ancestors()
        .take_while(|place| !is_protected(place, home.as_deref()))
        .find(|place| MARKERS.iter().any(|marker| place.join(marker).symlink_metadata().is_ok()));
    root.map(Path::to_owned).unwrap_or(folder)
}

/// Whether no snapshot may be taken of a folder: `/`, the home, and what the home lies in.
pub(crate) fn is_protected(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

/// A folder and the name of its snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    /// Without symbolic links.
    pub(crate) folder: PathBuf,
    /// The first 16 hex digits of the SHA-256 of the folder's path.
    pub(crate) id: String,
}

impl Project {
    pub(crate) fn new(folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let id = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { folder, id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_marker_wins_and_home_has_none() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("p/q/r")).unwrap();
        fs::create_dir(home.join(".git")).unwrap();
        let root = |path: &str| project_root(&home.join(path), Some(&home));
        assert_eq!(root("p/q/r/new/file"), home.join("p/q/r"));
        fs::write(home.join("p/Makefile"), "").unwrap();
        assert_eq!(root("p/q/r/new/file"), home.join("p"));
        fs::write(home.join("p/q/go.mod"), "").unwrap();
        assert_eq!(root("p/q/r"), home.join("p/q"));
        assert_eq!(root("file"), home);
    }

    #[test]
    fn the_home_and_what_it_lies_in_are_protected() {
        let home = Some(Path::new("/home/ann"));
        for folder in ["/", "/home", "/home/ann"] {
            assert!(is_protected(Path::new(folder), home), "{folder}");
        }
        assert!(!is_protected(Path::new("/home/ann/p"), home));
        assert!(!is_protected(Path::new("/home/anna"), home));
    }

    #[test]
    fn the_id_is_that_of_the_path() {
        assert_eq!(Project::new(Path::new("/")).id, "8a5edab282632443");
    }
}

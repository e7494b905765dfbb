//! Where `cargo xtask ci` builds, so that dependencies are compiled once and not once per checkout.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cargo::{cargo, succeed};
use crate::project::Project;

/// The file in the target folder that names the checkout which was built there last.
const STAMP: &str = "checkout.txt";

/// The target folder to use: none when `CARGO_TARGET_DIR` says it, else one in the user's cache.
pub(super) fn prepare(project: &Project) -> Result<Option<PathBuf>> {
    if std::env::var_os("CARGO_TARGET_DIR").is_some_and(|folder| !folder.is_empty()) {
        return Ok(None);
    }
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let Some(folder) = folder(variable("XDG_CACHE_HOME"), variable("HOME")) else {
        return Ok(None);
    };
    if let Err(err) = fs::create_dir_all(&folder) {
        println!("can't make {} ({err}), so builds go to the checkout", folder.display());
        return Ok(None);
    }
    let root = fs::canonicalize(&project.root)?;
    if is_another_checkout(&folder, &root) {
        // Cargo names what it builds by its path below the root and compares times, so it would
        // take another checkout's crates for this one's. Dependencies are the same for all.
        succeed(
            cargo(&root).args(["clean", "--quiet", "--workspace"]).env("CARGO_TARGET_DIR", &folder),
        )?;
    }
    let stamp = folder.join(STAMP);
    fs::write(&stamp, root.as_os_str().as_encoded_bytes())
        .with_context(|| format!("can't write {}", stamp.display()))?;
    println!("builds go to {}", folder.display());
    Ok(Some(folder))
}

fn folder(cache: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let cache = cache.or_else(|| home.map(|home| home.join(".cache")))?;
    Some(cache.join("hermes-tools/target"))
}

/// Whether something was built in `folder` for a checkout other than `root`.
fn is_another_checkout(folder: &Path, root: &Path) -> bool {
    fs::read(folder.join(STAMP)).is_ok_and(|last| last != root.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_in_the_users_cache() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(folder(path("/c"), path("/h")), path("/c/hermes-tools/target"));
        assert_eq!(folder(None, path("/h")), path("/h/.cache/hermes-tools/target"));
        assert_eq!(folder(None, None), None);
    }

    #[test]
    fn another_checkout_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let is_another = |root: &str| is_another_checkout(folder.path(), Path::new(root));
        assert!(!is_another("/a"));
        fs::write(folder.path().join(STAMP), "/a").unwrap();
        assert!(!is_another("/a"));
        assert!(is_another("/b"));
    }
}

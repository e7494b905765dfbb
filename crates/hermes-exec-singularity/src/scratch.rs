//! The folder for what is large.

use std::fs;
use std::path::{Path, PathBuf};

use crate::client::Client;
use crate::options::Options;

/// How many files are looked at for the amount that is in the folder.
const FILES: usize = 1_000_000;

/// The folder for images and overlays; it is there then.
pub(crate) fn scratch(options: &Options, client: &Client) -> std::io::Result<PathBuf> {
    if let Some(scratch) = &options.scratch {
        fs::create_dir_all(scratch)?;
        return Ok(scratch.clone());
    }
    // Clusters have it.
    let user = client.variable("USER").filter(|user| !user.contains('/') && *user != "..");
    if let Some(user) = user
        && Path::new("/scratch").is_dir()
    {
        let scratch = Path::new("/scratch").join(user).join("hermes-agent");
        if fs::create_dir_all(&scratch).is_ok() && tempfile::tempfile_in(&scratch).is_ok() {
            return Ok(scratch);
        }
    }
    let scratch = options.sandbox_root.join("singularity");
    fs::create_dir_all(&scratch)?;
    Ok(scratch)
}

/// The folder for built images; it is there then.
pub(crate) fn cache(scratch: &Path, client: &Client) -> std::io::Result<PathBuf> {
    let named = client.variable("APPTAINER_CACHEDIR").map(PathBuf::from);
    let cache = named.unwrap_or_else(|| scratch.join(".apptainer"));
    fs::create_dir_all(&cache)?;
    Ok(cache)
}

/// Bytes in what is ours below the scratch folder, counted up to a number of files.
pub(crate) fn used(scratch: &Path) -> u64 {
    let is_ours = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with("hermes-"))
    };
    let entries = fs::read_dir(scratch).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.filter(is_ours).map(|entry| entry.path()).collect();
    let (mut bytes, mut files) = (0_u64, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            files += 1;
            if files > FILES {
                return bytes;
            }
            // Links aren't followed.
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                folders.push(entry.path());
            } else {
                bytes = bytes.saturating_add(data.len());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join("hermes-overlays/a/b");
        fs::create_dir_all(&ours).unwrap();
        fs::write(ours.join("f"), [0; 70]).unwrap();
        fs::write(folder.path().join("other"), [0; 900]).unwrap();
        std::os::unix::fs::symlink(folder.path(), ours.join("up")).unwrap();
        let link = fs::symlink_metadata(ours.join("up")).unwrap().len();
        assert_eq!(used(folder.path()), 70 + link);
    }
}

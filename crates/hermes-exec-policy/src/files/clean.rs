//! Skill trees without links, for mounts.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::changes::Stamp;
use super::walk::walk;
use crate::digest::short_hex;

/// The folder to mount in place of `tree`: itself if it holds ordinary files only, else a copy of
/// those in a folder below `copies`.
///
/// A mounted link would be followed inside the sandbox or, by a program of the host that reads what
/// the sandbox sees, outside. The copy's place is always the same and it is brought up to date in
/// place, so that containers that have it mounted go on seeing it.
///
/// # Errors
///
/// The tree can't be read as a whole, or the copy can't be written.
pub fn clean_tree(tree: &Path, copies: &Path) -> io::Result<PathBuf> {
    let tree = fs::canonicalize(tree)?;
    let walked = walk(&tree);
    if walked.is_partial {
        return Err(io::Error::other("the folder is too large, or part of it can't be read"));
    }
    if !walked.has_others {
        return Ok(tree);
    }
    let copy = copies.join(short_hex(tree.as_os_str().as_encoded_bytes(), 8));
    create_private(&copy)?;
    // Only folders of our own making may be written through.
    let present = walk(&copy);
    if present.has_others || present.is_partial {
        fs::remove_dir_all(&copy)?;
        create_private(&copy)?;
    }
    for (relative, source) in &walked.files {
        refresh(source, &copy.join(relative))?;
    }
    let wanted: HashSet<&str> = walked.files.iter().map(|(relative, _)| &**relative).collect();
    for (relative, path) in walk(&copy).files {
        if !wanted.contains(&*relative) {
            fs::remove_file(path)?;
        }
    }
    Ok(copy)
}

fn refresh(source: &Path, target: &Path) -> io::Result<()> {
    let stamp = Stamp::of(source)?;
    if Stamp::of(target).is_ok_and(|present| present == stamp) {
        return Ok(());
    }
    if let Some(parent) = target.parent() {
        if !parent.is_dir() && parent.exists() {
            fs::remove_file(parent)?;
        }
        fs::create_dir_all(parent)?;
    }
    if target.is_dir() {
        fs::remove_dir_all(target)?;
    }
    // Written beside and renamed: whoever reads it inside never sees half a file.
    let folder = target.parent().unwrap_or(target);
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut fs::File::open(source)?, &mut new)?;
    let metadata = fs::metadata(source)?;
    new.as_file().set_permissions(metadata.permissions())?;
    new.as_file().set_modified(metadata.modified()?)?;
    new.persist(target)?;
    Ok(())
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_left_out_and_the_copy_follows_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, copies) = (dir.path().join("skills"), dir.path().join("copies"));
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::write(tree.join("a/b/c.md"), "one").unwrap();
        fs::write(tree.join("gone"), "x").unwrap();
        let real = fs::canonicalize(&tree).unwrap();
        assert_eq!(clean_tree(&tree, &copies).unwrap(), real);
        assert!(!copies.exists());

        symlink("/etc", tree.join("etc")).unwrap();
        let copy = clean_tree(&tree, &copies).unwrap();
        assert!(copy.starts_with(&copies));
        let files = |root: &Path| -> Vec<String> {
            walk(root).files.into_iter().map(|(relative, _)| relative).collect()
        };
        assert_eq!(files(&copy), ["a/b/c.md", "gone"]);

        fs::write(tree.join("a/b/c.md"), "two!").unwrap();
        fs::remove_file(tree.join("gone")).unwrap();
        fs::create_dir(tree.join("gone")).unwrap();
        fs::write(tree.join("gone/x"), "y").unwrap();
        symlink("/etc", copy.join("evil")).unwrap();
        assert_eq!(clean_tree(&tree, &copies).unwrap(), copy);
        assert_eq!(files(&copy), ["a/b/c.md", "gone/x"]);
        assert_eq!(fs::read_to_string(copy.join("a/b/c.md")).unwrap(), "two!");
        assert!(!copy.join("evil").exists());
    }
}

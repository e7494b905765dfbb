//! Names of files as git has them: bytes below the project's folder, parts apart by `/`.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A file, relative to the project's folder.
pub(crate) type Name = Vec<u8>;

/// A relative path as git writes it; none if git can't have it.
#[cfg(unix)]
pub(crate) fn to_name(path: &Path) -> Option<Name> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(path.as_os_str().as_bytes().to_vec())
}

/// A relative path as git writes it; none if git can't have it.
#[cfg(not(unix))]
pub(crate) fn to_name(path: &Path) -> Option<Name> {
    path.to_str().map(|text| text.replace('\\', "/").into_bytes())
}

/// The relative path that git wrote.
#[cfg(unix)]
pub(crate) fn to_path(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(PathBuf::from(OsStr::from_bytes(name)))
}

/// The relative path that git wrote.
#[cfg(not(unix))]
pub(crate) fn to_path(name: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(name).ok().map(PathBuf::from)
}

/// The parts of an answer or of a request that is divided by NUL.
pub(crate) fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// Names for git to read.
pub(crate) fn join<'n>(names: impl IntoIterator<Item = &'n Name>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        bytes.extend_from_slice(name);
        bytes.push(0);
    }
    bytes
}

/// A file that a person named, below the project. None if it is absolute or leads out.
pub(crate) fn inside(path: &str) -> Option<Name> {
    if path.contains('\0') {
        return None;
    }
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            // Not even where it would come back: what lies on the way may be a link.
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    to_name(&clean).filter(|name| !name.is_empty())
}

/// Whether `name` is `folder` or below it.
pub(crate) fn is_below(name: &[u8], folder: &[u8]) -> bool {
    name.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// For people.
pub(crate) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_are_taken() {
        assert_eq!(inside("./a//b/").as_deref(), Some(&b"a/b"[..]));
        for bad in ["", ".", "/a", "../a", "a/../../b", "a/..", "a\0b"] {
            assert_eq!(inside(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn below_means_whole_parts() {
        assert!(is_below(b"a/b", b"a") && is_below(b"a", b"a"));
        assert!(!is_below(b"ab", b"a"));
    }
}

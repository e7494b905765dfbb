//! The one spelling of a path that calls of a batch are compared by.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use hermes_registry::ToolContext;

/// How many symbolic links are followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// The place on disk that `path` means in the context `cx`: `~` is the home folder of its settings.
pub(crate) fn canonical_in(path: &str, cx: &ToolContext) -> PathBuf {
    let home = cx.settings().env_filled("HOME").map(Path::new);
    canonical_path(path, cx.cwd(), home)
}

/// The place on disk that `path` means, without symbolic links, `.` and `..`.
///
/// `~` and `~/` at the beginning stand for `home`, if that is known; a relative path starts at
/// `cwd`. Links are followed part by part, as the kernel does: `link/..` is the folder that the
/// link's target lies in. Parts that don't exist are kept, so that a file to be created has a
/// place too. The last parts of a path that leads through a loop of links are kept as well. On
/// Windows, where case doesn't count, the result is in lower case.
///
/// Looks at the file system, hence it may take a while where that is remote. The result says
/// nothing about permissions and may be out of date at once: it is for planning, not for opening.
#[must_use]
pub fn canonical_path(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let place = follow(&absolute(path, cwd, home));
    if cfg!(windows) { place.to_string_lossy().to_lowercase().into() } else { place }
}

fn absolute(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let below_home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below_home, home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(path),
    }
}

fn follow(path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    let mut links = 0;
    let mut todo: VecDeque<OsString> = parts(path).collect();
    while let Some(part) = todo.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                place.pop();
            }
            Some(Component::Normal(name)) => {
                place.push(name);
                if links == MAX_LINKS {
                    continue;
                }
                if let Ok(target) = std::fs::read_link(&place) {
                    links += 1;
                    place.pop();
                    for part in parts(&target).rev() {
                        todo.push_front(part);
                    }
                }
            }
            // An absolute path takes the place of what was there, links' targets included.
            Some(Component::RootDir | Component::Prefix(_)) => place.push(part),
            Some(Component::CurDir) | None => {}
        }
    }
    place
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().map(|part| part.as_os_str().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn spellings_of_one_place_are_equal() {
        let cwd = Path::new("/nowhere/w");
        for (path, expected) in [
            ("a.txt", "/nowhere/w/a.txt"),
            ("./a//b/./c/", "/nowhere/w/a/b/c"),
            ("a/../../b", "/nowhere/b"),
            ("../../../../x", "/x"),
            ("/nowhere/y/../z", "/nowhere/z"),
            (".", "/nowhere/w"),
            ("", "/nowhere/w"),
            ("/", "/"),
            ("~", "/nowhere/h"),
            ("~/x", "/nowhere/h/x"),
            ("~//x/../y", "/nowhere/h/y"),
            ("~x/y", "/nowhere/w/~x/y"),
            ("a/~/b", "/nowhere/w/a/~/b"),
            ("a\0b", "/nowhere/w/a\0b"),
        ] {
            let home = Some(Path::new("/nowhere/h"));
            assert_eq!(canonical_path(path, cwd, home), Path::new(expected), "{path:?}");
        }
        assert_eq!(canonical_path("~/x", cwd, None), Path::new("/nowhere/w/~/x"));
    }

    #[test]
    fn links_are_followed_as_the_kernel_does() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (name, target) in [
            ("link", "a/b"),
            ("twice", "link"),
            ("up", "a/../a/b/.."),
            ("dangling", "missing/file"),
            ("a/back", "../link"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        symlink(root.join("a"), root.join("absolute")).unwrap();
        for (path, expected) in [
            ("link/x", "a/b/x"),
            ("link/../x", "a/x"),
            ("twice/../x", "a/x"),
            ("up/x", "a/x"),
            ("absolute/b/../x", "a/x"),
            ("a/back/x", "a/b/x"),
            ("dangling", "missing/file"),
            ("dangling/../x", "missing/x"),
            ("missing/../link", "a/b"),
        ] {
            assert_eq!(canonical_path(path, &root, None), root.join(expected), "{path}");
        }
        // A working directory may be a link itself.
        assert_eq!(canonical_path("../x", &root.join("link"), None), root.join("a/x"));
    }

    #[test]
    fn loops_of_links_end() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        symlink("self", root.join("self")).unwrap();
        symlink("pong", root.join("ping")).unwrap();
        symlink("ping", root.join("pong")).unwrap();
        // Grows with every step.
        symlink("more/more/x", root.join("more")).unwrap();
        assert_eq!(canonical_path("self/x", &root, None), root.join("self/x"));
        assert!(canonical_path("ping/x", &root, None).starts_with(&root));
        assert!(canonical_path("more", &root, None).starts_with(&root));
    }
}

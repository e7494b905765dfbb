//! From the path a model writes to the place on disk it means.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use hermes_registry::{ToolContext, ToolError};

use crate::fault::Fault;

/// How many symbolic links are followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// A path that was looked up once and is used from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Absolute, as the model wrote it.
    pub(crate) given: PathBuf,
    /// Absolute, without symbolic links, `.` and `..`. The last parts need not exist.
    pub(crate) real: PathBuf,
    /// Every place that a symbolic link led through, the given path first.
    pub(crate) hops: Vec<PathBuf>,
    relative: bool,
}

impl Resolved {
    /// A warning for writes: a relative path that left the working directory.
    pub(crate) fn outside_warning(&self, cx: &ToolContext) -> Option<String> {
        if !self.relative {
            return None;
        }
        let root = follow(cx.cwd()).map_or_else(|_| cx.cwd().to_owned(), |(real, _)| real);
        (!self.real.starts_with(&root)).then(|| {
            format!(
                "the relative path led outside the working directory {}: the file is {}",
                root.display(),
                self.real.display()
            )
        })
    }

    /// The path as it is shown in diffs: relative to the working directory where it lies below it.
    pub(crate) fn label(&self, cx: &ToolContext) -> String {
        let root = follow(cx.cwd()).map_or_else(|_| cx.cwd().to_owned(), |(real, _)| real);
        let shown = self.real.strip_prefix(&root).unwrap_or(&self.real);
        shown.display().to_string().trim_start_matches('/').to_owned()
    }
}

/// Looks a path up: `~` is the home folder, relative paths start at the call's working directory.
pub(crate) fn resolve(cx: &ToolContext, path: &str) -> Result<Resolved, ToolError> {
    if path.contains('\0') {
        return Err(Fault::NotFound.error("no path holds a NUL character"));
    }
    let (given, relative) = absolute(cx, path)?;
    let (real, hops) = follow(&given).map_err(|TooManyLinks| {
        Fault::Io.error(format!("too many symbolic links on the way to {}", given.display()))
    })?;
    Ok(Resolved { given, real, hops, relative })
}

fn absolute(cx: &ToolContext, path: &str) -> Result<(PathBuf, bool), ToolError> {
    let home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let Some(rest) = home {
        let home = cx.settings().env_filled("HOME").ok_or_else(|| {
            Fault::NotFound
                .error("`~` can't be used: the home folder isn't known; give an absolute path")
        })?;
        return Ok((Path::new(home).join(rest.trim_start_matches('/')), false));
    }
    let path = Path::new(path);
    if path.is_absolute() {
        return Ok((path.to_owned(), false));
    }
    if !cx.cwd().is_absolute() {
        return Err(Fault::NotFound
            .error("there is no working directory to start from; give an absolute path"));
    }
    Ok((cx.cwd().join(path), true))
}

#[derive(Debug)]
struct TooManyLinks;

/// Follows symbolic links part by part, as the kernel does: `..` after a link leaves the link's
/// target. Parts that don't exist are kept, so that a file to be created has a path too.
fn follow(path: &Path) -> Result<(PathBuf, Vec<PathBuf>), TooManyLinks> {
    let mut hops = vec![path.to_owned()];
    let mut real = PathBuf::new();
    let mut todo: VecDeque<OsString> = parts(path);
    while let Some(part) = todo.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                let Ok(target) = std::fs::read_link(&next) else {
                    real = next;
                    continue;
                };
                if hops.len() > MAX_LINKS {
                    return Err(TooManyLinks);
                }
                let rest: PathBuf = todo.iter().collect();
                let place = real.join(&target);
                hops.push(if rest.as_os_str().is_empty() { place } else { place.join(rest) });
                if target.is_absolute() {
                    real = PathBuf::new();
                }
                for part in parts(&target).into_iter().rev() {
                    todo.push_front(part);
                }
            }
            Some(Component::RootDir | Component::Prefix(_)) => real.push(part),
            Some(Component::CurDir) | None => {}
        }
    }
    Ok((real, hops))
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components().map(|part| part.as_os_str().to_owned()).collect()
}

/// `path` without `.` and `..`, by its letters alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use hermes_registry::Settings;
    use pretty_assertions::assert_eq;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_missing_parts_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a/b", root.join("l")).unwrap();
        symlink("missing/file", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let cx = ToolContext::new(&root);
        for (path, expected) in [
            ("l/x", "a/b/x"),
            ("l/../x", "a/x"),
            ("./a//b/.", "a/b"),
            ("dangling", "missing/file"),
            ("no/../such", "such"),
        ] {
            assert_eq!(resolve(&cx, path).unwrap().real, root.join(expected), "{path}");
        }
        assert!(resolve(&cx, "loop").is_err());
        assert!(resolve(&cx, "a\0b").is_err());
        assert!(resolve(&ToolContext::default(), "x").is_err());
    }

    #[test]
    fn the_home_folder_is_the_settings_and_a_name_may_begin_with_a_tilde() {
        let cx = ToolContext::new("/w")
            .with_settings(Settings::default().with_env([("HOME", "/home/u")]));
        assert_eq!(resolve(&cx, "~/x").unwrap().real, Path::new("/home/u/x"));
        assert_eq!(resolve(&cx, "~").unwrap().real, Path::new("/home/u"));
        assert_eq!(resolve(&cx, "~x").unwrap().real, Path::new("/w/~x"));
        assert!(resolve(&ToolContext::new("/w"), "~/x").is_err());
    }

    #[test]
    fn labels_and_warnings_tell_where_a_relative_path_leads() {
        let dir = tempfile::tempdir().unwrap();
        let cx = ToolContext::new(dir.path());
        let inside = resolve(&cx, "d/f").unwrap();
        assert_eq!((inside.label(&cx).as_str(), inside.outside_warning(&cx)), ("d/f", None));
        let outside = resolve(&cx, "../f").unwrap();
        assert!(outside.outside_warning(&cx).is_some());
        assert!(!outside.label(&cx).starts_with('/'));
    }
}

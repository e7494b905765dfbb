//! From the path a model writes to the place on disk it means.

use std::path::{Path, PathBuf};

use hermes_guard::paths::links::{self, FollowError, Followed};
use hermes_registry::{ToolContext, ToolError};

use crate::fault::Fault;

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
        let root = real(cx.cwd());
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
        let root = real(cx.cwd());
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
    let Followed { real, hops } = follow(&given).map_err(|err| {
        Fault::Io.error(match err {
            FollowError::TooManyLinks => {
                format!("too many symbolic links on the way to {}", given.display())
            }
            FollowError::TooLong => "the path is longer than any path can be".to_owned(),
            _ => format!("can't find out where {} leads", given.display()),
        })
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

/// Where links lead on this machine. What can't be read is taken for no link: opening it says
/// what is wrong with it.
pub(crate) fn follow(path: &Path) -> Result<Followed, FollowError> {
    links::follow(path, |link| Ok(std::fs::read_link(link).ok()))
}

/// A path without links; as it is where they can't be followed.
fn real(path: &Path) -> PathBuf {
    follow(path).map_or_else(|_| path.to_owned(), |followed| followed.real)
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

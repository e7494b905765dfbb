//! From the path a model writes to the place it means.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_guard::paths::Places;
use hermes_guard::paths::links::{FollowError, Followed, follow};
use hermes_registry::ToolError;

use crate::fault::Fault;
use crate::work::{Known, Work};

/// A path that was looked up once and is used from then on.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// Absolute, as the model wrote it.
    pub(crate) given: PathBuf,
    /// Absolute, without symbolic links, `.` and `..`. The last parts need not exist.
    pub(crate) real: PathBuf,
    /// Every place that a symbolic link led through, the given path first.
    pub(crate) hops: Vec<PathBuf>,
    /// What is protected in this file system.
    pub(crate) places: Arc<Places>,
    /// The given path itself is a link.
    pub(crate) is_link: bool,
    /// The working directory without links.
    root: PathBuf,
    relative: bool,
}

impl Resolved {
    /// A warning for writes: a relative path that left the working directory.
    pub(crate) fn outside_warning(&self) -> Option<String> {
        if !self.relative {
            return None;
        }
        (!self.real.starts_with(&self.root)).then(|| {
            format!(
                "the relative path led outside the working directory {}: the file is {}",
                self.root.display(),
                self.real.display()
            )
        })
    }

    /// The path as it is shown in diffs: relative to the working directory where it lies below it.
    pub(crate) fn label(&self) -> String {
        let shown = self.real.strip_prefix(&self.root).unwrap_or(&self.real);
        shown.display().to_string().trim_start_matches('/').to_owned()
    }
}

/// Looks a path up: `~` is the home folder, relative paths start at the working directory.
pub(crate) fn resolve(work: &Work<'_>, path: &str) -> Result<Resolved, ToolError> {
    if path.contains('\0') {
        return Err(Fault::NotFound.error("no path holds a NUL character"));
    }
    let (given, relative) = absolute(work, path)?;
    let Looked { followed, is_link } = look_up(work, &given)?;
    let Followed { real, hops } = followed.map_err(|err| {
        Fault::Io.error(match err {
            FollowError::TooManyLinks => {
                format!("too many symbolic links on the way to {}", given.display())
            }
            FollowError::TooLong => "the path is longer than any path can be".to_owned(),
            _ => format!("can't find out where {} leads", given.display()),
        })
    })?;
    let Some(Known { root, places }) = work.known.get() else {
        return Err(Fault::Io.error("the file system gives no answer"));
    };
    let (root, places) = (root.clone(), Arc::clone(places));
    Ok(Resolved { given, real, hops, places, is_link, root, relative })
}

/// Where a path leads.
struct Looked {
    followed: Result<Followed, FollowError>,
    is_link: bool,
}

/// Follows a path, and with the first one of a call the working directory and the protected places:
/// all in one journey where the file system is far away.
fn look_up(work: &Work<'_>, given: &Path) -> Result<Looked, ToolError> {
    let places = if work.known.get().is_none() { Some(work.places()?) } else { None };
    let (mut looked, mut known) = (None, None);
    let journey = work.backend.with_links(work.go(), &mut |read_link| {
        let mut last_hop = None;
        let followed = follow(given, |link| {
            let target = read_link(link)?;
            if let (Some(target), Some(folder)) = (&target, link.parent()) {
                last_hop = Some(folder.join(target));
            }
            Ok(target)
        });
        // The last link was the last part of the path: it led on by its target alone.
        let is_link = last_hop.is_some()
            && followed.as_ref().is_ok_and(|followed| followed.hops.last() == last_hop.as_ref());
        looked = Some(Looked { followed, is_link });
        known = places.clone().map(|places| {
            let root = follow(work.cwd(), &mut *read_link);
            let root = root.map_or_else(|_| work.cwd().to_owned(), |followed| followed.real);
            Known { root, places: Arc::new(places.resolved(&mut *read_link)) }
        });
    });
    journey.map_err(|err| work.io_error("look up", given, &err))?;
    if let Some(known) = known {
        let _ = work.known.set(known);
    }
    looked.ok_or_else(|| Fault::Io.error("the file system gives no answer"))
}

fn absolute(work: &Work<'_>, path: &str) -> Result<(PathBuf, bool), ToolError> {
    if let Some(rest) = path.strip_prefix('~') {
        let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let user = Some(user).filter(|user| !user.is_empty());
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if user.is_none_or(|user| user.chars().all(is_name)) {
            match (work.home(user)?, user) {
                (Some(home), _) => return Ok((home.join(rest.trim_start_matches('/')), false)),
                (None, None) => {
                    return Err(Fault::NotFound.error(
                        "`~` can't be used: the home folder isn't known; give an absolute path",
                    ));
                }
                // A name may begin with a tilde.
                (None, Some(_)) => {}
            }
        }
    }
    let path = Path::new(path);
    if path.has_root() && (path.is_absolute() || !work.backend.is_local()) {
        return Ok((path.to_owned(), false));
    }
    if !work.cwd().has_root() {
        return Err(Fault::NotFound
            .error("there is no working directory to start from; give an absolute path"));
    }
    Ok((work.cwd().join(path), true))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use hermes_registry::{Settings, ToolContext};
    use pretty_assertions::assert_eq;
    use std::os::unix::fs::symlink;

    fn resolve(cx: &ToolContext, path: &str) -> Result<Resolved, ToolError> {
        super::resolve(&Work::of(cx), path)
    }

    #[test]
    fn links_are_followed_and_missing_parts_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a/b", root.join("l")).unwrap();
        symlink("missing/file", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let cx = ToolContext::new(&root);
        for (path, expected, is_link) in [
            ("l/x", "a/b/x", false),
            ("l/../x", "a/x", false),
            ("./a//b/.", "a/b", false),
            ("dangling", "missing/file", true),
            ("a/../dangling", "missing/file", true),
            ("no/../such", "such", false),
        ] {
            let resolved = resolve(&cx, path).unwrap();
            let expected = (root.join(expected), is_link);
            assert_eq!((resolved.real, resolved.is_link), expected, "{path}");
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
        assert_eq!(resolve(&cx, "~x y/z").unwrap().real, Path::new("/w/~x y/z"));
        assert!(resolve(&ToolContext::new("/w"), "~/x").is_err());
    }

    #[test]
    fn labels_and_warnings_tell_where_a_relative_path_leads() {
        let dir = tempfile::tempdir().unwrap();
        let cx = ToolContext::new(dir.path());
        let inside = resolve(&cx, "d/f").unwrap();
        assert_eq!((inside.label().as_str(), inside.outside_warning()), ("d/f", None));
        let outside = resolve(&cx, "../f").unwrap();
        assert!(outside.outside_warning().is_some());
        assert!(!outside.label().starts_with('/'));
    }
}

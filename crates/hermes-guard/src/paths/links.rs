//! Following symbolic links, part by part.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// How many symbolic links are followed before a path counts as a loop; the kernel's own limit.
pub const MAX_LINKS: usize = 40;

/// The most bytes of a path: far more than any system opens, and few enough to walk in no time.
pub const MAX_LENGTH: usize = 16 * 1024;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Without links, `.` and `..`. The last parts need not exist.
    pub real: PathBuf,
    /// Every place that a link led through, the given path first.
    pub hops: Vec<PathBuf>,
}

/// Why it can't be told where a path leads.
#[derive(Debug)]
#[non_exhaustive]
pub enum FollowError {
    /// More than [`MAX_LINKS`] links: most likely they go in circles.
    TooManyLinks,
    /// More than [`MAX_LENGTH`] bytes.
    TooLong,
    /// A link couldn't be read.
    Io(io::Error),
}

/// Follows the links of an absolute path as the kernel does: `..` after a link leaves the link's
/// target. Parts that don't exist are kept, so that a file to be created has a path too.
///
/// `read_link` gives the target of a link, and none for what isn't one or doesn't exist.
///
/// # Errors
///
/// The links go in circles, the path is too long, or `read_link` failed.
pub fn follow(
    path: &Path,
    mut read_link: impl FnMut(&Path) -> io::Result<Option<PathBuf>>,
) -> Result<Followed, FollowError> {
    let mut hops = vec![path.to_owned()];
    let mut real = PathBuf::new();
    let mut todo = parts(path)?;
    while let Some(part) = todo.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(_)) => {
                real.push(&part);
                let Some(target) = read_link(&real).map_err(FollowError::Io)? else { continue };
                real.pop();
                if hops.len() > MAX_LINKS {
                    return Err(FollowError::TooManyLinks);
                }
                let mut place = real.join(&target);
                place.extend(&todo);
                hops.push(place);
                if target.is_absolute() {
                    real = PathBuf::new();
                }
                for part in parts(&target)?.into_iter().rev() {
                    todo.push_front(part);
                }
            }
            Some(Component::RootDir | Component::Prefix(_)) => real.push(part),
            Some(Component::CurDir) | None => {}
        }
    }
    Ok(Followed { real, hops })
}

fn parts(path: &Path) -> Result<VecDeque<OsString>, FollowError> {
    if path.as_os_str().len() > MAX_LENGTH {
        return Err(FollowError::TooLong);
    }
    Ok(path.components().map(|part| part.as_os_str().to_owned()).collect())
}

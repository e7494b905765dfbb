//! What every file system can do.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::error::FsError;
use crate::plan::Held;
use crate::search::{ContentQuery, FileQuery, Files, Found, Hit, Row, Scan};
use crate::stat::Stat;

/// Asked now and then whether the work shall go on.
pub type GoesOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// Reads one symbolic link: its target, and none for what isn't a link or doesn't exist.
pub type ReadLink<'a> = dyn FnMut(&Path) -> io::Result<Option<PathBuf>> + 'a;

/// The bytes of an open file, from any place in it.
pub trait Content: Read + Seek + Send {}

impl<T: Read + Seek + Send> Content for T {}

/// What was found at a path.
pub struct Opened<'a> {
    /// What it is.
    pub stat: Stat,
    /// Its bytes; none for what isn't a regular file, which is never opened.
    pub content: Option<Box<dyn Content + 'a>>,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name in the folder.
    pub name: OsString,
    /// Whether it is a folder itself, and no link to one.
    pub is_folder: bool,
}

/// A file system.
///
/// Paths are absolute, and no part of them is a symbolic link: [`with_links`](Self::with_links)
/// finds those out. All calls block.
pub trait FileBackend: Send + Sync {
    /// Names the file system: what is kept about a path is kept under this and the path.
    fn identity(&self) -> &str;

    /// Whether the paths are the host's own.
    fn is_local(&self) -> bool {
        false
    }

    /// What was done to files before the call, on behalf of an earlier one.
    fn notice(&self) -> Option<&'static str> {
        None
    }

    /// The home folder, of `user` where one is named; none when it isn't known.
    ///
    /// # Errors
    /// The file system can't be reached.
    fn home(&self, user: Option<&str>, go: GoesOn<'_>) -> io::Result<Option<PathBuf>>;

    /// Lends `work` a function that reads symbolic links.
    ///
    /// Where each question costs a journey, `work` is called several times: first with answers that
    /// no name is a link, then with true answers to all that it asked. Only what the last call comes
    /// to counts.
    ///
    /// # Errors
    /// The file system can't be reached.
    fn with_links(&self, go: GoesOn<'_>, work: &mut dyn FnMut(&mut ReadLink<'_>))
    -> io::Result<()>;

    /// Whether the kernel shows its state at the path: files without end, and reads that wait or
    /// change something. A search never goes there.
    fn is_kernel_state(&self, path: &Path) -> bool {
        ["/proc", "/sys"].iter().any(|root| path.starts_with(root) && path != Path::new(root))
    }

    /// What is at the path.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) and whatever else the file system says.
    fn stat(&self, path: &Path, go: GoesOn<'_>) -> io::Result<Stat>;

    /// The same, with the bytes of a regular file. A read never waits for data: where it would,
    /// it fails with [`WouldBlock`](io::ErrorKind::WouldBlock).
    ///
    /// # Errors
    /// As [`stat`](Self::stat).
    fn open<'a>(&'a self, path: &Path, go: GoesOn<'a>) -> io::Result<Opened<'a>>;

    /// The first `len` bytes of each file; none for what is no readable regular file.
    ///
    /// # Errors
    /// The file system can't be reached.
    fn heads(
        &self,
        files: &[&Path],
        len: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<u8>>>>;

    /// The entries of each folder in any order, at most about `limit` of each; none for what is no
    /// readable folder.
    ///
    /// # Errors
    /// The file system can't be reached.
    fn list(
        &self,
        folders: &[&Path],
        limit: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<Name>>>>;

    /// Waits until none of the files is being changed by another call, at most ten seconds. They
    /// may not exist yet.
    ///
    /// # Errors
    /// [`Busy`](FsError::Busy) and [`Interrupted`](FsError::Interrupted).
    fn hold(&self, paths: BTreeSet<PathBuf>, go: GoesOn<'_>)
    -> Result<Box<dyn Held + '_>, FsError>;

    /// Finds the files with lines that match, by path.
    ///
    /// # Errors
    /// The root can't be read, or the search can't be done here at all.
    fn scan(&self, query: &ContentQuery<'_>, go: GoesOn<'_>) -> Result<Scan, FsError>;

    /// The matching lines of one file that [`scan`](Self::scan) found, from number `skip` on.
    ///
    /// # Errors
    /// The file can't be read any more.
    fn rows(
        &self,
        query: &ContentQuery<'_>,
        hit: &Hit,
        skip: u64,
        take: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Row>>;

    /// The regular files below a root, or the root itself where it is one.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    fn files(&self, query: &FileQuery<'_>, go: GoesOn<'_>) -> Result<Files, FsError>;

    /// Finds out when each of the files was changed, as far as that can be.
    ///
    /// # Errors
    /// The file system can't be reached.
    fn date(&self, files: &mut [Found], go: GoesOn<'_>) -> io::Result<()>;
}

//! The host's own file system.

mod commit;
mod content;
mod draft;
mod folder;
mod journal;
mod lock;
mod open;
mod properties;
mod staging;
mod steps;
mod store;
mod walk;

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::backend::{FileBackend, GoesOn, Name, Opened, ReadLink};
use crate::error::FsError;
use crate::plan::Held;
use crate::search::rows::Rows;
use crate::search::tally::Tally;
use crate::search::{ContentQuery, FileQuery, Files, Found, Hit, Limit, Row, Scan};
use crate::secrets::hidden;
use crate::stat::{Closed, Stat};
pub(crate) use content::search_bytes;

/// How many files are searched between two looks at what was found.
const BATCH: usize = 512;

/// The host's own file system, by system calls.
///
/// Files are opened without following links, even ones that were put in the way after the path was
/// looked up, and written by way of their folder, which is held meanwhile. A file that is changed is
/// locked against other processes.
#[derive(Clone, Debug, Default)]
pub struct LocalFs {
    home: Option<PathBuf>,
    staging: Option<PathBuf>,
    /// What became of plans of killed processes.
    notice: Option<&'static str>,
}

impl LocalFs {
    /// The file system, as a user with this home sees it.
    #[must_use]
    pub const fn new(home: Option<PathBuf>) -> Self {
        Self { home, staging: None, notice: None }
    }

    /// The same file system with a folder of the host's own, where new contents wait and plans of
    /// several steps are written down. It is created when it is needed.
    ///
    /// With it, a process that is killed at any moment leaves nothing in other folders of the same
    /// file system, and what it began is brought to its end now, or when files are held. Where
    /// something else has changed one of its files since, it is taken back. Without the folder, or
    /// on other file systems, a file `.hermes-*.tmp` may be left.
    #[must_use]
    pub fn with_staging(self, folder: PathBuf) -> Self {
        let notice = staging::Staging::existing(&folder).and_then(|staging| staging.recover());
        Self { staging: Some(folder), notice, ..self }
    }
}

impl FileBackend for LocalFs {
    fn identity(&self) -> &str {
        "local"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn notice(&self) -> Option<&'static str> {
        self.notice
    }

    /// Only the user's own is known.
    fn home(&self, user: Option<&str>, _: GoesOn<'_>) -> io::Result<Option<PathBuf>> {
        Ok(self.home.clone().filter(|_| user.is_none()))
    }

    fn with_links(&self, _: GoesOn<'_>, work: &mut dyn FnMut(&mut ReadLink<'_>)) -> io::Result<()> {
        // What can't be read is taken for no link: opening it says what is wrong with it.
        work(&mut |link| Ok(std::fs::read_link(link).ok()));
        Ok(())
    }

    fn is_kernel_state(&self, path: &Path) -> bool {
        cfg!(target_os = "linux")
            && ["/proc", "/sys"]
                .iter()
                .any(|root| path.starts_with(root) && path != Path::new(root))
    }

    fn stat(&self, path: &Path, _: GoesOn<'_>) -> io::Result<Stat> {
        std::fs::metadata(path).map(|metadata| stat(path, &metadata))
    }

    fn open<'a>(&'a self, path: &Path, _: GoesOn<'a>) -> io::Result<Opened<'a>> {
        let found = std::fs::metadata(path)?;
        if !found.is_file() {
            return Ok(Opened { stat: stat(path, &found), content: None });
        }
        let file = open::open(path)?;
        // It may have been swapped since it was looked at.
        let stat = stat(path, &file.metadata()?);
        let content = stat.is_file().then(|| Box::new(file) as Box<_>);
        Ok(Opened { stat, content })
    }

    fn heads(
        &self,
        files: &[&Path],
        len: usize,
        _: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<u8>>>> {
        let head = |path: &Path| {
            let file = open::open(path).ok()?;
            file.metadata().ok()?.is_file().then_some(())?;
            let mut head = Vec::new();
            file.take(len as u64).read_to_end(&mut head).ok()?;
            Some(head)
        };
        Ok(files.iter().map(|path| head(path)).collect())
    }

    fn list(
        &self,
        folders: &[&Path],
        limit: usize,
        _: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<Name>>>> {
        let list = |folder: &Path| {
            let entries = std::fs::read_dir(folder).ok()?.flatten().take(limit);
            let name = |entry: std::fs::DirEntry| {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                Name { name: entry.file_name(), is_folder }
            };
            Some(entries.map(name).collect())
        };
        Ok(folders.iter().map(|folder| list(folder)).collect())
    }

    fn hold(
        &self,
        paths: BTreeSet<PathBuf>,
        go: GoesOn<'_>,
    ) -> Result<Box<dyn Held + '_>, FsError> {
        let staging = self.staging.as_deref().and_then(|folder| {
            let opened = staging::Staging::open(folder);
            let warn = |err| tracing::warn!("{} can't be used: {err}", folder.display());
            opened.map_err(warn).ok()
        });
        if let Some(staging) = &staging {
            // Its process may have died just now. The next call tells of it.
            let _ = staging.recover();
        }
        let locks = lock::Locks::take(self.identity(), paths, go)?;
        Ok(Box::new(commit::Holding { locks, staging }))
    }

    fn scan(&self, query: &ContentQuery<'_>, go: GoesOn<'_>) -> Result<Scan, FsError> {
        let ContentQuery { root, glob, deadline, .. } = *query;
        let files = self.files(&FileQuery { root, glob, deadline }, go)?;
        let mut tally = Tally::new(query.unit, query.cap);
        tally.scan.unreadable = files.unreadable;
        tally.scan.limit = files.limit;
        let mut paths: Vec<PathBuf> = files.entries.into_iter().map(|file| file.path).collect();
        paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        let goes_on = || go() && Instant::now() < deadline;
        let mut searched = 0;
        for batch in paths.chunks(BATCH) {
            let batch: Vec<_> = batch.iter().map(PathBuf::as_path).collect();
            let counts = content::count_all(query.pattern, &batch, walk::threads(), goes_on);
            if !go() {
                return Err(FsError::Interrupted);
            }
            let complete = counts.len() == batch.len();
            searched += counts.len();
            tally.scan.searched = Some(searched);
            if !self.count(query, &batch, counts, &mut tally, go) {
                return Ok(tally.scan);
            }
            if !complete {
                tally.scan.limit = Some(Limit::Time);
                return Ok(tally.scan);
            }
        }
        tally.scan.searched = Some(searched);
        Ok(tally.scan)
    }

    fn rows(
        &self,
        query: &ContentQuery<'_>,
        hit: &Hit,
        skip: u64,
        take: usize,
        _: GoesOn<'_>,
    ) -> io::Result<Vec<Row>> {
        let rows = Rows::new(query.show, skip, take, query.context);
        content::rows(query.pattern, &hit.path, query.context, rows)
    }

    fn files(&self, query: &FileQuery<'_>, go: GoesOn<'_>) -> Result<Files, FsError> {
        // Where there is nothing that may be looked at, "no results" would be a wrong answer.
        let root = query.root;
        let is_folder = std::fs::metadata(root).is_ok_and(|metadata| metadata.is_dir());
        let tried =
            if is_folder { std::fs::read_dir(root).map(drop) } else { open::open(root).map(drop) };
        tried.map_err(|err| FsError::io("search", root, err))?;
        walk::files(self, query, go)
    }

    fn date(&self, files: &mut [Found], _: GoesOn<'_>) -> io::Result<()> {
        for file in files.iter_mut().filter(|file| file.modified.is_none()) {
            let metadata = std::fs::symlink_metadata(&file.path).ok();
            file.modified = metadata.and_then(|metadata| metadata.modified().ok());
        }
        Ok(())
    }
}

impl LocalFs {
    /// Counts what was found in some files. Tells whether there is room for more.
    fn count(
        &self,
        query: &ContentQuery<'_>,
        files: &[&Path],
        counts: Vec<io::Result<u64>>,
        tally: &mut Tally,
        go: GoesOn<'_>,
    ) -> bool {
        let mut found = Vec::new();
        for (path, count) in files.iter().zip(counts) {
            match count {
                Ok(0) => {}
                Ok(count) => found.push((*path, count)),
                Err(err) => tally.skip((*path).to_owned(), err.to_string()),
            }
        }
        let paths: Vec<&Path> = found.iter().map(|(path, _)| *path).collect();
        let hidden = hidden(self, query.places, &paths, go);
        for ((path, count), hidden) in found.into_iter().zip(hidden) {
            if hidden {
                tally.scan.omitted += count;
            } else if !tally.push(path.to_owned(), count, None) {
                return false;
            }
        }
        true
    }
}

/// What a file is, and whether it could be written to.
fn stat(path: &Path, metadata: &Metadata) -> Stat {
    Stat { closed: closed(path, metadata), ..Stat::of(metadata) }
}

/// A new file could take the place of one that may not be written to, but that isn't what its
/// permissions mean.
#[cfg(unix)]
fn closed(path: &Path, _: &Metadata) -> Option<Closed> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;
    match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(Errno::ACCESS | Errno::PERM) => Some(Closed::Permissions),
        Err(Errno::ROFS) => Some(Closed::ReadOnly),
        // Any other problem is told by the write itself.
        _ => None,
    }
}

#[cfg(not(unix))]
fn closed(_: &Path, metadata: &Metadata) -> Option<Closed> {
    metadata.permissions().readonly().then_some(Closed::Permissions)
}

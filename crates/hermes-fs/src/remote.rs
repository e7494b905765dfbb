//! The file system of an environment that runs shell scripts.

mod base64;
mod commit;
mod content;
mod facts;
mod find;
mod grep;
mod ignored;
mod links;
mod literal;
mod look;
mod reply;
mod rg;
mod script;
mod shell;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::backend::{FileBackend, GoesOn, Name, Opened, ReadLink};
use crate::error::{FsError, interrupt};
use crate::plan::Held;
use crate::search::{ContentQuery, FileQuery, Files, Found, Hit, Limit, Row, Scan};
use crate::stat::Stat;
use crate::turn::{MAX_WAIT, Turns};
use reply::Part;
use script::Script;
pub use shell::{Ran, Run, Shell};

/// How long a script may run that isn't a search.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The file system of an environment, by way of its shell.
///
/// Each call is one script, whose answer is letters only, so that all bytes survive. It needs no
/// more than a POSIX `sh`, `stat` (of GNU, BSD or busybox), `base64`, `mktemp`, `mv`, `ls`, `head`
/// and `dd`; with `readlink` links are known, with `sha256sum` or `shasum` files are compared by
/// content, and with `rg` searches are fast.
///
/// What a script looks at can change before it acts on it, as far as a shell can't hold a folder or
/// lock a file. Calls of this process wait for each other.
pub struct RemoteFs {
    shell: Arc<dyn Shell>,
    home: OnceLock<Option<PathBuf>>,
}

impl RemoteFs {
    /// The file system that the shell's scripts see.
    #[must_use]
    pub fn new(shell: Arc<dyn Shell>) -> Self {
        Self { shell, home: OnceLock::new() }
    }

    /// Runs a script, and reads its answer.
    fn ask(&self, script: Script, stdin: &[u8], go: GoesOn<'_>) -> io::Result<Vec<Part>> {
        self.ask_within(script, stdin, TIMEOUT, go)
    }

    fn ask_within(
        &self,
        script: Script,
        stdin: &[u8],
        timeout: Duration,
        goes_on: GoesOn<'_>,
    ) -> io::Result<Vec<Part>> {
        if !goes_on() {
            return Err(interrupt());
        }
        let script = script.finish();
        let ran = self.shell.run(&Run { script: &script, stdin, timeout, goes_on });
        let parts = ran.and_then(|ran| reply::parts(&ran));
        // Why it failed is no wonder then.
        if parts.is_err() && !goes_on() { Err(interrupt()) } else { parts }
    }
}

impl FileBackend for RemoteFs {
    fn identity(&self) -> &str {
        self.shell.identity()
    }

    fn home(&self, user: Option<&str>, go: GoesOn<'_>) -> io::Result<Option<PathBuf>> {
        if user.is_some() {
            return self.find_home(user, go);
        }
        if let Some(home) = self.home.get() {
            return Ok(home.clone());
        }
        let home = self.find_home(None, go)?;
        Ok(self.home.get_or_init(|| home).clone())
    }

    fn with_links(
        &self,
        go: GoesOn<'_>,
        work: &mut dyn FnMut(&mut ReadLink<'_>),
    ) -> io::Result<()> {
        self.find_links(go, work)
    }

    fn stat(&self, path: &Path, go: GoesOn<'_>) -> io::Result<Stat> {
        self.look(path, go)
    }

    fn open<'a>(&'a self, path: &Path, go: GoesOn<'a>) -> io::Result<Opened<'a>> {
        self.look_into(path, go)
    }

    fn heads(
        &self,
        files: &[&Path],
        len: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<u8>>>> {
        self.read_heads(files, len, go)
    }

    fn list(
        &self,
        folders: &[&Path],
        limit: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<Name>>>> {
        self.list_folders(folders, limit, go)
    }

    fn hold(
        &self,
        paths: BTreeSet<PathBuf>,
        go: GoesOn<'_>,
    ) -> Result<Box<dyn Held + '_>, FsError> {
        let until = Instant::now() + MAX_WAIT;
        let turns = Turns::wait(self.identity(), &paths, go, until)?;
        Ok(Box::new(commit::Turn { fs: self, _turns: turns }))
    }

    fn scan(&self, query: &ContentQuery<'_>, go: GoesOn<'_>) -> Result<Scan, FsError> {
        let scan = match self.scan_with_rg(query, go) {
            Ok(Some(scan)) => Ok(scan),
            Ok(None) => self.scan_with_grep(query, go),
            Err(err) => Err(err),
        };
        match scan {
            Err(err) if is_timeout(&err) => {
                Ok(Scan { limit: Some(Limit::Time), ..Scan::default() })
            }
            scan => scan,
        }
    }

    fn rows(
        &self,
        _: &ContentQuery<'_>,
        hit: &Hit,
        skip: u64,
        take: usize,
        _: GoesOn<'_>,
    ) -> io::Result<Vec<Row>> {
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        Ok(hit.rows.iter().flatten().skip(skip).take(take).cloned().collect())
    }

    fn files(&self, query: &FileQuery<'_>, go: GoesOn<'_>) -> Result<Files, FsError> {
        match self.find_files(query, go) {
            Err(err) if is_timeout(&err) => {
                Ok(Files { limit: Some(Limit::Time), ..Files::default() })
            }
            files => files,
        }
    }

    fn date(&self, files: &mut [Found], go: GoesOn<'_>) -> io::Result<()> {
        self.find_dates(files, go)
    }
}

fn is_timeout(err: &FsError) -> bool {
    matches!(err, FsError::Io { source, .. } if source.kind() == io::ErrorKind::TimedOut)
}

/// What is left of the time for a search.
fn time_left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

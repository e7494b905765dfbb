//! Sending what changed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hermes_exec::environment::Stdin;
use hermes_exec_policy::files::{PackError, Sources, SyncPlan, SyncState, pack};
use tokio::sync::OwnedMutexGuard;

use super::talk::{self, Trouble};
use super::{Progress, Synced, script, unnamed};

/// How often an archive is begun anew because files change while they are read.
const TRIES: usize = 8;

/// Looks for what changed and sends it. Nothing is noted as sent unless all of it is.
pub(super) async fn push(
    synced: &Synced,
    base: &str,
    progress: OwnedMutexGuard<Progress>,
) -> Result<(), Trouble> {
    let (sources, folder) = (Arc::clone(&synced.sources), base.to_owned());
    let looked = hermes_task::spawn_blocking(move || {
        let ready = Ready::of(&progress.state, &sources(), &folder);
        (progress, ready)
    });
    let failed = |_| Trouble::Failed("looking for changes was broken off".to_owned());
    let (mut progress, ready) = looked.await.map_err(failed)?;
    let failed = |error| Trouble::Failed(format!("the archive can't be made: {error}"));
    let Ready { plan, archive, problems } = ready.map_err(failed)?;
    problems.iter().for_each(|problem| progress.tell(problem));
    if !plan.is_empty() {
        let stdin = if archive.is_some() { Stdin::Open } else { Stdin::Null };
        let start = script::start(script::push(base, &synced.token, &plan), stdin);
        talk::send(&*synced.inner, start, archive).await?;
    }
    progress.state.commit(plan, Instant::now());
    Ok(())
}

/// What is to be done, and the archive for it.
struct Ready {
    plan: SyncPlan,
    archive: Option<File>,
    problems: Vec<String>,
}

impl Ready {
    fn of(state: &SyncState, sources: &Sources, base: &str) -> io::Result<Self> {
        let mut problems = Vec::new();
        let listing = sources.listing(base, &mut problems);
        let mut plan = state.plan(&listing);
        // One file that can't be read must not keep all others here.
        plan.uploads.retain(|upload| {
            let readable = is_readable(&upload.file.host);
            let host = upload.file.host.display();
            readable.map_err(|error| problems.push(format!("{host} stays here: {error}"))).is_ok()
        });
        let mut ready = Self { plan, archive: None, problems };
        if !ready.plan.uploads.is_empty() {
            ready.archive = ready.pack(base, &sources.home)?;
        }
        Ok(ready)
    }

    /// Makes the archive before anything is begun on the other side: so nothing has to be undone
    /// there when files change under our hands. One that does so again and again stays out of it,
    /// until next time.
    fn pack(&mut self, base: &str, folder: &Path) -> io::Result<Option<File>> {
        let mut changing: BTreeSet<PathBuf> = BTreeSet::new();
        for _ in 0..TRIES {
            if self.plan.uploads.is_empty() {
                return Ok(None);
            }
            let archive = BufWriter::new(unnamed(folder)?);
            let error = match pack(&mut self.plan, base, archive) {
                Ok(archive) => {
                    let mut file = archive.into_inner()?;
                    file.rewind()?;
                    return Ok(Some(file));
                }
                Err(error) => error,
            };
            let problem = error.to_string();
            match error {
                PackError::File { path, source } => {
                    let has_gone = source.kind() == io::ErrorKind::NotFound;
                    if has_gone || !changing.insert(path.clone()) {
                        self.plan.uploads.retain(|upload| upload.file.host != path);
                        self.problems.push(problem);
                    }
                }
                PackError::Outside(remote) => {
                    self.plan.uploads.retain(|upload| upload.file.remote != remote);
                    self.problems.push(problem);
                }
                error => return Err(io::Error::other(error.to_string())),
            }
        }
        Err(io::Error::other("too many files change while they are read"))
    }
}

/// Whether a file can be read. One that isn't ordinary any more is not waited for.
fn is_readable(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options.open(path).map(drop)
}

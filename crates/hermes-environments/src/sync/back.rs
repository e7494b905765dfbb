//! Bringing back what the other machine changed.

use std::io::{self, BufReader, Seek as _};
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::Stdin;
use hermes_exec_policy::files::{MAX_ARCHIVE, SyncBack, SyncLock, SyncMap, UnpackError, unpack};

use super::talk::{self, Trouble};
use super::{Progress, Synced, script, unnamed};

/// How long another process may keep us from the home folder.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why nothing came back.
pub(super) enum Failure {
    /// It may come another time.
    Passing(String),
    /// It never will.
    Final(String),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Start(failure) => Self::Final(failure.message),
            Trouble::Failed(problem) => Self::Passing(problem),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Passing(error.to_string())
    }
}

/// Fetches an archive of the other side as a whole, and only then takes it apart.
pub(super) async fn bring_back(synced: &Synced) -> Result<(), Failure> {
    synced.inner.prepare().await.map_err(|failure| match failure.is_gone {
        true => Failure::Final(failure.message),
        false => Failure::Passing(failure.message),
    })?;
    let base = synced.base().await?.to_owned();
    let sources = Arc::clone(&synced.sources);
    let begun = hermes_task::spawn_blocking(move || {
        let sources = sources();
        let lock = SyncLock::acquire(&sources.home, PATIENCE)?;
        let file = unnamed(&sources.home)?;
        io::Result::Ok((sources, lock, file))
    });
    let (sources, lock, mut file) = begun.await.map_err(|_| broken_off())??;
    let start = script::start(script::back(&base), Stdin::Null);
    let fetched = talk::fetch(&*synced.inner, start, &mut file, MAX_ARCHIVE).await?;
    fetched.ok_or_else(|| Failure::Final(UnpackError::TooLarge.to_string()))?;
    let mut progress = Arc::clone(&synced.progress).lock_owned().await;
    let applied = hermes_task::spawn_blocking(move || {
        let _lock = lock;
        file.rewind()?;
        // What is listed now may have come since it was last sent.
        let listing = sources.listing(&base, &mut Vec::new());
        let map = SyncMap::of(&base, &progress.state, &listing.files);
        match unpack(BufReader::new(file), &map, &progress.state, &sources.home) {
            Ok(result) => {
                tell(&mut progress, &result);
                Ok(())
            }
            Err(error @ UnpackError::TooLarge) => Err(Failure::Final(error.to_string())),
            Err(error) => Err(Failure::Passing(error.to_string())),
        }
    });
    applied.await.map_err(|_| broken_off())?
}

fn broken_off() -> Failure {
    Failure::Final("the work was broken off".to_owned())
}

fn tell(progress: &mut Progress, result: &SyncBack) {
    for conflict in &result.conflicts {
        let (path, kept) = (conflict.path.display(), conflict.kept.display());
        progress.tell(&format!(
            "{path} was changed here and there: it is what the sandbox has, and what was here is \
             {kept}"
        ));
    }
    if let Some(first) = result.refused.first() {
        let count = result.refused.len();
        progress.tell(&format!("{count} files don't come back, such as {first:?}"));
    }
}

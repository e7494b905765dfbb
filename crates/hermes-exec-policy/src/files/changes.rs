//! What changed since the other side got it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::sources::{Listing, SyncFile};
use crate::digest::Digest;

/// The time between two looks for changes.
const INTERVAL: Duration = Duration::from_secs(5);

/// What tells whether a file changed, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: SystemTime,
    len: u64,
}

impl Stamp {
    /// The stamp of a file as it is.
    ///
    /// # Errors
    ///
    /// What the system answers; a link and what is no ordinary file is refused.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::from_metadata(&fs::symlink_metadata(path)?)
    }

    pub(super) fn from_metadata(metadata: &fs::Metadata) -> io::Result<Self> {
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no ordinary file"));
        }
        Ok(Self { modified: metadata.modified()?, len: metadata.len() })
    }
}

/// What the other side has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pushed {
    pub(super) file: SyncFile,
    pub(super) stamp: Stamp,
    /// None until an archive with it was packed.
    pub(super) digest: Option<Digest>,
}

/// What the other side has, and when it was looked at.
#[derive(Clone, Debug, Default)]
pub struct SyncState {
    pub(super) pushed: BTreeMap<String, Pushed>,
    synced: Option<Instant>,
    has_pushed: bool,
}

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The file and its place.
    pub file: SyncFile,
    pub(super) stamp: Stamp,
    pub(super) digest: Option<Digest>,
}

/// What is to be done so that the other side has what the host has. It counts as done only once it
/// is given to [`SyncState::commit`]; dropped, the next call finds all of it again.
#[derive(Clone, Debug, Default)]
#[must_use = "the other side is up to date only when all of it is done and committed"]
pub struct SyncPlan {
    /// The files to send, for [`pack`](super::pack).
    pub uploads: Vec<Upload>,
    /// Absolute paths to delete on the other side.
    pub deletions: Vec<String>,
}

impl SyncPlan {
    /// Whether nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.uploads.is_empty() && self.deletions.is_empty()
    }
}

impl SyncState {
    /// Whether it is time to look for changes: 5 s after the last success, or always if `force`.
    #[must_use]
    pub fn is_due(&self, now: Instant, force: bool) -> bool {
        let since = self.synced.map(|synced| now.saturating_duration_since(synced));
        force || since.is_none_or(|since| since >= INTERVAL)
    }

    /// Something was not done that was to be: it is time to look for changes again.
    pub fn failed(&mut self) {
        self.synced = None;
    }

    /// Whether the other side ever got anything; otherwise there is nothing to bring back.
    #[must_use]
    pub fn has_pushed(&self) -> bool {
        self.has_pushed
    }

    /// What is to be done so that the other side has these files. A file that has gone since it was
    /// listed is deleted there; where the listing isn't whole, nothing is.
    pub fn plan(&self, listing: &Listing) -> SyncPlan {
        let mut plan = SyncPlan::default();
        let mut gone: BTreeMap<&str, &Pushed> =
            self.pushed.iter().map(|(remote, pushed)| (&**remote, pushed)).collect();
        for file in &listing.files {
            let Ok(stamp) = Stamp::of(&file.host) else { continue };
            let present = gone.remove(&*file.remote);
            if present.is_none_or(|it| it.stamp != stamp || it.file.host != file.host) {
                plan.uploads.push(Upload { file: file.clone(), stamp, digest: None });
            }
        }
        if !listing.is_partial {
            plan.deletions = gone.into_keys().map(str::to_owned).collect();
        }
        plan
    }

    /// Notes that all of a plan is done.
    pub fn commit(&mut self, plan: SyncPlan, now: Instant) {
        for remote in &plan.deletions {
            self.pushed.remove(remote);
        }
        self.has_pushed |= !plan.uploads.is_empty();
        for Upload { file, stamp, digest } in plan.uploads {
            self.pushed.insert(file.remote.clone(), Pushed { file, stamp, digest });
        }
        self.synced = Some(now);
    }
}

/// A line of shell that deletes files.
#[must_use]
pub fn delete_script(paths: &[String]) -> String {
    let quoted = paths.iter().map(|path| format!(" '{}'", path.replace('\'', r"'\''")));
    format!("rm -f --{}", quoted.collect::<String>())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::FileKind;
    use super::*;

    #[test]
    fn what_isnt_committed_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| SyncFile {
            remote: format!("/r/.hermes/skills/{name}"),
            host: dir.path().join(name),
            kind: FileKind::Skills,
        };
        for name in ["a", "b"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let files = vec![file("a"), file("b"), file("missing")];
        let mut listing = Listing { files, is_partial: false };
        let mut state = SyncState::default();
        let now = Instant::now();
        assert!(state.is_due(now, false) && !state.has_pushed());
        let _dropped = state.plan(&listing);
        let plan = state.plan(&listing);
        assert_eq!((plan.uploads.len(), plan.deletions.len()), (2, 0));
        state.commit(plan, now);
        assert!(state.plan(&listing).is_empty() && state.has_pushed());
        assert!(!state.is_due(now + Duration::from_millis(4999), false));
        assert!(state.is_due(now, true) && state.is_due(now + INTERVAL, false));

        fs::write(dir.path().join("a"), "longer").unwrap();
        fs::remove_file(dir.path().join("b")).unwrap();
        listing.is_partial = true;
        assert!(state.plan(&listing).deletions.is_empty());
        listing.is_partial = false;
        let plan = state.plan(&listing);
        assert_eq!(plan.uploads.len(), 1);
        assert_eq!(plan.uploads[0].file, listing.files[0]);
        assert_eq!(plan.deletions, ["/r/.hermes/skills/b"]);
        state.commit(plan, now);
        assert!(state.plan(&listing).is_empty());
    }

    #[test]
    fn names_in_the_script_are_only_names() {
        let paths = ["/a b".to_owned(), "-x".to_owned(), "/it's $(x)".to_owned()];
        assert_eq!(delete_script(&paths), r"rm -f -- '/a b' '-x' '/it'\''s $(x)'");
    }
}

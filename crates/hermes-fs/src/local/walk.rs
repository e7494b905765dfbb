//! The files below a root, by the rules of `.gitignore`, `.ignore` and hidden names.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use ignore::overrides::Override;
use ignore::{WalkBuilder, WalkState};

use super::LocalFs;
use crate::backend::{FileBackend, GoesOn};
use crate::error::FsError;
use crate::search::{FileQuery, Files, Found, Limit, MAX_FILES};

/// The most threads of one search.
const MAX_THREADS: usize = 8;

/// How many threads a search uses.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Collects the regular files below the root, or the root itself where it is a file. The root is
/// searched even if it is hidden or ignored; folders where the kernel shows its state never are.
pub(super) fn files(fs: &LocalFs, query: &FileQuery<'_>, go: GoesOn<'_>) -> Result<Files, FsError> {
    let mut builder = WalkBuilder::new(query.root);
    let glob = query.glob.map_or_else(Override::empty, |glob| glob.rule.clone());
    // The user's own ignore file would make results depend on the machine.
    builder.git_global(false).threads(threads()).overrides(glob);
    let fs = fs.clone();
    builder.filter_entry(move |entry| entry.depth() == 0 || !fs.is_kernel_state(entry.path()));
    let (sender, receiver) = mpsc::channel();
    let (unreadable, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (capped, timed_out) = (AtomicBool::new(false), AtomicBool::new(false));
    builder.build_parallel().run(|| {
        let sender = sender.clone();
        let (unreadable, count) = (&unreadable, &count);
        let (capped, timed_out) = (&capped, &timed_out);
        Box::new(move |entry| {
            if !go() {
                return WalkState::Quit;
            }
            if Instant::now() >= query.deadline {
                timed_out.store(true, Ordering::Relaxed);
                return WalkState::Quit;
            }
            let Ok(entry) = entry else {
                unreadable.fetch_add(1, Ordering::Relaxed);
                return WalkState::Continue;
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return WalkState::Continue;
            }
            if count.fetch_add(1, Ordering::Relaxed) >= MAX_FILES {
                capped.store(true, Ordering::Relaxed);
                return WalkState::Quit;
            }
            // The receiver lives until the walk is over.
            let _ = sender.send(Found { path: entry.into_path(), modified: None });
            WalkState::Continue
        })
    });
    drop(sender);
    if !go() {
        return Err(FsError::Interrupted);
    }
    let limit = if timed_out.into_inner() {
        Some(Limit::Time)
    } else {
        capped.into_inner().then_some(Limit::Cap)
    };
    Ok(Files {
        entries: receiver.into_iter().collect(),
        unreadable: unreadable.into_inner(),
        limit,
        warning: None,
    })
}

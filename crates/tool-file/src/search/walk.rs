//! The files below a root, by the rules of `.gitignore`, `.ignore` and hidden names.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use hermes_registry::{ToolContext, ToolError};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::fault::{Fault, check_interrupt};
use crate::guard;

/// The most files of one search; what a search keeps in memory grows with it.
const MAX_FILES: usize = 500_000;
/// The most threads of one search.
const MAX_THREADS: usize = 8;

/// What a walk came upon.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Regular files in no order.
    pub(crate) entries: Vec<DirEntry>,
    /// Folders and files that couldn't be looked at.
    pub(crate) unreadable: usize,
    /// There are more files than a search takes.
    pub(crate) capped: bool,
    /// The time ran out.
    pub(crate) timed_out: bool,
}

/// How many threads a search uses.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// The rule of a `file_glob`: as `--glob` of ripgrep.
pub(crate) fn file_glob(root: &Path, glob: &str) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(root);
    builder
        .add(glob)
        .and_then(|builder| builder.build())
        .map_err(|err| Fault::BadRegex.error(format!("`file_glob` isn't a valid glob: {err}")))
}

/// Collects the regular files below `root`, or `root` itself where it is a file. The root is
/// searched even if it is hidden or ignored; folders below `/proc` and `/sys` never are.
pub(crate) fn files(
    cx: &ToolContext,
    root: &Path,
    glob: Option<Override>,
    deadline: Instant,
) -> Result<Files, ToolError> {
    let mut builder = WalkBuilder::new(root);
    // The user's own ignore file would make results depend on the machine.
    builder.git_global(false).threads(threads()).overrides(glob.unwrap_or_else(Override::empty));
    builder.filter_entry(|entry| entry.depth() == 0 || !guard::is_kernel_state(entry.path()));
    let (sender, receiver) = mpsc::channel();
    let (unreadable, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (capped, timed_out) = (AtomicBool::new(false), AtomicBool::new(false));
    builder.build_parallel().run(|| {
        let sender = sender.clone();
        let (unreadable, count) = (&unreadable, &count);
        let (capped, timed_out) = (&capped, &timed_out);
        Box::new(move |entry| {
            if cx.check_interrupt().is_err() {
                return WalkState::Quit;
            }
            if Instant::now() >= deadline {
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
            let _ = sender.send(entry);
            WalkState::Continue
        })
    });
    drop(sender);
    check_interrupt(cx)?;
    Ok(Files {
        entries: receiver.into_iter().collect(),
        unreadable: unreadable.into_inner(),
        capped: capped.into_inner(),
        timed_out: timed_out.into_inner(),
    })
}

/// A root as results spell it.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// Where it is.
    pub(crate) real: PathBuf,
    prefix: String,
}

impl Root {
    pub(crate) fn new(real: PathBuf, spelling: &str) -> Self {
        let mut prefix = spelling.trim_end_matches('/');
        while let Some(rest) = prefix.strip_prefix("./") {
            prefix = rest.trim_start_matches('/');
        }
        let prefix = match prefix {
            "" if spelling.starts_with('/') => "/".to_owned(),
            "" | "." => String::new(),
            prefix => prefix.to_owned(),
        };
        Self { real, prefix }
    }

    /// A path below the root, by the spelling of the root. Names that aren't Unicode lose what
    /// can't be shown.
    pub(crate) fn show(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.real).unwrap_or(path).to_string_lossy();
        match (self.prefix.as_str(), below.as_ref()) {
            ("", below) => below.to_owned(),
            (prefix, "") => prefix.to_owned(),
            ("/", below) => format!("/{below}"),
            (prefix, below) => format!("{prefix}/{below}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelt_like_the_root() {
        for (spelling, below, expected) in [
            (".", "a/b", "a/b"),
            ("./", "a", "a"),
            ("./src/", "a", "src/a"),
            ("src", "a", "src/a"),
            ("..", "a", "../a"),
            ("/", "etc", "/etc"),
            ("/w/x/", "a", "/w/x/a"),
            ("~/x", "a", "~/x/a"),
            ("./f.txt", "", "f.txt"),
        ] {
            let root = Root::new("/r".into(), spelling);
            assert_eq!(root.show(&Path::new("/r").join(below)), expected, "{spelling}");
        }
    }
}

//! Which file system a call works on, and from which folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_registry::CallIds;

use crate::backend::FileBackend;

/// Where a call works.
#[derive(Clone)]
pub struct Workplace {
    /// Its file system.
    pub backend: Arc<dyn FileBackend>,
    /// The folder that relative paths start from, absolute; none to start from the call's own.
    pub cwd: Option<PathBuf>,
}

/// Knows where calls work: the service that whoever runs environments lends to the tools, so that
/// file tools and terminal see the same files and are in the same folder.
pub trait Workplaces: Send + Sync {
    /// Where the call with these ids works.
    fn workplace(&self, ids: &CallIds) -> Workplace;

    /// Whether nothing that the call does there can harm the host, so that nobody need be asked
    /// about it: a container without folders of the host, a remote sandbox.
    fn is_isolated(&self, ids: &CallIds) -> bool {
        let _ = ids;
        false
    }
}

/// What could be the folder of a session, the first that applies. What isn't absolute doesn't.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bases<'a> {
    /// Where the last command of the session's terminal ended up.
    pub recorded: Option<&'a Path>,
    /// What was set for the task.
    pub registered: Option<&'a Path>,
    /// The setting `TERMINAL_CWD`.
    pub configured: Option<&'a str>,
    /// The folder of the process.
    pub process: Option<&'a Path>,
}

/// Values of `TERMINAL_CWD` that stand for the folder of the process.
const SENTINELS: [&str; 5] = ["", ".", "./", "auto", "cwd"];

/// The folder that relative paths start from, and whether somebody chose it: then it is the root of
/// the work, and a write elsewhere is worth a warning.
#[must_use]
pub fn working_directory(bases: Bases<'_>) -> Option<(PathBuf, bool)> {
    let configured = bases.configured.map(str::trim);
    let configured = configured.filter(|text| !SENTINELS.contains(text)).map(Path::new);
    let chosen = [bases.recorded, bases.registered, configured];
    // Not the host's rule for what is absolute: the folder may be a container's.
    let is_absolute = |path: &&Path| path.has_root();
    let chosen = chosen.into_iter().flatten().find(is_absolute).map(|path| (path, true));
    let process = bases.process.filter(is_absolute).map(|path| (path, false));
    chosen.or(process).map(|(path, chosen)| (path.to_owned(), chosen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_first_folder_that_applies() {
        let find = |recorded, registered, configured, process| {
            let path = |it: &'static str| (it != "-").then(|| Path::new(it));
            let (recorded, registered, process) = (path(recorded), path(registered), path(process));
            let configured = (configured != "-").then_some(configured);
            working_directory(Bases { recorded, registered, configured, process })
        };
        for (bases, expected) in [
            (("/r", "/t", "/c", "/p"), Some(("/r", true))),
            (("-", "/t", "/c", "/p"), Some(("/t", true))),
            (("-", "-", "/c", "/p"), Some(("/c", true))),
            (("-", "-", " /c ", "/p"), Some(("/c", true))),
            (("-", "-", "-", "/p"), Some(("/p", false))),
            (("r", "t", "c", "/p"), Some(("/p", false))),
            (("r", "/t", "", "/p"), Some(("/t", true))),
            (("-", "-", "", "/p"), Some(("/p", false))),
            (("-", "-", ".", "/p"), Some(("/p", false))),
            (("-", "-", "./", "/p"), Some(("/p", false))),
            (("-", "-", "auto", "/p"), Some(("/p", false))),
            (("-", "-", "cwd", "/p"), Some(("/p", false))),
            (("-", "-", "-", "p"), None),
            (("-", "-", "-", "-"), None),
        ] {
            let (recorded, registered, configured, process) = bases;
            let expected = expected.map(|(path, chosen)| (PathBuf::from(path), chosen));
            assert_eq!(find(recorded, registered, configured, process), expected, "{bases:?}");
        }
    }
}

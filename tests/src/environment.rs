//! Running file cases in an environment: a shell of this machine that stands in for another one.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_fs::{FileBackend, RemoteFs, Workplace, Workplaces};
use hermes_registry::CallIds;
use tempfile::TempDir;

use crate::shell::{self, ProcessShell};

thread_local! {
    /// The shell for cases that this thread runs; none for the host's own files.
    static SHELL: RefCell<Option<(PathBuf, String)>> = const { RefCell::new(None) };
}

/// An environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The usual shell and programs, `rg` among them.
    WithRg,
    /// The same without `rg`.
    WithoutRg,
    /// The shell and the programs of busybox, and no others.
    Busybox,
}

/// Runs `work`; the file tools of all cases in it work in an environment of this kind. None if it
/// can't be had here.
///
/// # Panics
/// There is no folder for temporary files.
pub fn within<T>(kind: Kind, work: impl FnOnce() -> T) -> Option<T> {
    #[expect(clippy::unwrap_used, reason = "without it there is nothing to test")]
    let dir: TempDir = tempfile::tempdir().unwrap();
    let sh = PathBuf::from("/bin/sh");
    let shell = match kind {
        Kind::WithRg => (sh, shell::with_rg(dir.path())?),
        Kind::WithoutRg => (sh, shell::without_rg(dir.path())),
        Kind::Busybox => shell::busybox(dir.path())?,
    };
    SHELL.set(Some(shell));
    let result = work();
    SHELL.set(None);
    Some(result)
}

/// The service for a case whose user has this home; none outside of [`within`].
pub(crate) fn workplaces(home: &Path) -> Option<Arc<dyn Workplaces>> {
    let (program, path) = SHELL.with_borrow(Clone::clone)?;
    let shell = Arc::new(ProcessShell::new(program, &path, home));
    Some(Arc::new(There(Arc::new(RemoteFs::new(shell)))))
}

/// Everything happens there.
struct There(Arc<RemoteFs>);

impl Workplaces for There {
    fn workplace(&self, _: &CallIds) -> Workplace {
        let backend: Arc<dyn FileBackend> = Arc::clone(&self.0) as Arc<dyn FileBackend>;
        Workplace { backend, cwd: None }
    }
}

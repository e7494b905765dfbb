//! Where a call works: its file system, its folder and what is protected there.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_fs::{CommitError, FileBackend, FsError, GoesOn, LocalFs, Stat, Workplaces};
use hermes_guard::paths::Places;
use hermes_registry::{ToolContext, ToolError, ToolOutput};
use serde_json::{Map, Value};

use crate::fault::{self, check_interrupt};
use crate::guard;

/// Adds a warning to a result, beside those that it has.
pub(crate) fn warn(result: &mut Map<String, Value>, warning: &str) {
    let known = result.get("_warning").and_then(Value::as_str);
    let all = known.map_or_else(|| warning.to_owned(), |known| format!("{known} | {warning}"));
    result.insert("_warning".to_owned(), all.into());
}

/// The surroundings of one call. All that a tool does with files goes through it.
pub(crate) struct Work<'a> {
    pub(crate) cx: &'a ToolContext,
    pub(crate) backend: Arc<dyn FileBackend>,
    /// Whether nothing that is done to its files can harm the host.
    pub(crate) is_isolated: bool,
    /// Where relative paths start.
    cwd: PathBuf,
    go: Box<dyn Fn() -> bool + Send + Sync>,
    /// Found out with the first path.
    pub(super) known: OnceCell<Known>,
}

/// What is found out once for all paths of a call.
pub(super) struct Known {
    /// The working directory without links.
    pub(super) root: PathBuf,
    pub(super) places: Arc<Places>,
}

impl<'a> Work<'a> {
    /// Where the host says that the call works; else on its own files.
    pub(crate) fn of(cx: &'a ToolContext) -> Self {
        let workplaces = cx.service::<dyn Workplaces>();
        let is_isolated = workplaces.as_ref().is_some_and(|it| it.is_isolated(cx.ids()));
        let workplace = workplaces.map(|it| it.workplace(cx.ids()));
        let (backend, cwd) = match workplace {
            Some(workplace) => (workplace.backend, workplace.cwd),
            None => {
                let home = cx.settings().env_filled("HOME").map(PathBuf::from);
                let mut local = LocalFs::new(home);
                let hermes = cx.settings().home();
                if !hermes.as_os_str().is_empty() {
                    local = local.with_staging(hermes.join("staging"));
                }
                (Arc::new(local) as Arc<dyn FileBackend>, None)
            }
        };
        let cwd = cwd.unwrap_or_else(|| cx.cwd().to_owned());
        let asked = cx.clone();
        let go = Box::new(move || asked.check_interrupt().is_ok());
        Self { cx, backend, is_isolated, cwd, go, known: OnceCell::new() }
    }

    /// Whether its files are the host's.
    pub(crate) fn is_local(&self) -> bool {
        self.backend.is_local()
    }

    /// Where relative paths start.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Whether the call is to go on.
    pub(crate) fn go(&self) -> GoesOn<'_> {
        &self.go
    }

    /// The home folder in the file system.
    pub(crate) fn home(&self, user: Option<&str>) -> Result<Option<PathBuf>, ToolError> {
        let home = self.backend.home(user, self.go());
        home.map_err(|err| self.io_error("reach", Path::new("the file system"), &err))
    }

    /// Adds to a result what was done to files before the call.
    pub(crate) fn tell(&self, output: &mut ToolOutput) {
        if let (Some(notice), ToolOutput::Json(Value::Object(result))) =
            (self.backend.notice(), output)
        {
            warn(result, notice);
        }
    }

    /// What is at a path without links.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.backend.stat(path, self.go())
    }

    /// Which of some files, whose paths have no links, aren't shown.
    pub(crate) fn hidden(&self, places: &Places, paths: &[&Path]) -> Vec<bool> {
        hermes_fs::hidden(&*self.backend, places, paths, self.go())
    }

    /// Where homes are, by their names alone.
    pub(super) fn places(&self) -> Result<Places, ToolError> {
        let home = if self.backend.is_local() { None } else { self.home(None)? };
        Ok(guard::places(self.cx, home.as_deref(), &self.cwd))
    }

    /// The error for a failed access; the call's own end comes first.
    pub(crate) fn io_error(&self, verb: &str, path: &Path, err: &io::Error) -> ToolError {
        match check_interrupt(self.cx) {
            Ok(()) => fault::io_error(verb, path, err),
            Err(err) => err,
        }
    }

    /// The same for what the file system says in its own words.
    pub(crate) fn error(&self, err: &FsError) -> ToolError {
        match check_interrupt(self.cx) {
            Ok(()) => fault::of_file_system(err),
            Err(err) => err,
        }
    }

    /// The error for a change that wasn't made and left nothing behind, or says what it did.
    pub(crate) fn not_committed(&self, err: &CommitError) -> ToolError {
        if err.left.is_empty() {
            return self.error(&err.cause);
        }
        fault::left_behind(err)
    }
}

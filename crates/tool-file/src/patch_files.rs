//! Mode `patch`: changes of several files as one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::PathBuf;

use hermes_command::FileChange;
use hermes_edit::diff::Diffs;
use hermes_edit::v4a::{
    self, Action, Cause, Change, Failure, Files, Loaded, Patch, Problem, ProblemKind,
};
use hermes_fs::{CommitError, Move, Old, Opened, Plan, Removal, Stat, Write};
use hermes_registry::{EditProposal, ToolError, ToolResult};
use serde_json::{Map, Value, json};

use crate::checks::{Checks, Said};
use crate::fault::{self, Fault, check_interrupt};
use crate::path::{Resolved, resolve};
use crate::text::{Format, decode, encode};
use crate::work::Work;
use crate::{consent, display_text, document, guard, read_file, state};

/// The largest file whose text is changed; larger ones can be moved and deleted.
const MAX_SIZE: u64 = 256 * 1024 * 1024;

/// A patch whose paths were looked up and may be touched.
pub(crate) struct Request<'a> {
    text: &'a str,
    patch: Patch<'a>,
    disk: Disk<'a>,
}

impl<'a> Request<'a> {
    pub(crate) fn of(
        text: &'a str,
        work: &'a Work<'a>,
        cross_profile: bool,
    ) -> Result<Self, ToolError> {
        let patch = v4a::parse(text).map_err(|problems| {
            let problems = problems.into_iter().map(|problem| (None, of_problem(&problem)));
            all_of(&problems.collect::<Vec<_>>())
        })?;
        let mut paths = BTreeMap::new();
        let mut refused = Vec::new();
        let sections = patch.sections.iter();
        for path in sections.flat_map(|it| [Some(it.path()), it.destination()]).flatten() {
            match look_up(work, path, cross_profile) {
                Ok(resolved) => {
                    paths.insert(path.to_owned(), resolved);
                }
                Err(err) => refused.push((Some(path.to_owned()), err)),
            }
        }
        if !refused.is_empty() {
            return Err(all_of(&refused));
        }
        Ok(Self { text, patch, disk: Disk { work, paths, found: RefCell::default() } })
    }

    /// What the patch comes to, in memory.
    fn changes(&self) -> Result<Vec<Change>, ToolError> {
        let changes = v4a::apply(&self.patch, &self.disk);
        changes
            .map_err(|failures| all_of(&failures.into_iter().map(of_failure).collect::<Vec<_>>()))
    }

    /// What is done to which files.
    fn touched(&self) -> Vec<(&Resolved, FileChange)> {
        let sections = self.patch.sections.iter().flat_map(|section| {
            let first = match &section.action {
                Action::Delete { .. } | Action::Move { .. } => FileChange::Removed,
                _ if section.destination().is_some() => FileChange::Removed,
                _ => FileChange::Written,
            };
            let to = section.destination().map(|path| (path, FileChange::Written));
            [Some((section.path(), first)), to]
        });
        let touched = sections.flatten();
        touched.filter_map(|(path, change)| Some((self.disk.paths.get(path)?, change))).collect()
    }

    /// The changes, for somebody to look at.
    pub(crate) fn propose(&self) -> Result<Vec<EditProposal>, ToolError> {
        let mut proposals = Vec::new();
        let mut put = |path: String, old, new| {
            proposals.push(EditProposal { path: path.into(), old, new });
        };
        for change in self.changes()? {
            match change {
                Change::Created { path, content } => put(path, None, Some(content)),
                Change::Changed { path, old, new } => put(path, Some(old), Some(new)),
                Change::Deleted { path, old } => put(path, old, None),
                Change::Moved { from, to, change } => {
                    let (old, new) = change.unzip();
                    put(from, old, None);
                    put(to, None, new);
                }
            }
        }
        Ok(proposals)
    }

    pub(crate) fn run(self) -> ToolResult {
        let work = self.disk.work;
        let consent = consent::ask(work, "patch", &self.touched(), self.text)?;
        let paths = self.disk.paths.values().map(|path| path.real.clone());
        let held = work.backend.hold(paths.collect(), work.go());
        let mut held = held.map_err(|err| work.error(&err))?;
        let changes = self.changes()?;
        let checked = self.disk.check(&changes)?;
        check_interrupt(work.cx)?;
        let stale = state::stale_changes(work, &changes, |key| self.disk.real(key));
        checked.checks.iter().for_each(Checks::show_old);
        let warnings = held.commit(&checked.plan).map_err(|err| rolled_back(&err))?.warnings;
        let warnings: Vec<&str> = warnings.into_iter().chain(work.backend.notice()).collect();
        state::committed(work, &checked.plan);
        drop(held);

        let mut result = Map::new();
        let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
        put("success", true.into());
        put("diff", self.disk.diff(&changes).into());
        let list = |pick: fn(&Change) -> Option<&String>| -> Value {
            changes.iter().filter_map(pick).cloned().collect::<Vec<_>>().into()
        };
        put(
            "files_modified",
            list(|change| match change {
                Change::Changed { path, .. } => Some(path),
                _ => None,
            }),
        );
        put(
            "files_created",
            list(|change| match change {
                Change::Created { path, .. } => Some(path),
                _ => None,
            }),
        );
        put(
            "files_deleted",
            list(|change| match change {
                Change::Deleted { path, .. } => Some(path),
                _ => None,
            }),
        );
        let moved = changes.iter().filter_map(|change| match change {
            Change::Moved { from, to, .. } => Some(json!({"from": from, "to": to})),
            _ => None,
        });
        put("files_moved", moved.collect());
        let said = said(&changes, checked.checks);
        if !said.lint.is_empty() {
            put("lint", said.lint.into());
        }
        if !said.diagnostics.is_empty() {
            put("lsp_diagnostics", said.diagnostics.join("\n").into());
        }
        if !warnings.is_empty() {
            put("warning", warnings.join("; ").into());
        }
        let outside: BTreeSet<String> =
            self.disk.paths.values().filter_map(Resolved::outside_warning).collect();
        let told: Vec<String> = stale.into_iter().chain(outside).collect();
        if !told.is_empty() {
            put("_warning", told.join(" | ").into());
        }
        consent.put(&mut result);
        Ok(Value::Object(result).into())
    }
}

/// What there is to say about the files that were written.
#[derive(Default)]
struct AllSaid {
    /// By path.
    lint: Map<String, Value>,
    diagnostics: Vec<String>,
}

/// Looks at the files that `changes` wrote; there is one of `checks` for each, in the same order.
fn said(changes: &[Change], checks: Vec<Checks<'_>>) -> AllSaid {
    let mut all = AllSaid::default();
    let written = changes.iter().filter_map(|change| match change {
        Change::Created { path, content } => Some((path, None, content)),
        Change::Changed { path, old, new } => Some((path, Some(old), new)),
        Change::Moved { to, change: Some((old, new)), .. } => Some((to, Some(old), new)),
        Change::Deleted { .. } | Change::Moved { change: None, .. } => None,
    });
    for ((path, old, new), checks) in written.zip(checks) {
        let Said { lint, diagnostics } = checks.after(old.map(String::as_str), new);
        all.lint.extend(lint.map(|lint| (path.clone(), lint)));
        all.diagnostics.extend(diagnostics);
    }
    all
}

/// Looks up a path of a header and refuses what must not be touched.
fn look_up(work: &Work<'_>, path: &str, cross_profile: bool) -> Result<Resolved, ToolError> {
    let resolved = resolve(work, path)?;
    guard::refuse_device(&resolved)?;
    guard::refuse_secret(&resolved)?;
    guard::refuse_write(&resolved, cross_profile)?;
    Ok(resolved)
}

/// The error for a patch that failed while it was carried out.
fn rolled_back(err: &CommitError) -> ToolError {
    let cause = fault::of_file_system(&err.cause);
    let kind = cause.extra().get("error_kind").cloned().unwrap_or_default();
    let error = if err.left.is_empty() {
        Fault::RolledBack.error(format!(
            "the patch failed: {}; nothing was changed: what was done was taken back",
            cause.message()
        ))
    } else {
        fault::left_behind(err)
    };
    error.with_extra("cause_kind", kind)
}

/// What was found at a path.
#[derive(Clone, Debug)]
struct Found {
    stat: Stat,
    /// None for a file without text.
    text: Option<(Vec<u8>, Format)>,
}

/// The files that the patch names. Keys are the real paths.
struct Disk<'a> {
    work: &'a Work<'a>,
    /// By the path as the patch has it.
    paths: BTreeMap<String, Resolved>,
    /// By key.
    found: RefCell<BTreeMap<String, Found>>,
}

impl Files for Disk<'_> {
    type Error = ToolError;

    fn key(&self, path: &str) -> String {
        let resolved = self.paths.get(path);
        resolved.map_or_else(|| path.to_owned(), |path| path.real.display().to_string())
    }

    fn load(&self, key: &str) -> Result<Loaded, ToolError> {
        let work = self.work;
        check_interrupt(work.cx)?;
        let Some(path) = self.resolved(key) else { return Ok(Loaded::Missing) };
        let Opened { stat, content } = match work.backend.open(&path.real, work.go()) {
            Ok(opened) => opened,
            Err(err) if is_missing(&err) => return Ok(Loaded::Missing),
            Err(err) => return Err(work.io_error("open", &path.real, &err)),
        };
        guard::refuse_special(path, &stat)?;
        if stat.is_folder() {
            return Err(read_file::directory_error(work, path));
        }
        guard::refuse_unwritable(&path.real, &stat)?;
        let mut bytes = Vec::new();
        if let Some(content) = content.filter(|_| stat.len <= MAX_SIZE) {
            let read = content.take(MAX_SIZE).read_to_end(&mut bytes);
            read.map_err(|err| work.io_error("read", &path.real, &err))?;
        }
        let decoded = (stat.len <= MAX_SIZE).then(|| decode(&bytes));
        let (loaded, format) = match decoded {
            Some(Ok((text, format))) => (Loaded::Text(text.into_owned()), Some(format)),
            Some(Err(_)) | None => (Loaded::Binary, None),
        };
        let text = format.map(|format| (bytes, format));
        self.found.borrow_mut().insert(key.to_owned(), Found { stat, text });
        Ok(loaded)
    }
}

fn is_missing(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Changes that may be made.
struct Checked<'a> {
    plan: Plan,
    /// What is known of the contents, for each write.
    checks: Vec<Checks<'a>>,
}

impl Disk<'_> {
    fn resolved(&self, key: &str) -> Option<&Resolved> {
        self.paths.values().find(|path| path.real.display().to_string() == key)
    }

    fn real(&self, key: &str) -> PathBuf {
        self.resolved(key).map_or_else(|| key.into(), |path| path.real.clone())
    }

    fn label(&self, key: &str) -> String {
        self.resolved(key).map_or_else(|| key.to_owned(), Resolved::label)
    }

    /// Checks what the files would hold, and makes a plan of it.
    fn check(&self, changes: &[Change]) -> Result<Checked<'_>, ToolError> {
        let mut checked = Checked { plan: Plan::default(), checks: Vec::new() };
        let mut refused = Vec::new();
        for change in changes {
            if let Err(err) = self.check_one(change, &mut checked) {
                let (Change::Created { path, .. }
                | Change::Changed { path, .. }
                | Change::Deleted { path, .. }
                | Change::Moved { to: path, .. }) = change;
                refused.push((Some(self.label(path)), err));
            }
        }
        if refused.is_empty() { Ok(checked) } else { Err(all_of(&refused)) }
    }

    fn check_one<'a>(
        &'a self,
        change: &Change,
        checked: &mut Checked<'a>,
    ) -> Result<(), ToolError> {
        let found = self.found.borrow();
        let stat = |key: &String| found.get(key).map(|found| found.stat.clone());
        let plan = &mut checked.plan;
        let (path, origin, old, new) = match change {
            Change::Deleted { path, .. } => {
                plan.removals.push(Removal { path: self.real(path), old: stat(path) });
                return Ok(());
            }
            Change::Moved { from, to, change: None } => {
                let old = stat(from);
                plan.moves.push(Move { from: self.real(from), to: self.real(to), old });
                return Ok(());
            }
            Change::Moved { from, to, change: Some((old, new)) } => {
                plan.removals.push(Removal { path: self.real(from), old: stat(from) });
                (to, found.get(from), Some(old), new)
            }
            Change::Created { path, content } => {
                display_text::refuse_display_text(content)?;
                (path, None, None, content)
            }
            Change::Changed { path, old, new } => (path, found.get(path), Some(old), new),
        };
        display_text::refuse_redaction_marks(old.map(String::as_str), new)?;
        let real = self.real(path);
        document::refuse_edit(&real)?;
        let checks = Checks::before(self.work, &real, old.map(String::as_str), new);
        let checks = checks.map_err(|problem| {
            Fault::InvalidContent.error(format!("would not parse: {problem}"))
        })?;
        let format = origin.and_then(|origin| origin.text.as_ref());
        let format = format.map(|(_, format)| *format).unwrap_or_default();
        let bytes = encode(new, format).ok_or_else(|| {
            Fault::InvalidContent.error(format!(
                "isn't UTF-8 but {}, which has no sign for a character of the patch",
                format.encoding.name()
            ))
        })?;
        let like = match change {
            Change::Moved { from, .. } => Some(self.real(from)),
            _ => Some(real.clone()),
        };
        let like = like.zip(origin.map(|origin| origin.stat.clone()));
        let old = match (change, origin) {
            (Change::Changed { .. }, Some(Found { stat, text })) => {
                let bytes = text.as_ref().map(|(bytes, _)| bytes.clone());
                Some(Old { stat: stat.clone(), bytes })
            }
            _ => None,
        };
        checked.plan.writes.push(Write { path: real, old, like, bytes });
        checked.checks.push(checks);
        Ok(())
    }

    fn diff(&self, changes: &[Change]) -> String {
        let mut diffs = Diffs::default();
        for change in changes {
            match change {
                Change::Created { path, content } => diffs.created(&self.label(path), content),
                Change::Changed { path, old, new } => diffs.changed(&self.label(path), old, new),
                Change::Deleted { path, old } => diffs.deleted(&self.label(path), old.as_deref()),
                Change::Moved { from, to, change } => {
                    let change = change.as_ref().map(|(old, new)| (old.as_str(), new.as_str()));
                    diffs.moved(&self.label(from), &self.label(to), change);
                }
            }
        }
        diffs.finish()
    }
}

fn of_failure(failure: Failure<ToolError>) -> (Option<String>, ToolError) {
    let error = match failure.cause {
        Cause::Patch(problem) => of_problem(&problem),
        Cause::Files(error) => error,
    };
    (failure.path, error)
}

fn of_problem(problem: &Problem) -> ToolError {
    let fault = match problem.kind {
        ProblemKind::ParseError => Fault::ParseError,
        ProblemKind::Traversal => Fault::Traversal,
        ProblemKind::NotFound => Fault::NotFound,
        ProblemKind::AlreadyExists => Fault::AlreadyExists,
        ProblemKind::Ambiguous => Fault::Ambiguous,
        ProblemKind::Binary => Fault::Binary,
        ProblemKind::NoChanges => Fault::NoChanges,
    };
    fault.error(format!("{} (line {} of the patch)", problem.message, problem.line))
}

/// All errors as one, of the kind of the first.
fn all_of(errors: &[(Option<String>, ToolError)]) -> ToolError {
    let mut message = "nothing was changed".to_owned();
    let mut list = Vec::new();
    for (path, err) in errors {
        let start = path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        message.push_str(&format!("\n{start}{}", err.message()));
        list.push(json!({
            "path": path,
            "error_kind": err.extra().get("error_kind"),
            "error": err.message(),
        }));
    }
    let Some((_, first)) = errors.first() else { return Fault::Io.error(message) };
    let mut error = ToolError::new(first.kind(), message);
    if let Some(kind) = first.extra().get("error_kind") {
        error = error.with_extra("error_kind", kind.clone());
    }
    if list.len() > 1 { error.with_extra("errors", list) } else { error }
}

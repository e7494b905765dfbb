//! Mode `patch`: changes of several files as one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hermes_edit::diff::Diffs;
use hermes_edit::v4a::{self, Cause, Change, Failure, Files, Loaded, Patch, Problem, ProblemKind};
use hermes_registry::{EditProposal, ToolContext, ToolError, ToolResult};
use serde_json::{Map, Value, json};

use crate::checks::{Checks, Findings};
use crate::commit::{Plan, Write, commit};
use crate::fault::{Fault, check_interrupt, io_error};
use crate::format_gate::{self, Gate};
use crate::open::open;
use crate::path::{Resolved, resolve};
use crate::text::{Format, decode, encode};
use crate::{display_text, guard, lock, read_file};

/// The largest file whose text is changed; larger ones can be moved and deleted.
const MAX_SIZE: u64 = 256 * 1024 * 1024;

/// A patch whose paths were looked up and may be touched.
pub(crate) struct Request<'a> {
    patch: Patch<'a>,
    disk: Disk<'a>,
}

impl<'a> Request<'a> {
    pub(crate) fn of(
        text: &'a str,
        cx: &'a ToolContext,
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
            match look_up(cx, path, cross_profile) {
                Ok(resolved) => {
                    paths.insert(path.to_owned(), resolved);
                }
                Err(err) => refused.push((Some(path.to_owned()), err)),
            }
        }
        if !refused.is_empty() {
            return Err(all_of(&refused));
        }
        Ok(Self { patch, disk: Disk { cx, paths, found: RefCell::default() } })
    }

    /// What the patch comes to, in memory.
    fn changes(&self) -> Result<Vec<Change>, ToolError> {
        let changes = v4a::apply(&self.patch, &self.disk);
        changes
            .map_err(|failures| all_of(&failures.into_iter().map(of_failure).collect::<Vec<_>>()))
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
        let cx = self.disk.cx;
        let paths = self.disk.paths.values().map(|path| path.real.clone());
        let mut held = lock::hold_all(cx, paths.collect::<BTreeSet<_>>())?;
        let changes = self.changes()?;
        let checked = self.disk.check(&changes)?;
        check_interrupt(cx)?;
        let checks = self.checks(&changes, checked.gates);
        let warnings = commit(&checked.plan, &mut held)?;
        drop(held);

        let mut result = Map::new();
        let mut put = |key: &str, value: Value| _ = result.insert(key.to_owned(), value);
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
        let findings = checks.into_iter().map(|(path, checks)| (path, checks.after()));
        Findings::put_all(findings, &mut put);
        if !warnings.is_empty() {
            put("warning", warnings.join("; ").into());
        }
        let outside: BTreeSet<String> =
            self.disk.paths.values().filter_map(|path| path.outside_warning(cx)).collect();
        if !outside.is_empty() {
            put("_warning", outside.into_iter().collect::<Vec<_>>().join(" | ").into());
        }
        Ok(Value::Object(result).into())
    }
}

impl Request<'_> {
    /// The checks of what is written, by path, in the order of the patch.
    fn checks<'a>(
        &'a self,
        changes: &'a [Change],
        mut gates: BTreeMap<String, Gate>,
    ) -> Vec<(String, Checks<'a>)> {
        let check = |change: &'a Change| {
            let (path, old, new) = match change {
                Change::Created { path, content } => (path, None, content),
                Change::Changed { path, old, new } => (path, Some(old.as_str()), new),
                Change::Moved { to, change: Some((old, new)), .. } => (to, Some(old.as_str()), new),
                Change::Moved { change: None, .. } | Change::Deleted { .. } => return None,
            };
            let gate = gates.remove(path)?;
            let real = self.disk.real(path);
            let checks = Checks::before(self.disk.cx, true, &real, (old, new), &gate);
            Some((path.clone(), checks))
        };
        changes.iter().filter_map(check).collect()
    }
}

/// Looks up a path of a header and refuses what must not be touched.
fn look_up(cx: &ToolContext, path: &str, cross_profile: bool) -> Result<Resolved, ToolError> {
    let resolved = resolve(cx, path)?;
    guard::refuse_device(&resolved)?;
    guard::refuse_secret(cx, &resolved)?;
    guard::refuse_write(cx, &resolved, cross_profile)?;
    Ok(resolved)
}

/// What was found at a path.
#[derive(Clone, Debug)]
struct Found {
    metadata: Metadata,
    /// None for a file without text.
    text: Option<(Vec<u8>, Format)>,
}

/// The files that the patch names. Keys are the real paths.
struct Disk<'a> {
    cx: &'a ToolContext,
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
        check_interrupt(self.cx)?;
        let Some(path) = self.resolved(key) else { return Ok(Loaded::Missing) };
        let metadata = match std::fs::metadata(&path.real) {
            Ok(metadata) => metadata,
            Err(err) if is_missing(&err) => return Ok(Loaded::Missing),
            Err(err) => return Err(io_error("look at", &path.real, &err)),
        };
        guard::refuse_special(path, &metadata)?;
        if metadata.is_dir() {
            return Err(read_file::directory_error(path));
        }
        guard::refuse_unwritable(&path.real)?;
        let text = if metadata.len() > MAX_SIZE { None } else { read(&path.real)? };
        let loaded = match &text {
            Some((bytes, _)) => match decode(bytes) {
                Ok((text, _)) => Loaded::Text(text.into_owned()),
                Err(_) => Loaded::Binary,
            },
            None => Loaded::Binary,
        };
        self.found.borrow_mut().insert(key.to_owned(), Found { metadata, text });
        Ok(loaded)
    }
}

fn is_missing(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The bytes of a file with how they are text; none when they aren't.
fn read(path: &Path) -> Result<Option<(Vec<u8>, Format)>, ToolError> {
    let mut bytes = Vec::new();
    open(path)
        .and_then(|file| file.take(MAX_SIZE).read_to_end(&mut bytes))
        .map_err(|err| io_error("read", path, &err))?;
    let format = decode(&bytes).map(|(_, format)| format);
    Ok(format.ok().map(|format| (bytes, format)))
}

/// Changes that may be made.
struct Checked {
    plan: Plan,
    /// What the check of formats says, by key.
    gates: BTreeMap<String, Gate>,
}

impl Disk<'_> {
    fn resolved(&self, key: &str) -> Option<&Resolved> {
        self.paths.values().find(|path| path.real.display().to_string() == key)
    }

    fn real(&self, key: &str) -> PathBuf {
        self.resolved(key).map_or_else(|| key.into(), |path| path.real.clone())
    }

    fn label(&self, key: &str) -> String {
        self.resolved(key).map_or_else(|| key.to_owned(), |path| path.label(self.cx))
    }

    /// Checks what the files would hold, and makes a plan of it.
    fn check(&self, changes: &[Change]) -> Result<Checked, ToolError> {
        let mut checked = Checked { plan: Plan::default(), gates: BTreeMap::new() };
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

    fn check_one(&self, change: &Change, checked: &mut Checked) -> Result<(), ToolError> {
        let found = self.found.borrow();
        let plan = &mut checked.plan;
        let (path, origin, old, new) = match change {
            Change::Deleted { path, .. } => {
                plan.removals.push(self.real(path));
                return Ok(());
            }
            Change::Moved { from, to, change: None } => {
                plan.moves.push((self.real(from), self.real(to)));
                return Ok(());
            }
            Change::Moved { from, to, change: Some((old, new)) } => {
                plan.removals.push(self.real(from));
                (to, found.get(from), Some(old), new)
            }
            Change::Created { path, content } => {
                display_text::refuse_numbered_rows(content)?;
                (path, None, None, content)
            }
            Change::Changed { path, old, new } => (path, found.get(path), Some(old), new),
        };
        display_text::refuse_redaction_marks(old.map(String::as_str), new)?;
        let real = self.real(path);
        let gate = format_gate::check(&real, old.map(String::as_str), new);
        if let Gate::Refused(problem) = &gate {
            return Err(Fault::InvalidContent.error(format!("would not parse: {problem}")));
        }
        checked.gates.insert(path.clone(), gate);
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
        let like = like.zip(origin.map(|origin| origin.metadata.clone()));
        let old = match (change, origin) {
            (Change::Changed { .. }, Some(Found { metadata, text })) => {
                let bytes = match text {
                    Some((bytes, _)) => bytes.clone(),
                    None => std::fs::read(&real).map_err(|err| io_error("read", &real, &err))?,
                };
                Some((metadata.clone(), bytes))
            }
            _ => None,
        };
        checked.plan.writes.push(Write { path: real, old, like, bytes });
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

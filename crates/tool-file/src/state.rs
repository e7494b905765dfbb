//! What these tools remember of files, where the host lends them a memory: pages that were shown
//! before, searches that are repeated, writes that may destroy what nobody has seen.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use hermes_edit::v4a::Change;
use hermes_file_state::{Edit, FileKey, FileState, Repeated, Shown, Stamp, WARN_AFTER, Window};
use hermes_fs::{Move, Plan, Stat, Write};
use hermes_registry::{ToolContext, ToolError, ToolOutput, ToolResult};
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::touched::{changed_span, lines_of};
use crate::work::{Work, warn};

/// What is said in place of a page that the conversation holds.
pub(crate) const UNCHANGED: &str = "This page was read before and the file has not changed since: \
     what it showed then still holds, and isn't sent again. Use that, read other lines of it, or \
     find what you are after with search_files.";

/// After so many patches in a row that missed their place, the advice is stronger.
const MANY_MISSES: u32 = 3;

/// The file in the memory.
fn key(work: &Work<'_>, path: &Path) -> FileKey {
    FileKey::new(work.backend.identity(), path)
}

/// The file as it is now. Elsewhere its content isn't fetched for that.
fn look(work: &Work<'_>, path: &Path) -> Option<Stamp> {
    if work.backend.is_local() { Stamp::local(path) } else { look_far(work, path) }
}

fn look_far(work: &Work<'_>, path: &Path) -> Option<Stamp> {
    let stat = work.stat(path).ok().filter(Stat::is_file)?;
    let since = stat.modified?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mtime_ns = i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
    Some(Stamp::new(mtime_ns, stat.len, stat.inode))
}

/// The memory, and the task it is asked about.
struct Memory<'a> {
    state: Arc<FileState>,
    task: &'a str,
}

impl<'a> Memory<'a> {
    fn of(cx: &'a ToolContext) -> Option<Self> {
        let state = cx.service::<FileState>()?;
        Some(Self { state, task: hermes_file_state::task_of(cx.ids()) })
    }
}

/// Whether a program makes the call, which wants its result each time. What it gets is nothing that
/// the conversation holds.
fn is_by_program(cx: &ToolContext) -> bool {
    cx.depth() > 0
}

/// A page that is being read. Dropped before it was [shown](Self::shown), it is a failed read.
pub(crate) struct Reading<'a> {
    work: &'a Work<'a>,
    /// None where there is no memory, and once it is told how the reading went.
    memory: Option<Memory<'a>>,
    page: Window,
    since: u64,
    stamp: Option<Stamp>,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(work: &'a Work<'_>, path: &Path, offset: usize, limit: usize) -> Self {
        let memory = Memory::of(work.cx);
        let since = memory.as_ref().map(|memory| memory.state.now()).unwrap_or_default();
        let page = Window { file: key(work, path), offset, limit };
        Self { work, memory, page, since, stamp: None }
    }

    /// What to answer in place of the page, if it isn't to be read. The file is there and can be
    /// read.
    pub(crate) fn known(&mut self) -> Result<Option<ToolOutput>, ToolError> {
        let Some(memory) = &self.memory else { return Ok(None) };
        // Before the content, so that a change in between isn't missed.
        self.stamp = look(self.work, self.page.file.path());
        let Some(stamp) = self.stamp.as_ref().filter(|_| !is_by_program(self.work.cx)) else {
            return Ok(None);
        };
        let Some(repeated) = memory.state.look(memory.task, &self.page, stamp, self.since) else {
            return Ok(None);
        };
        self.memory = None;
        let path = self.page.file.path().display().to_string();
        match repeated {
            Repeated::Unchanged => Ok(Some(ToolOutput::Json(json!({
                "status": "unchanged",
                "message": UNCHANGED,
                "path": path,
                "dedup": true,
                "content_returned": false,
            })))),
            Repeated::Refused { times, changing } => {
                let why = if changing {
                    "the file changes all the time; do something else before you look again"
                } else {
                    "it hasn't changed, and you were shown what is in it"
                };
                let message = format!(
                    "BLOCKED: these lines of {path} were asked for {times} times in a row: {why}. \
                     Go on with what you know, read other lines (offset, limit), or use \
                     search_files to find something in it"
                );
                let blocked = Fault::Blocked.error(message).with_extra("path", path);
                Err(blocked.with_extra("already_read", times))
            }
        }
    }

    /// The page was read: this is what is shown of it.
    pub(crate) fn shown(self, output: ToolOutput) -> ToolOutput {
        self.told(output, lines_shown)
    }

    /// The page of a document was read, whose lines aren't those of the file.
    pub(crate) fn extracted(self, output: ToolOutput) -> ToolOutput {
        self.told(output, |_, _| (RangeInclusive::new(1, 0), 1))
    }

    fn told(
        mut self,
        mut output: ToolOutput,
        lines_shown: fn(&Map<String, Value>, usize) -> SeenLines,
    ) -> ToolOutput {
        let (Some(memory), Some(stamp)) = (&self.memory, self.stamp.take()) else {
            return output;
        };
        let ToolOutput::Json(Value::Object(result)) = &mut output else { return output };
        // The answer may be too late for the conversation.
        if self.work.cx.check_interrupt().is_err() {
            return output;
        }
        let (lines, total) = lines_shown(result, self.page.offset);
        let shown = Shown { stamp, since: self.since, lines, total };
        if is_by_program(self.work.cx) {
            memory.state.read_by_program(memory.task, &self.page.file, shown);
        } else if memory.state.shown(memory.task, &self.page, shown) == WARN_AFTER {
            let warning = format!(
                "this is the {WARN_AFTER}rd read of the same lines in a row, and the file was \
                 different each time; the next one is refused unless something else is done first"
            );
            warn(result, &warning);
        }
        self.memory = None;
        output
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.state.read_failed(memory.task, &self.page);
        }
    }
}

/// The lines of a file that were seen, and how many it has.
type SeenLines = (RangeInclusive<usize>, usize);

/// The lines of the file that a result shows.
fn lines_shown(result: &Map<String, Value>, offset: usize) -> SeenLines {
    let number = |key: &str| {
        let number = result.get(key).and_then(Value::as_u64)?;
        usize::try_from(number).ok()
    };
    let total = number("total_lines").unwrap_or_default();
    let is_cut = result.get("truncated").and_then(Value::as_bool).unwrap_or_default();
    let end = match number("next_offset") {
        Some(next) => next.saturating_sub(1),
        // Of the last line, only a part was shown.
        None if is_cut => total.saturating_sub(1),
        None => total,
    };
    (offset..=end, total)
}

/// A search that is about to be made.
pub(crate) struct Searching<'a> {
    memory: Option<Memory<'a>>,
    root: FileKey,
    what: String,
}

impl<'a> Searching<'a> {
    /// An error if it has been made again and again. `what` is all that makes a difference for
    /// what is found below `root`.
    pub(crate) fn of(
        work: &'a Work<'_>,
        root: &Path,
        pattern: &str,
        what: &Value,
    ) -> Result<Self, ToolError> {
        let memory = Memory::of(work.cx).filter(|_| !is_by_program(work.cx));
        let (root, what) = (key(work, root), format!("{what} {pattern}"));
        if let Some(memory) = &memory
            && let Some(times) = memory.state.search(memory.task, &root, &what)
        {
            let message = format!(
                "BLOCKED: this search was made {times} times in a row. Go on with what it found, \
                 or change the pattern, the path or the file_glob, or turn the page with offset"
            );
            let blocked = Fault::Blocked.error(message).with_extra("pattern", pattern);
            return Err(blocked.with_extra("already_searched", times));
        }
        Ok(Self { memory, root, what })
    }

    /// What came of it.
    pub(crate) fn done(self, mut found: ToolResult) -> ToolResult {
        let Some(memory) = &self.memory else { return found };
        match &mut found {
            Err(_) => memory.state.search_failed(memory.task, &self.root, &self.what),
            Ok(output) => {
                let times = memory.state.searched(memory.task, &self.root, &self.what);
                if times == WARN_AFTER
                    && let ToolOutput::Json(Value::Object(result)) = output
                {
                    let warning = format!(
                        "this is the {WARN_AFTER}rd time in a row that the same search was made; \
                         the next one is refused unless something else is done first"
                    );
                    warn(result, &warning);
                }
            }
        }
        found
    }
}

/// What to warn of before a file is written, moved over or removed.
pub(crate) fn stale(work: &Work<'_>, path: &Path, edit: Edit<'_>) -> Option<String> {
    let memory = Memory::of(work.cx)?;
    let guard = !work.cx.settings().env_truthy("HERMES_DISABLE_FILE_STATE_GUARD");
    let look = || look(work, path);
    let warning = memory.state.warning(memory.task, &key(work, path), edit, guard, look);
    warning.map(|warning| warning.to_string())
}

/// As [`stale`], for the passages `spans` of a file with the content `text`.
pub(crate) fn stale_at(
    work: &Work<'_>,
    path: &Path,
    text: &str,
    spans: &[Range<usize>],
) -> Option<String> {
    stale(work, path, Edit::Lines(&lines_of(text, spans)))
}

/// As [`stale`], for the changes of a patch. `real` gives the path behind the key of a file.
pub(crate) fn stale_changes(
    work: &Work<'_>,
    changes: &[Change],
    real: impl Fn(&str) -> PathBuf,
) -> Vec<String> {
    let warning = |change: &Change| match change {
        // Nothing is there, or it stays what it is.
        Change::Created { .. } | Change::Moved { change: None, .. } => None,
        Change::Deleted { path, .. } => stale(work, &real(path), Edit::Whole),
        Change::Changed { path, old, new }
        | Change::Moved { from: path, change: Some((old, new)), .. } => {
            stale_at(work, &real(path), old, &[changed_span(old, new)])
        }
    };
    changes.iter().filter_map(warning).collect()
}

/// All of a plan was done.
pub(crate) fn committed(work: &Work<'_>, plan: &Plan) {
    let Some(Memory { state, task }) = Memory::of(work.cx) else { return };
    for removal in &plan.removals {
        state.removed(task, &key(work, &removal.path));
    }
    for Move { from, to, .. } in &plan.moves {
        state.removed(task, &key(work, from));
        state.wrote(task, &key(work, to), look(work, to));
    }
    for Write { path, bytes, .. } in &plan.writes {
        let stamp = if work.backend.is_local() {
            Stamp::local_written(path, bytes)
        } else {
            look_far(work, path)
        };
        state.wrote(task, &key(work, path), stamp);
    }
}

/// Warnings as one, if there are any.
pub(crate) fn joined<const N: usize>(warnings: [Option<String>; N]) -> Option<String> {
    let warnings: Vec<String> = warnings.into_iter().flatten().collect();
    (!warnings.is_empty()).then(|| warnings.join(" | "))
}

/// The error of a patch that was refused, with stronger advice when patches of the file keep
/// missing their place.
pub(crate) fn missed(work: &Work<'_>, path: &Path, err: ToolError) -> ToolError {
    let is_miss = err.extra().get("error_kind").is_some_and(|it| it == Fault::NotFound.name())
        && work.stat(path).is_ok();
    let Some(memory) = Memory::of(work.cx).filter(|_| is_miss) else { return err };
    let misses = memory.state.missed(memory.task, &key(work, path));
    if misses < MANY_MISSES {
        return err;
    }
    err.with_extra(
        "_hint",
        format!(
            "this is miss number {misses} in a row in this file. Don't guess again: read the lines \
             around the place now and copy them exactly, with more lines around them, or write \
             the whole file anew"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_of_results() {
        let lines = |result: Value, offset| {
            let result = result.as_object().unwrap().clone();
            lines_shown(&result, offset)
        };
        let result = json!({"total_lines": 9, "truncated": true, "next_offset": 4});
        assert_eq!(lines(result, 2), (2..=3, 9));
        assert_eq!(lines(json!({"total_lines": 9, "truncated": false}), 2), (2..=9, 9));
        assert_eq!(
            lines(json!({"total_lines": 9, "truncated": true}), 9),
            (RangeInclusive::new(9, 8), 9)
        );
        assert_eq!(
            lines(json!({"total_lines": 0, "truncated": false}), 1),
            (RangeInclusive::new(1, 0), 0)
        );
    }
}

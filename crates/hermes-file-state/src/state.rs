//! What all tasks share, and the moments in a task's life that are no reads or writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_registry::{CallIds, CallListener};

use crate::bounded::Bounded;
use crate::key::{FileKey, Window};
use crate::task::Task;

const MAX_TASKS: usize = 256;
const MAX_WRITERS: usize = 4096;

/// Who has read and written which files. One for all sessions that work on the same files.
///
/// Methods are quick and may be called from anywhere; none does I/O but through what it is given.
#[derive(Debug, Default)]
pub struct FileState {
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Counts what happens, so that it can be told what came first.
    order: u64,
    tasks: Bounded<Arc<str>, Task, MAX_TASKS>,
    pub(crate) writers: Bounded<FileKey, Write, MAX_WRITERS>,
}

/// The last write of a file.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) task: Arc<str>,
    pub(crate) order: u64,
}

impl Shared {
    pub(crate) fn now(&self) -> u64 {
        self.order
    }

    /// The next moment.
    pub(crate) fn tick(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// What is known of a task, if anything.
    pub(crate) fn task(&mut self, task: &str) -> Option<&mut Task> {
        self.tasks.get_mut(task)
    }

    pub(crate) fn known_task(&self, task: &str) -> Option<&Task> {
        self.tasks.get(task)
    }

    /// The same for a task that is about to do something worth remembering. Keeps it from being
    /// forgotten.
    pub(crate) fn working_task(&mut self, task: &str) -> &mut Task {
        self.tasks.renewed(task.into())
    }
}

impl FileState {
    /// Knows of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks; a panic of another thread left nothing half done that would matter.
    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present moment, to be compared with later ones: a counter of what happened so far.
    pub fn now(&self) -> u64 {
        self.shared().now()
    }

    /// The task did something else than to read or search: repetitions begin anew. What its
    /// conversation holds, it holds still.
    pub fn other_tool(&self, task: &str) {
        if let Some(task) = self.shared().task(task) {
            task.other_tool();
        }
    }

    /// The task's conversation was compressed: what was shown is gone and may be shown again.
    pub fn compressed(&self, task: &str) {
        if let Some(task) = self.shared().task(task) {
            task.compressed();
        }
    }

    /// The task is over. What it wrote stays known to the others.
    pub fn ended(&self, task: &str) {
        self.shared().tasks.remove(task);
    }

    /// The pages that a task was shown, the latest first, at most 500: for the summary that takes
    /// the place of a compressed conversation.
    pub fn history(&self, task: &str) -> Vec<Window> {
        let shared = self.shared();
        let task = shared.known_task(task);
        task.into_iter().flat_map(|task| task.history.newest()).map(|it| it.0.clone()).collect()
    }

    /// A patch of the file didn't find its place. Gives how often that happened in a row.
    pub fn missed(&self, task: &str, file: &FileKey) -> u32 {
        let mut shared = self.shared();
        let misses = &mut shared.working_task(task).misses;
        let count = misses.get(file).map_or(1, |count| count.saturating_add(1));
        misses.insert(file.clone(), count);
        count
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> Vec<(usize, usize)> {
        let shared = self.shared();
        let of_tasks = shared.tasks.newest().flat_map(|(_, task)| task.sizes());
        let own = [(shared.tasks.len(), MAX_TASKS), (shared.writers.len(), MAX_WRITERS)];
        of_tasks.chain(own).collect()
    }
}

/// Work between two reads lets them begin anew.
impl CallListener for FileState {
    fn started(&self, ids: &CallIds, tool: &str) {
        if !matches!(tool, "read_file" | "search_files") {
            self.other_tool(task_of(ids));
        }
    }
}

/// The name under which the files of a call's task are kept: of a host that names no tasks, the
/// session's.
pub fn task_of(ids: &CallIds) -> &str {
    if ids.task.is_empty() { &ids.session } else { &ids.task }
}

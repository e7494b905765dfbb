//! What an agent is told that waited for another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::key::FileKey;
use crate::state::FileState;
use crate::writing::listed;

impl FileState {
    /// Those of `files` that other tasks than `exclude` wrote last, and after the
    /// [moment](Self::now) `since`, by task.
    pub fn writes_since(
        &self,
        exclude: &str,
        since: u64,
        files: &[FileKey],
    ) -> BTreeMap<Arc<str>, Vec<FileKey>> {
        let shared = self.shared();
        let mut writes = BTreeMap::<_, Vec<_>>::new();
        for file in files {
            if let Some(write) = shared.writers.get(file)
                && write.order > since
                && *write.task != *exclude
            {
                writes.entry(Arc::clone(&write.task)).or_default().push(file.clone());
            }
        }
        writes
    }

    /// The files that a task has read or written, the latest first.
    pub fn known_reads(&self, task: &str) -> Vec<FileKey> {
        let shared = self.shared();
        let task = shared.known_task(task);
        task.into_iter().flat_map(|task| task.reads.newest()).map(|it| it.0.clone()).collect()
    }

    /// A note for the agent of `task` about the files it knew that others have written after the
    /// [moment](Self::now) `since`, the first eight by name; none when there are none.
    pub fn changed_note(&self, task: &str, since: u64) -> Option<String> {
        let writes = self.writes_since(task, since, &self.known_reads(task));
        let mut files: Vec<FileKey> = writes.into_values().flatten().collect();
        files.sort();
        if files.is_empty() {
            return None;
        }
        Some(format!(
            "files that you had read were changed meanwhile by another agent: {}. What you know of \
             them is out of date; read them again before you change them",
            listed(files.iter().map(FileKey::path))
        ))
    }
}

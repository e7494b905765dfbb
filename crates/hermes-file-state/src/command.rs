//! What a task's own commands do to the files that it knows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::key::FileKey;
use crate::stamp::Stamp;
use crate::state::{FileState, Write};
use crate::writing::listed;

/// How many files are looked at before and after a command: those read or written last.
const MAX_WATCHED: usize = 256;

/// The files that a task knew when its command began.
#[derive(Debug)]
pub struct CommandWatch {
    task: Arc<str>,
    since: u64,
    files: Vec<(FileKey, Stamp)>,
}

impl FileState {
    /// A task is about to run a command in the file system `backend`. `look` gives a file as it is
    /// now, from how it was before: [`Stamp::local_again`] on this machine.
    pub fn command_begins(
        &self,
        task: &str,
        backend: &str,
        mut look: impl FnMut(&Path, &Stamp) -> Option<Stamp>,
    ) -> CommandWatch {
        let (since, known) = {
            let shared = self.shared();
            let reads = shared.known_task(task).into_iter().flat_map(|task| task.reads.newest());
            let here = reads.filter(|(file, _)| file.backend() == backend).take(MAX_WATCHED);
            let known: Vec<_> =
                here.map(|(file, known)| (file.clone(), known.stamp.clone())).collect();
            (shared.now(), known)
        };
        let present = |(file, before): (FileKey, Stamp)| {
            let now = look(file.path(), &before)?;
            Some((file, now))
        };
        let files = known.into_iter().filter_map(present).collect();
        CommandWatch { task: task.into(), since, files }
    }

    /// The command has ended. Gives the files that it changed or removed; they count as written by
    /// the task, which hasn't seen how they are now.
    pub fn command_ended(
        &self,
        watch: CommandWatch,
        mut look: impl FnMut(&Path, &Stamp) -> Option<Stamp>,
    ) -> Vec<PathBuf> {
        let CommandWatch { task, since, files } = watch;
        let changed = files.into_iter().filter_map(|(file, before)| {
            let now = look(file.path(), &before);
            let same = now.as_ref().is_some_and(|now| now.is_same(&before));
            (!same).then_some((file, now))
        });
        let changed: Vec<_> = changed.collect();
        let mut shared = self.shared();
        let mut by_command = Vec::new();
        for (file, now) in changed {
            // Another tool may have written it while the command ran.
            if shared.writers.get(&file).is_some_and(|write| write.order > since) {
                continue;
            }
            let order = shared.tick();
            shared.writers.insert(file.clone(), Write { task: Arc::clone(&task), order });
            if let Some(task) = shared.task(&task) {
                task.drop_pages_of(&file);
                match now {
                    None => drop(task.reads.remove(&file)),
                    now => {
                        if let Some(known) = task.reads.get_mut(&file) {
                            known.by_command = now;
                        }
                    }
                }
            }
            by_command.push(file.path().to_owned());
        }
        by_command
    }
}

/// A note for the model about the files that its command changed; none when there are none.
pub fn command_note(changed: &[PathBuf]) -> Option<String> {
    if changed.is_empty() {
        return None;
    }
    Some(format!(
        "changed by your command: {}. Read again what you need of it",
        listed(changed.iter().map(PathBuf::as_path))
    ))
}

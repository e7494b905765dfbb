//! Writes, and what to be warned of before them.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::key::FileKey;
use crate::stamp::Stamp;
use crate::state::{FileState, Write};
use crate::task::{Known, Seen};

/// What is about to be done to a file.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a> {
    /// All of its content is replaced or removed.
    Whole,
    /// These lines are changed, numbered from 1 as they are before the change.
    Lines(&'a [RangeInclusive<usize>]),
}

/// Why a write may destroy what its author hasn't seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    path: PathBuf,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    NeverRead,
    WrittenByOther,
    ChangedByCommand,
    Changed,
    ReadInPart,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.reason {
            Reason::NeverRead => write!(
                f,
                "{path} was written by another agent and you never read it: its work may be lost; \
                 read the file and check"
            ),
            Reason::WrittenByOther => write!(
                f,
                "{path} was written by another agent after you read it: its work may be lost; read \
                 the file again and check"
            ),
            Reason::ChangedByCommand => write!(
                f,
                "{path} was changed by your command after you read it; read the file again before \
                 going on"
            ),
            Reason::Changed => write!(
                f,
                "{path} was changed by someone else (a person or another program) after you read \
                 it: that change may be lost; read the file again and check"
            ),
            Reason::ReadInPart => write!(
                f,
                "you had read only a part of {path}, and this goes beyond it; check that nothing \
                 was lost that you hadn't seen"
            ),
        }
    }
}

impl FileState {
    /// What to be warned of before a task writes a file: the first of that somebody else wrote it
    /// since the task read it, that it was changed otherwise, and that the task has seen only a
    /// part of it. `look` gives the file as it is now, none if there is none; it is asked only
    /// about files that the task has read.
    ///
    /// Without the `guard` between agents, only changes since the last read count.
    pub fn warning(
        &self,
        task: &str,
        file: &FileKey,
        edit: Edit<'_>,
        guard: bool,
        look: impl FnOnce() -> Option<Stamp>,
    ) -> Option<Warning> {
        let (known, other) = {
            let shared = self.shared();
            let known = shared.known_task(task).and_then(|it| it.reads.get(file)).cloned();
            let other = shared.writers.get(file).filter(|write| guard && *write.task != *task);
            (known, other.map(|write| write.order))
        };
        if known.is_none() && other.is_none() {
            return None;
        }
        // Nothing can be lost where nothing is.
        let now = look()?;
        let reason = match (known, other) {
            (None, Some(_)) => Reason::NeverRead,
            (Some(known), Some(order)) if order > known.order => Reason::WrittenByOther,
            (Some(known), _) => of_known(&known, &now, edit, guard)?,
            (None, None) => return None,
        };
        Some(Warning { path: file.path().to_owned(), reason })
    }

    /// A task wrote a file, all of which it knows by that. `stamp` is the file as it was written,
    /// none where that can't be told.
    pub fn wrote(&self, task: &str, file: &FileKey, stamp: Option<Stamp>) {
        let mut shared = self.shared();
        let order = shared.tick();
        shared.writers.insert(file.clone(), Write { task: task.into(), order });
        let known = shared.working_task(task);
        known.drop_pages_of(file);
        known.misses.remove(file);
        known.reads.remove(file);
        if let Some(stamp) = stamp {
            let known_now = Known { stamp, order, seen: Seen::All, by_command: None };
            known.reads.insert(file.clone(), known_now);
        }
    }

    /// A task removed a file, or moved it away.
    pub fn removed(&self, task: &str, file: &FileKey) {
        self.wrote(task, file, None);
    }
}

fn of_known(known: &Known, now: &Stamp, edit: Edit<'_>, guard: bool) -> Option<Reason> {
    if !known.stamp.is_same(now) {
        let by_command = known.by_command.as_ref().is_some_and(|left| left.is_same(now));
        return Some(if by_command { Reason::ChangedByCommand } else { Reason::Changed });
    }
    let seen = match (&known.seen, edit) {
        (Seen::All, _) => true,
        (Seen::Part(_), Edit::Whole) => false,
        (Seen::Part(seen), Edit::Lines(lines)) => lines.iter().all(|lines| seen.covers(lines)),
    };
    (guard && !seen).then_some(Reason::ReadInPart)
}

/// The first of several paths, and how many more there are.
pub(crate) fn listed<'a>(paths: impl ExactSizeIterator<Item = &'a Path>) -> String {
    const MAX_LISTED: usize = 8;
    let more = paths.len().saturating_sub(MAX_LISTED);
    let shown: Vec<String> = paths.take(MAX_LISTED).map(|it| it.display().to_string()).collect();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

//! Pages that were shown before, and calls that are repeated.

use std::ops::RangeInclusive;

use crate::key::{FileKey, Window};
use crate::lines::Lines;
use crate::stamp::Stamp;
use crate::state::FileState;
use crate::task::{Call, Known, Seen, Task};

/// The call in a row that is answered with a warning. The one after it is refused.
pub const WARN_AFTER: u32 = 3;

/// What a page is that was shown before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The conversation holds it, as it is now. Said once.
    Unchanged,
    /// It was asked for so often that it is refused.
    Refused {
        /// How often, this time included.
        times: u32,
        /// Whether it was different each time.
        changing: bool,
    },
}

/// A page that is shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The file, as it was before it was read.
    pub stamp: Stamp,
    /// The [moment](FileState::now) before it was looked at.
    pub since: u64,
    /// The lines shown, from 1 on; an empty range if there were none.
    pub lines: RangeInclusive<usize>,
    /// How many lines the file has.
    pub total: usize,
}

impl FileState {
    /// Whether a page of a file need not be read: the file is the same as when the page was shown
    /// last, or the page has been read again and again. Counts the question. `since` is the
    /// [moment](Self::now) before `now` was looked at.
    pub fn look(&self, task: &str, page: &Window, now: &Stamp, since: u64) -> Option<Repeated> {
        let mut shared = self.shared();
        let task = shared.task(task)?;
        if let Some(again) = task.holds(page, now) {
            // It is known by that, that nothing has changed till now.
            if let Some(known) = task.reads.get_mut(&page.file).filter(|it| it.stamp.is_same(now)) {
                known.order = known.order.max(since);
            }
            return Some(match again {
                1 => Repeated::Unchanged,
                _ => Repeated::Refused { times: again.saturating_add(1), changing: false },
            });
        }
        let call = Call::Read(page.clone());
        if task.repeated(&call) < WARN_AFTER {
            return None;
        }
        Some(Repeated::Refused { times: task.count(call), changing: true })
    }

    /// A page was read and is shown to the model. Gives how often it was read in a row: on
    /// [`WARN_AFTER`] the model is to be warned.
    pub fn shown(&self, task: &str, page: &Window, shown: Shown) -> u32 {
        let mut shared = self.shared();
        let task = shared.working_task(task);
        task.hold(page, shown.stamp.clone());
        know(task, &page.file, shown);
        task.count(Call::Read(page.clone()))
    }

    /// A page was read by a program on behalf of the task: the conversation doesn't hold it, yet
    /// the task knows the file.
    pub fn read_by_program(&self, task: &str, file: &FileKey, shown: Shown) {
        know(self.shared().working_task(task), file, shown);
    }

    /// A page couldn't be read: what was shown of it before is of no use any more.
    pub fn read_failed(&self, task: &str, page: &Window) {
        if let Some(task) = self.shared().task(task) {
            task.drop_page(page);
            task.failed(&Call::Read(page.clone()));
        }
    }

    /// Whether a search has been made again and again: how often, this time included. `what` is
    /// all that makes a difference for what is found below `root`.
    pub fn search(&self, task: &str, root: &FileKey, what: &str) -> Option<u32> {
        let call = Call::Search(root.clone(), what.into());
        let mut shared = self.shared();
        let task = shared.task(task)?;
        (task.repeated(&call) >= WARN_AFTER).then(|| task.count(call))
    }

    /// A search was made and its results are shown to the model. Gives how often it was made in a
    /// row: on [`WARN_AFTER`] the model is to be warned.
    pub fn searched(&self, task: &str, root: &FileKey, what: &str) -> u32 {
        let call = Call::Search(root.clone(), what.into());
        self.shared().working_task(task).count(call)
    }

    /// A search failed.
    pub fn search_failed(&self, task: &str, root: &FileKey, what: &str) {
        if let Some(task) = self.shared().task(task) {
            task.failed(&Call::Search(root.clone(), what.into()));
        }
    }
}

/// The task has seen these lines, beside those of the same content that it saw before.
fn know(task: &mut Task, file: &FileKey, shown: Shown) {
    let Shown { stamp, since, lines, total } = shown;
    let before = task.reads.remove(file).filter(|known| known.stamp.is_same(&stamp));
    let seen = match before.map(|known| known.seen) {
        Some(Seen::All) => Seen::All,
        before => {
            let mut seen = match before {
                Some(Seen::Part(lines)) => lines,
                _ => Lines::default(),
            };
            let of_empty = total == 0 && *lines.start() == 1;
            seen.add(lines);
            if of_empty || (total > 0 && seen.covers(&(1..=total))) {
                Seen::All
            } else {
                Seen::Part(seen)
            }
        }
    };
    task.reads.insert(file.clone(), Known { stamp, order: since, seen, by_command: None });
}

//! What is known of one task.

use crate::bounded::Bounded;
use crate::key::{FileKey, Window};
use crate::lines::Lines;
use crate::stamp::Stamp;

const MAX_PAGES: usize = 1000;
const MAX_HISTORY: usize = 500;
const MAX_MISSES: usize = 64;
const MAX_READS: usize = 4096;

/// A call as it may be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read(Window),
    /// Where, and all that makes a difference for what is found.
    Search(FileKey, Box<str>),
}

/// What a task knows of a file.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The file as it was.
    pub(crate) stamp: Stamp,
    /// What had happened by then.
    pub(crate) order: u64,
    pub(crate) seen: Seen,
    /// The file as a command of the task left it later, which the task hasn't seen.
    pub(crate) by_command: Option<Stamp>,
}

/// How much of a file was seen.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    All,
    Part(Lines),
}

/// One task: its pages, the calls it repeats, and the files it knows.
#[derive(Debug, Default)]
pub(crate) struct Task {
    last: Option<Call>,
    /// How often the last call was made without another one in between.
    count: u32,
    /// The pages that the conversation holds.
    pages: Bounded<Window, Stamp, MAX_PAGES>,
    /// How often a page was asked for that the conversation holds.
    again: Bounded<Window, u32, MAX_PAGES>,
    /// The pages that were ever shown.
    pub(crate) history: Bounded<Window, (), MAX_HISTORY>,
    /// How many patches in a row missed their place, by file.
    pub(crate) misses: Bounded<FileKey, u32, MAX_MISSES>,
    pub(crate) reads: Bounded<FileKey, Known, MAX_READS>,
}

impl Task {
    /// Whether the conversation holds this page as it is now, and how often it was asked for since.
    pub(crate) fn holds(&mut self, page: &Window, now: &Stamp) -> Option<u32> {
        if !self.pages.get(page)?.is_same(now) {
            return None;
        }
        let again = self.again.get(page).map_or(1, |count| count.saturating_add(1));
        self.again.insert(page.clone(), again);
        Some(again)
    }

    /// The conversation holds this page from now on.
    pub(crate) fn hold(&mut self, page: &Window, stamp: Stamp) {
        self.again.remove(page);
        self.pages.insert(page.clone(), stamp);
        self.history.insert(page.clone(), ());
    }

    /// What the conversation holds is of no use: nothing, or something else, came of the last read.
    pub(crate) fn drop_page(&mut self, page: &Window) {
        self.pages.remove(page);
        self.again.remove(page);
    }

    /// The file was changed.
    pub(crate) fn drop_pages_of(&mut self, file: &FileKey) {
        self.pages.retain(|page| page.file != *file);
        self.again.retain(|page| page.file != *file);
    }

    /// How often the call was made in a row, this time not included.
    pub(crate) fn repeated(&self, call: &Call) -> u32 {
        if self.last.as_ref() == Some(call) { self.count } else { 0 }
    }

    /// The call is made. Gives how often it was made in a row.
    pub(crate) fn count(&mut self, call: Call) -> u32 {
        self.count = self.repeated(&call).saturating_add(1);
        self.last = Some(call);
        self.count
    }

    /// The call came to nothing. It breaks a row of others, and adds nothing to its own.
    pub(crate) fn failed(&mut self, call: &Call) {
        if self.last.as_ref() != Some(call) {
            self.end_row();
        }
    }

    /// Something else was done.
    pub(crate) fn other_tool(&mut self) {
        self.end_row();
        self.again.clear();
    }

    /// The conversation holds no page any more.
    pub(crate) fn compressed(&mut self) {
        self.end_row();
        self.pages.clear();
        self.again.clear();
    }

    fn end_row(&mut self) {
        self.last = None;
        self.count = 0;
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> [(usize, usize); 5] {
        [
            (self.pages.len(), MAX_PAGES),
            (self.again.len(), MAX_PAGES),
            (self.history.len(), MAX_HISTORY),
            (self.misses.len(), MAX_MISSES),
            (self.reads.len(), MAX_READS),
        ]
    }
}

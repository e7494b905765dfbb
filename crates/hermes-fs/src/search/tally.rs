//! Counting what is found, up to the cap.

use std::path::PathBuf;

use super::{Hit, Limit, Row, Scan, Unit};

/// How many files that couldn't be searched are named.
const MAX_NAMED: usize = 5;

/// What was found so far.
pub(crate) struct Tally {
    pub(crate) scan: Scan,
    unit: Unit,
    room: u64,
}

impl Tally {
    pub(crate) fn new(unit: Unit, cap: u64) -> Self {
        Self { scan: Scan::default(), unit, room: cap }
    }

    /// Counts a file with matching lines. Tells whether there is room for more.
    pub(crate) fn push(&mut self, path: PathBuf, count: u64, rows: Option<Vec<Row>>) -> bool {
        let worth = if self.unit == Unit::Files { 1 } else { count };
        if worth > self.room {
            self.scan.limit = Some(Limit::Cap);
            if self.room > 0 {
                self.scan.hits.push(Hit { path, count: self.room, rows });
            }
            self.room = 0;
            return false;
        }
        self.room -= worth;
        self.scan.hits.push(Hit { path, count, rows });
        true
    }

    /// Counts a file that couldn't be searched.
    pub(crate) fn skip(&mut self, path: PathBuf, reason: String) {
        self.scan.unreadable += 1;
        if self.scan.skipped.len() < MAX_NAMED {
            self.scan.skipped.push((path, reason));
        }
    }
}

//! Time limits that stand still while a person is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A moment by which something must have ended. It moves on while a person is waited for, so that
/// thinking about a question costs no working time. Clones are the same deadline.
#[derive(Clone, Debug)]
pub struct Deadline {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    at: Instant,
    /// How many waits are going on.
    waits: u32,
    /// When the first of them began.
    since: Instant,
}

impl Deadline {
    /// The deadline at `at`.
    pub fn at(at: Instant) -> Self {
        Self { state: Arc::new(Mutex::new(State { at, waits: 0, since: at })) }
    }

    /// The deadline `limit` from now; none if that is beyond what a clock can tell.
    pub fn after(limit: Duration) -> Option<Self> {
        Instant::now().checked_add(limit).map(Self::at)
    }

    /// When it is, as far as is known now.
    pub fn instant(&self) -> Instant {
        self.state().at
    }

    /// Whether a person is being waited for, so that the deadline can't pass.
    pub fn is_paused(&self) -> bool {
        self.state().waits > 0
    }

    /// Whether it has passed.
    pub fn has_passed(&self) -> bool {
        let state = self.state();
        state.waits == 0 && Instant::now() >= state.at
    }

    fn begin_wait(&self) {
        let mut state = self.state();
        if state.waits == 0 {
            state.since = Instant::now();
        }
        state.waits += 1;
    }

    fn end_wait(&self) {
        let mut state = self.state();
        state.waits = state.waits.saturating_sub(1);
        if state.waits == 0 {
            let waited = state.since.elapsed();
            state.at = state.at.checked_add(waited).unwrap_or(state.at);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops deadlines for as long as it lives.
#[derive(Debug)]
#[must_use = "deadlines go on when this is dropped"]
pub struct PersonWait {
    deadlines: Vec<Deadline>,
}

impl PersonWait {
    pub(crate) fn begin(deadlines: Vec<Deadline>) -> Self {
        for deadline in &deadlines {
            deadline.begin_wait();
        }
        Self { deadlines }
    }
}

impl Drop for PersonWait {
    fn drop(&mut self) {
        for deadline in &self.deadlines {
            deadline.end_wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_waits_for_people() {
        let now = Instant::now();
        let deadline = Deadline::at(now);
        assert!(deadline.has_passed());
        let first = PersonWait::begin(vec![deadline.clone()]);
        let second = PersonWait::begin(vec![deadline.clone()]);
        drop(first);
        assert!(deadline.is_paused() && !deadline.has_passed());
        drop(second);
        assert!(!deadline.is_paused());
        assert!(deadline.instant() > now);
    }
}

//! Leaving a scanner that keeps failing alone for a while.

use std::time::{Duration, Instant};

/// Failures in a row from which on it is left alone.
const MAX_FAILURES: u32 = 3;

/// How long it is left alone.
const PAUSE: Duration = Duration::from_secs(5 * 60);

/// Counts failures. What an open breaker means for commands is not its business.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    since: Option<Instant>,
}

impl Breaker {
    /// Whether the scanner is to be tried at `now`. After a pause one try is let through.
    pub(super) fn lets_through(&mut self, now: Instant) -> bool {
        match self.since {
            Some(since) if now.saturating_duration_since(since) < PAUSE => false,
            Some(_) => {
                // The next ones wait for what becomes of this try.
                self.since = Some(now);
                true
            }
            None => true,
        }
    }

    /// The scanner worked.
    pub(super) fn worked(&mut self) {
        *self = Self::default();
    }

    /// The scanner failed; says whether it is left alone from now on.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= MAX_FAILURES {
            self.since = Some(now);
        }
        self.failures == MAX_FAILURES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_pause_it_and_one_success_ends_that() {
        let start = Instant::now();
        let mut breaker = Breaker::default();
        assert!(!breaker.failed(start) && !breaker.failed(start));
        breaker.worked();
        assert!(!breaker.failed(start) && !breaker.failed(start));
        assert!(breaker.lets_through(start));
        assert!(breaker.failed(start));
        assert!(!breaker.lets_through(start + PAUSE / 2));
        // One try after the pause; if it fails too, the pause begins anew.
        assert!(breaker.lets_through(start + PAUSE));
        assert!(!breaker.lets_through(start + PAUSE));
        assert!(!breaker.failed(start + PAUSE));
        assert!(!breaker.lets_through(start + PAUSE + PAUSE / 2));
        assert!(breaker.lets_through(start + 2 * PAUSE));
        breaker.worked();
        assert!(breaker.lets_through(start));
    }
}

//! A limit to what all watched processes tell together.

use std::time::Duration;

/// How many events there may be in [`EVENT_WINDOW`].
pub const MOST_EVENTS: u32 = 15;
/// The window of time that begins with an event.
pub const EVENT_WINDOW: Duration = Duration::from_secs(10);
/// How long all events are dropped when there were more.
pub const PAUSE: Duration = Duration::from_secs(30);

/// What becomes of an event, and what is to be told before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is told.
    Admitted,
    /// It is told, and before it that so many events were dropped.
    Released(u64),
    /// It is dropped, and it is told that events are dropped now.
    Tripped,
    /// It is dropped.
    Dropped,
}

/// Keeps all processes together from telling too much: more than [`MOST_EVENTS`] matches in
/// [`EVENT_WINDOW`] silence all for [`PAUSE`].
///
/// ```
/// use std::time::Duration;
/// use hermes_terminal::{Admission, Breaker};
///
/// let mut breaker = Breaker::default();
/// for _ in 0..15 {
///     assert_eq!(breaker.admit(Duration::ZERO), Admission::Admitted);
/// }
/// assert_eq!(breaker.admit(Duration::from_secs(1)), Admission::Tripped);
/// assert_eq!(breaker.admit(Duration::from_secs(31)), Admission::Released(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    window: Option<Duration>,
    events: u32,
    paused_until: Option<Duration>,
    dropped: u64,
}

impl Breaker {
    /// Whether a match may be told now. Time must not go back.
    pub fn admit(&mut self, now: Duration) -> Admission {
        let mut released = 0;
        if let Some(until) = self.paused_until {
            if now < until {
                self.dropped += 1;
                return Admission::Dropped;
            }
            released = self.dropped;
            *self = Self::default();
        }
        if self.window.is_none_or(|start| now.saturating_sub(start) >= EVENT_WINDOW) {
            self.window = Some(now);
            self.events = 0;
        }
        if self.events >= MOST_EVENTS {
            self.paused_until = Some(now.saturating_add(PAUSE));
            self.dropped = 1;
            return Admission::Tripped;
        }
        self.events += 1;
        if released > 0 { Admission::Released(released) } else { Admission::Admitted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_flood_is_stopped() {
        let mut breaker = Breaker::default();
        for event in 0..15 {
            assert_eq!(breaker.admit(at(f64::from(event) / 2.0)), Admission::Admitted);
        }
        assert_eq!(breaker.admit(at(9.9)), Admission::Tripped);
        assert_eq!(breaker.admit(at(10.0)), Admission::Dropped);
        assert_eq!(breaker.admit(at(39.8)), Admission::Dropped);
        assert_eq!(breaker.admit(at(39.9)), Admission::Released(3));
        assert_eq!(breaker.admit(at(40.0)), Admission::Admitted);
    }

    #[test]
    fn a_steady_flow_is_not() {
        let mut breaker = Breaker::default();
        for event in 0..100 {
            assert_eq!(breaker.admit(at(f64::from(event))), Admission::Admitted);
        }
    }
}

//! Answers of availability probes, remembered for a while.
//!
//! Probes can be slow (one asks a container engine) and are asked for on every turn of a
//! conversation. Here an answer is good for 30 seconds, a backend that answered well within the
//! last minute is believed through a hiccup, a probe runs once however many callers wait for it,
//! and different probes run beside each other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Check, Settings};

/// Where the cache gets the time from.
pub trait Clock: Send + Sync {
    /// The time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
}

/// The machine's monotonic clock.
#[derive(Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// The times the cache works with.
#[derive(Clone, Copy, Debug)]
pub struct AvailabilityLimits {
    /// An answer younger than this is served again.
    pub ttl: Duration,
    /// A failing probe is overlooked while the last good answer is younger than this.
    pub grace: Duration,
    /// While a failure is overlooked, the probe runs at most once in this time.
    pub reprobe: Duration,
    /// A probe that takes longer counts as failed.
    pub deadline: Duration,
}

impl Default for AvailabilityLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(30),
            grace: Duration::from_secs(60),
            reprobe: Duration::from_secs(5),
            deadline: Duration::from_secs(10),
        }
    }
}

/// What the cache answers about one probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Why the tool can't be used; `Ok` if it can.
    pub outcome: Result<(), Arc<str>>,
    /// Until when (by the cache's clock) the answer is served again.
    pub valid_until: Duration,
}

impl Verdict {
    /// Whether the tool can be used.
    pub fn is_available(&self) -> bool {
        self.outcome.is_ok()
    }
}

/// The cache. Shared by everything that asks about one set of tools.
pub struct AvailabilityCache {
    shared: Arc<Shared>,
    limits: AvailabilityLimits,
}

struct Shared {
    clock: Arc<dyn Clock>,
    epoch: AtomicU64,
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    // By settings (each profile has its own) and probe.
    slots: HashMap<(u64, usize), Slot>,
}

struct Slot {
    // Keeps the probe alive, so that its address names no other one.
    _check: Check,
    verdict: Option<Verdict>,
    last_good: Option<Duration>,
    run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    /// No probe under way.
    Idle,
    /// A probe is under way and callers wait for it.
    Running,
    /// A probe is under way that has outlasted the deadline. Nobody waits for it.
    Overdue,
}

/// Beyond this many remembered answers the idle ones are dropped.
const MAX_SLOTS: usize = 4096;

const OVERDUE: &str = "its availability check gave no answer in time";

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for AvailabilityCache {
    fn default() -> Self {
        Self::new(Arc::new(MonotonicClock::default()), AvailabilityLimits::default())
    }
}

impl AvailabilityCache {
    /// A cache with the given clock and times.
    pub fn new(clock: Arc<dyn Clock>, limits: AvailabilityLimits) -> Self {
        let shared = Shared {
            clock,
            epoch: AtomicU64::new(0),
            state: Mutex::default(),
            done: Condvar::new(),
        };
        Self { shared: Arc::new(shared), limits }
    }

    /// The time by the cache's clock.
    pub fn now(&self) -> Duration {
        self.shared.clock.now()
    }

    /// Rises with every [`invalidate`](Self::invalidate).
    pub fn epoch(&self) -> u64 {
        self.shared.epoch.load(Ordering::SeqCst)
    }

    /// Forgets everything. Call it when configuration or credentials have changed.
    pub fn invalidate(&self) {
        let mut state = self.shared.state();
        state.slots.clear();
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        self.shared.done.notify_all();
    }

    /// The answer of one probe.
    pub fn check(&self, settings: &Settings, check: &Check) -> Verdict {
        self.check_all(settings, std::slice::from_ref(check))
            .pop()
            .unwrap_or_else(|| self.overdue())
    }

    /// The answers of several probes, in their order. Those that have to run do so side by side.
    pub fn check_all(&self, settings: &Settings, checks: &[Check]) -> Vec<Verdict> {
        let now = self.now();
        for check in checks {
            self.start_if_stale(settings, check, now);
        }
        // Real time, whatever clock the answers are dated by: this bounds a hanging probe.
        let give_up = Instant::now() + self.limits.deadline;
        checks.iter().map(|check| self.wait(settings, check, now, give_up)).collect()
    }

    /// Starts the probe unless its last answer still holds or it is running.
    fn start_if_stale(&self, settings: &Settings, check: &Check, now: Duration) {
        let key = (settings.id(), check.address());
        let mut state = self.shared.state();
        if state.slots.len() >= MAX_SLOTS {
            state.slots.retain(|_, slot| slot.run != Run::Idle);
        }
        let slot = state.slots.entry(key).or_insert_with(|| Slot {
            _check: check.clone(),
            verdict: None,
            last_good: None,
            run: Run::Idle,
        });
        if slot.run != Run::Idle || slot.is_fresh(now) {
            return;
        }
        slot.run = Run::Running;
        // Under the lock, so that an invalidation can't come between.
        let epoch = self.epoch();
        drop(state);

        let probe = {
            let (shared, limits) = (Arc::clone(&self.shared), self.limits);
            let (check, settings) = (check.clone(), settings.clone());
            Arc::new(move || {
                let outcome = check.run(&settings);
                let mut state = shared.state();
                // After an invalidation the slot, if there is one, belongs to a later probe.
                if shared.epoch.load(Ordering::SeqCst) == epoch
                    && let Some(slot) = state.slots.get_mut(&key)
                {
                    slot.run = Run::Idle;
                    slot.settle(outcome, now, limits);
                }
                drop(state);
                shared.done.notify_all();
            })
        };
        // A thread of its own: a probe that never ends holds up nobody but itself.
        let on_thread = Arc::clone(&probe);
        let builder = std::thread::Builder::new().name("availability".to_owned());
        if builder.spawn(move || on_thread()).is_err() {
            probe();
        }
    }

    /// The answer of a probe that was started at `now`, or its last one.
    fn wait(&self, settings: &Settings, check: &Check, now: Duration, give_up: Instant) -> Verdict {
        let key = (settings.id(), check.address());
        let mut state = self.shared.state();
        loop {
            let Some(slot) = state.slots.get_mut(&key) else {
                // Invalidated in the meantime: what the probe finds now is what counts.
                drop(state);
                self.start_if_stale(settings, check, now);
                state = self.shared.state();
                if Instant::now() >= give_up {
                    return self.overdue();
                }
                continue;
            };
            if let Some(verdict) = &slot.verdict
                && (slot.run != Run::Running || slot.is_fresh(now))
            {
                return verdict.clone();
            }
            let left = give_up.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // Later callers get this answer at once instead of waiting as long as this one.
                slot.run = Run::Overdue;
                slot.settle(Err(OVERDUE.to_owned()), now, self.limits);
                continue;
            }
            let waited = self.shared.done.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn overdue(&self) -> Verdict {
        Verdict { outcome: Err(OVERDUE.into()), valid_until: self.now() }
    }
}

impl Slot {
    fn is_fresh(&self, now: Duration) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| now < verdict.valid_until)
    }

    /// Takes the answer of a probe that began at `began`.
    fn settle(&mut self, outcome: Result<(), String>, began: Duration, limits: AvailabilityLimits) {
        let in_grace = self.last_good.is_some_and(|good| began.saturating_sub(good) < limits.grace);
        self.verdict = Some(match outcome {
            Ok(()) => {
                self.last_good = Some(began);
                Verdict { outcome: Ok(()), valid_until: began + limits.ttl }
            }
            Err(_) if in_grace => Verdict { outcome: Ok(()), valid_until: began + limits.reprobe },
            Err(why) => Verdict { outcome: Err(why.into()), valid_until: began + limits.ttl },
        });
    }
}

impl std::fmt::Debug for AvailabilityCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AvailabilityCache").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct ManualClock(AtomicU64);
    impl Clock for ManualClock {
        fn now(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::SeqCst))
        }
    }

    #[test]
    fn callers_share_one_probe() {
        let runs = Arc::new(AtomicUsize::new(0));
        let check = Check::new({
            let runs = Arc::clone(&runs);
            move |_| {
                runs.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(20));
                Ok(())
            }
        });
        let cache = AvailabilityCache::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(cache.check(&Settings::default(), &check).is_available()));
            }
        });
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_hanging_probe_is_waited_for_once() {
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let gate = Mutex::new(gate);
        let hanging = Check::new(move |_| {
            gate.lock().unwrap().recv().ok();
            Ok(())
        });
        let fine = Check::new(|_| Ok(()));
        let clock = Arc::new(ManualClock::default());
        let limits = AvailabilityLimits {
            deadline: Duration::from_millis(50),
            ..AvailabilityLimits::default()
        };
        let cache = AvailabilityCache::new(clock.clone(), limits);
        let verdicts = cache.check_all(&Settings::default(), &[hanging.clone(), fine]);
        assert_eq!(verdicts[0].outcome, Err(OVERDUE.into()));
        assert!(verdicts[1].is_available());
        clock.0.store(31_000, Ordering::SeqCst);
        assert!(!cache.check(&Settings::default(), &hanging).is_available());
        drop(release);
    }

    #[test]
    fn a_crashing_probe_counts_as_unavailable() {
        let cache = AvailabilityCache::default();
        let verdict = cache.check(&Settings::default(), &Check::new(|_| panic!("boom")));
        assert!(!verdict.is_available());
    }

    #[test]
    fn each_profile_has_its_own_answers() {
        let cache = AvailabilityCache::default();
        let check = Check::new(|settings| settings.env("K").map(|_| ()).ok_or("no K".to_owned()));
        let with_key = Settings::default().with_env([("K", "1")]);
        assert!(cache.check(&with_key, &check).is_available());
        assert!(!cache.check(&Settings::default(), &check).is_available());
    }
}

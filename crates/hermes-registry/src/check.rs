//! Availability probes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::Settings;

/// Why a tool can't be used right now, in words for a person: what is missing and how to get it.
pub type Unavailable = String;

/// A probe of a linked tool. It may block for as long as the cache's deadline allows.
pub type CheckFn = fn(&Settings) -> Result<(), Unavailable>;

/// A probe with state, made at run time.
pub type DynCheck = dyn Fn(&Settings) -> Result<(), Unavailable> + Send + Sync;

/// A probe, from a linked tool or made at run time.
#[derive(Clone)]
pub enum Check {
    /// A linked tool's.
    Static(CheckFn),
    /// One with state.
    Dynamic(Arc<DynCheck>),
}

impl Check {
    /// A probe from a closure.
    pub fn new(
        probe: impl Fn(&Settings) -> Result<(), Unavailable> + Send + Sync + 'static,
    ) -> Self {
        Self::Dynamic(Arc::new(probe))
    }

    /// Runs the probe. A panic counts as a failure.
    pub fn run(&self, settings: &Settings) -> Result<(), Unavailable> {
        let probe = || match self {
            Self::Static(probe) => probe(settings),
            Self::Dynamic(probe) => probe(settings),
        };
        catch_unwind(AssertUnwindSafe(probe))
            .unwrap_or_else(|_| Err("its availability check crashed".to_owned()))
    }

    /// Tells probes apart, so that tools which share one are probed once.
    ///
    /// Equal code may be merged by the compiler; it then gives equal answers.
    pub fn is_same(&self, other: &Self) -> bool {
        self.address() == other.address()
    }

    pub(crate) fn address(&self) -> usize {
        match self {
            Self::Static(probe) => *probe as usize,
            Self::Dynamic(probe) => Arc::as_ptr(probe).cast::<()>() as usize,
        }
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Static(_) => "Check::Static",
            Self::Dynamic(_) => "Check::Dynamic",
        })
    }
}

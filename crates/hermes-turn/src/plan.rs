//! Which calls of a batch may run beside each other.
//!
//! The calls of a turn are split into segments that run one after the other. No call overtakes an
//! earlier one that it could depend on: what changes a path runs after whatever touched that path,
//! what is above it or what is below it before, and calls of which nothing is known run alone.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hermes_registry::{Access, Concurrency};
use serde_json::Value;

/// What a call claims for itself while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// Everything: it runs alone.
    Barrier,
    /// Nothing: it runs beside anything but a barrier.
    Read,
    /// Paths, absolute and without links, as [`slot`] gets them from its `canonical`.
    Paths(Vec<(Access, PathBuf)>),
}

/// How the calls of a [`Segment`] run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Beside each other.
    Parallel,
    /// One after the other.
    Sequential,
}

impl SegmentKind {
    /// The name in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Sequential => "sequential",
        }
    }
}

/// Calls that follow each other in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// How they run.
    pub kind: SegmentKind,
    /// Their indices, ascending.
    pub calls: Vec<usize>,
}

/// What a call claims, by what its tool declares and by its arguments.
///
/// `args` is none, or no object, if the arguments can't be read: such a call is a barrier, and so
/// is one of a path-scoped tool that names no path, unless the tool declares a default. `canonical`
/// turns a path as the model wrote it into one without links and dots, or none if it can't.
#[must_use]
pub fn slot(
    concurrency: Concurrency,
    args: Option<&Value>,
    canonical: &dyn Fn(&str) -> Option<PathBuf>,
) -> Slot {
    let Some(Value::Object(args)) = args else { return Slot::Barrier };
    match concurrency {
        Concurrency::ReadOnly => Slot::Read,
        Concurrency::PathScoped { access, arg, default } => {
            let path = match args.get(arg) {
                Some(Value::String(path)) if !path.trim().is_empty() => Some(path.as_str()),
                None | Some(Value::Null | Value::String(_)) => default,
                Some(_) => None,
            };
            let Some(path) = path else { return Slot::Barrier };
            // Some tools drop blanks around a path and some don't; either file may be meant.
            let trimmed = Some(path.trim()).filter(|trimmed| trimmed.len() < path.len());
            let claim = |path| canonical(path).map(|path| (access, path));
            let claims: Option<_> = std::iter::once(path).chain(trimmed).map(claim).collect();
            claims.map_or(Slot::Barrier, Slot::Paths)
        }
        // Exclusive, interactive, and whatever a later registry may declare.
        _ => Slot::Barrier,
    }
}

/// Splits a batch into segments. Every call is in exactly one, in the order of the batch.
///
/// A call joins the run before it if nothing in that run conflicts with it; else it begins a new
/// run. A run of one call is sequential, and sequential neighbours are one segment. Takes time in
/// proportion to the paths' parts.
#[must_use]
pub fn plan(slots: &[Slot]) -> Vec<Segment> {
    let mut segments = Segments::default();
    let mut claims = Claims::default();
    for (call, slot) in slots.iter().enumerate() {
        match slot {
            Slot::Barrier => {
                segments.close();
                segments.run.push(call);
                segments.close();
                claims.clear();
            }
            Slot::Read => segments.run.push(call),
            Slot::Paths(paths) => {
                if paths.iter().any(|(access, path)| claims.conflict(*access, path)) {
                    segments.close();
                    claims.clear();
                }
                for (access, path) in paths {
                    claims.add(*access, path);
                }
                segments.run.push(call);
            }
        }
    }
    segments.close();
    segments.done
}

/// The segments that are ready, and the run that still grows.
#[derive(Default)]
struct Segments {
    done: Vec<Segment>,
    run: Vec<usize>,
}

impl Segments {
    fn close(&mut self) {
        let calls = std::mem::take(&mut self.run);
        match (calls.as_slice(), self.done.last_mut()) {
            ([], _) => {}
            ([call], Some(Segment { kind: SegmentKind::Sequential, calls })) => calls.push(*call),
            ([_], _) => self.done.push(Segment { kind: SegmentKind::Sequential, calls }),
            _ => self.done.push(Segment { kind: SegmentKind::Parallel, calls }),
        }
    }
}

/// The paths that the calls of a run claim, as a tree of their parts.
#[derive(Default)]
struct Claims<'p> {
    /// From a place and a part to the place below it. The root is place 0.
    below: HashMap<(usize, &'p OsStr), usize>,
    places: Vec<Place>,
}

#[derive(Default, Clone, Copy)]
struct Place {
    /// What is done to this path itself.
    here: Touched,
    /// What is done to this path or to one below it.
    inside: Touched,
}

#[derive(Default, Clone, Copy)]
struct Touched {
    read: bool,
    written: bool,
}

impl Touched {
    fn note(&mut self, access: Access) {
        match access {
            Access::Read => self.read = true,
            Access::Write => self.written = true,
        }
    }

    /// Reads don't disturb each other.
    fn conflicts(self, access: Access) -> bool {
        self.written || (self.read && access == Access::Write)
    }
}

impl<'p> Claims<'p> {
    fn clear(&mut self) {
        self.below.clear();
        self.places.clear();
    }

    /// Whether a claim on the path itself, on what it lies in, or on what lies in it conflicts.
    fn conflict(&self, access: Access, path: &Path) -> bool {
        let mut at = 0;
        for part in path.components() {
            let Some(place) = self.places.get(at) else { return false };
            if place.here.conflicts(access) {
                return true;
            }
            let Some(next) = self.below.get(&(at, part.as_os_str())) else { return false };
            at = *next;
        }
        self.places.get(at).is_some_and(|place| place.inside.conflicts(access))
    }

    fn add(&mut self, access: Access, path: &'p Path) {
        if self.places.is_empty() {
            self.places.push(Place::default());
        }
        let mut at = 0;
        for part in path.components() {
            if let Some(place) = self.places.get_mut(at) {
                place.inside.note(access);
            }
            at = *self.below.entry((at, part.as_os_str())).or_insert_with(|| {
                self.places.push(Place::default());
                self.places.len() - 1
            });
        }
        if let Some(place) = self.places.get_mut(at) {
            place.inside.note(access);
            place.here.note(access);
        }
    }
}

#[cfg(test)]
mod tests;

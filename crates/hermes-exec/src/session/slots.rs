//! Which file holds the state of a session, and which ones are free.

use std::collections::BTreeSet;
use std::sync::Arc;

/// The state of a session, for as long as somebody works with it.
pub(super) type Slot = Arc<Number>;

/// A file of state.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number(u32);

impl Number {
    pub(super) fn number(&self) -> u32 {
        self.0
    }
}

/// The files of a session. A file is used again when it is neither the session's state nor in use
/// by a command, so that there are as many as commands at a time, and two.
#[derive(Debug, Default)]
pub(super) struct Slots {
    current: Option<Slot>,
    /// What the file of the state holds, where this process can tell.
    text: Option<Arc<[u8]>>,
    known: Vec<Slot>,
}

impl Slots {
    /// The state that commands start from.
    pub(super) fn current(&self) -> Option<Slot> {
        self.current.clone()
    }

    /// What is in it.
    pub(super) fn text(&self) -> Option<Arc<[u8]>> {
        self.text.clone()
    }

    /// Gives up the state.
    pub(super) fn forget(&mut self) {
        self.current = None;
        self.text = None;
    }

    /// A file that nobody uses.
    pub(super) fn free(&mut self) -> Slot {
        // Held by `known` alone.
        if let Some(slot) = self.known.iter().find(|slot| Arc::strong_count(slot) == 1) {
            return Arc::clone(slot);
        }
        let used: BTreeSet<u32> = self.known.iter().map(|slot| slot.number()).collect();
        let number = (0..).find(|number| !used.contains(number)).unwrap_or_default();
        let slot = Arc::new(Number(number));
        self.known.push(Arc::clone(&slot));
        slot
    }

    /// Makes a saved state the session's own, unless the command changed nothing: then it is not
    /// to undo what others changed meanwhile.
    pub(super) fn adopt(&mut self, slot: Slot, is_changed: bool, text: Option<Vec<u8>>) {
        if is_changed || self.current.is_none() {
            self.current = Some(slot);
            self.text = text.map(Arc::from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn files_are_used_again() {
        let mut slots = Slots::default();
        let first = slots.free();
        let second = slots.free();
        assert_eq!((first.number(), second.number()), (0, 1));
        slots.adopt(first, true, None);
        drop(second);
        assert_eq!(slots.free().number(), 1);
        let state = slots.current().unwrap();
        assert_eq!(state.number(), 0);
        // The state is in use by a command, and by the session.
        let next = slots.free();
        slots.adopt(next, true, None);
        assert_eq!(slots.current().unwrap().number(), 1);
        assert_eq!(slots.free().number(), 2);
        drop(state);
        assert_eq!(slots.free().number(), 0);
    }

    #[test]
    fn what_changed_nothing_undoes_nothing() {
        let mut slots = Slots::default();
        let [a, b, c] = [slots.free(), slots.free(), slots.free()];
        slots.adopt(a, true, None);
        slots.adopt(b, true, None);
        slots.adopt(c, false, None);
        assert_eq!(slots.current().unwrap().number(), 1);
    }
}

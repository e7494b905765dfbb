//! A map whose copies cost little, and whose changes after that cost little too.
//!
//! Every shell of its own starts with all that its parent knows, and a text may have thousands of
//! both. A copy shares everything; a change copies the part of it that the key is in.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Into how many parts a map is divided.
const PARTS: usize = 128;

type Part<K, V> = Rc<HashMap<K, V>>;

/// A map that is shared until it is changed.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    /// None at all, or all of them.
    parts: Rc<Vec<Part<K, V>>>,
    length: usize,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { parts: Rc::default(), length: 0 }
    }
}

/// The part that a key is in.
fn part_of<Q: Hash + ?Sized>(key: &Q) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % PARTS as u64).unwrap_or_default()
}

impl<K: Hash + Eq + Clone, V: Clone> Map<K, V> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if self.is_empty() {
            return None;
        }
        self.parts.get(part_of(key))?.get(key)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.change(key, |old| *old = Some(value));
    }

    /// Changes the value of a key, if it has one.
    pub(crate) fn change(&mut self, key: K, change: impl FnOnce(&mut Option<V>)) {
        let parts = Rc::make_mut(&mut self.parts);
        if parts.is_empty() {
            parts.resize_with(PARTS, Rc::default);
        }
        let Some(part) = parts.get_mut(part_of(&key)) else { return };
        let part = Rc::make_mut(part);
        let before = part.len();
        let mut value = part.remove(&key);
        change(&mut value);
        if let Some(value) = value {
            part.insert(key, value);
        }
        self.length = self.length + part.len() - before;
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        // What isn't there is no reason for a copy.
        if self.get(key).is_none() {
            return;
        }
        if let Some(part) = Rc::make_mut(&mut self.parts).get_mut(part_of(key)) {
            Rc::make_mut(part).remove(key);
            self.length -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::Map;

    proptest! {
        #[test]
        fn it_is_a_map_and_copies_stay_as_they_were(
            steps in proptest::collection::vec((0_u8..3, 0_u16..300, any::<u8>()), 0..400),
        ) {
            let (mut map, mut model) = (Map::<u16, u8>::default(), HashMap::new());
            let mut copies = Vec::new();
            for (step, key, value) in steps {
                match step {
                    0 => {
                        map.insert(key, value);
                        model.insert(key, value);
                    }
                    1 => {
                        map.remove(&key);
                        model.remove(&key);
                    }
                    _ => copies.push((map.clone(), model.clone())),
                }
            }
            copies.push((map, model));
            for (map, model) in copies {
                prop_assert_eq!(map.is_empty(), model.is_empty());
                for key in 0..300 {
                    prop_assert_eq!(map.get(&key), model.get(&key));
                }
            }
        }
    }
}

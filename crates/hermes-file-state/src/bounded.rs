//! A map that forgets its oldest entries.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A map of at most `CAP` entries. An entry is as old as its last [`insert`](Self::insert)
/// or [`renewed`](Self::renewed).
#[derive(Debug)]
pub(crate) struct Bounded<K, V, const CAP: usize> {
    entries: HashMap<K, (u64, V)>,
    /// The keys by age, the oldest first.
    ages: BTreeMap<u64, K>,
    next: u64,
}

impl<K, V, const CAP: usize> Default for Bounded<K, V, CAP> {
    fn default() -> Self {
        Self { entries: HashMap::new(), ages: BTreeMap::new(), next: 0 }
    }
}

impl<K: Clone + Eq + Hash, V, const CAP: usize> Bounded<K, V, CAP> {
    /// Puts a value in, as the newest, in place of an earlier one.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let age = self.next;
        self.next += 1;
        if let Some((old, _)) = self.entries.insert(key.clone(), (age, value)) {
            self.ages.remove(&old);
        }
        self.ages.insert(age, key);
        if self.entries.len() > CAP {
            self.drop_oldest();
        }
    }

    /// A value for the key, made the newest; a default one if there is none.
    pub(crate) fn renewed(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let value = self.remove(&key).unwrap_or_default();
        if self.entries.len() >= CAP {
            self.drop_oldest();
        }
        let age = self.next;
        self.next += 1;
        self.ages.insert(age, key.clone());
        &mut self.entries.entry(key).insert_entry((age, value)).into_mut().1
    }

    fn drop_oldest(&mut self) {
        if let Some((_, oldest)) = self.ages.pop_first() {
            self.entries.remove(&oldest);
        }
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (age, value) = self.entries.remove(key)?;
        self.ages.remove(&age);
        Some(value)
    }

    /// Drops the entries whose key isn't to be kept.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        let Self { entries, ages, .. } = self;
        ages.retain(|_, key| {
            let kept = keep(key);
            if !kept {
                entries.remove(key);
            }
            kept
        });
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.ages.clear();
    }

    /// The entries, the newest first.
    pub(crate) fn newest(&self) -> impl Iterator<Item = (&K, &V)> {
        self.ages.values().rev().filter_map(|key| Some((key, self.get(key)?)))
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        assert_eq!(self.entries.len(), self.ages.len());
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn newest(map: &Bounded<&'static str, u32, 3>) -> Vec<(&'static str, u32)> {
        assert!(map.len() <= 3);
        map.newest().map(|(key, value)| (*key, *value)).collect()
    }

    #[test]
    fn the_oldest_goes() {
        let mut map = Bounded::<_, _, 3>::default();
        for (key, value) in [("a", 1), ("b", 2), ("c", 3), ("a", 4), ("d", 5)] {
            map.insert(key, value);
        }
        assert_eq!(newest(&map), [("d", 5), ("a", 4), ("c", 3)]);
        assert_eq!(map.get("b"), None);
        *map.get_mut("c").unwrap() += 1;
        assert_eq!((map.remove("a"), map.remove("a")), (Some(4), None));
        assert_eq!(newest(&map), [("d", 5), ("c", 4)]);
        map.retain(|key| *key != "d");
        assert_eq!(newest(&map), [("c", 4)]);
        *map.renewed("c") += 1;
        for key in ["x", "y", "c", "z"] {
            *map.renewed(key) += 1;
        }
        assert_eq!(newest(&map), [("z", 1), ("c", 6), ("y", 1)]);
        map.clear();
        assert_eq!(newest(&map), []);
    }
}

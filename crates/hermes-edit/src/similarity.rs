//! How much of two texts is the same.

use std::collections::HashMap;

/// Places in a word of a row.
const BITS: usize = u64::BITS as usize;
/// How many characters have a place of their own in the table.
const DIRECT: usize = 128;

/// A text that others are measured against.
pub(crate) struct Pattern {
    length: usize,
    words: usize,
    /// Which row of `places` an ASCII character has; 0 is the row of characters that don't occur.
    direct: [usize; DIRECT],
    others: HashMap<char, usize>,
    /// Where each character stands: a bit for each place, the first one in the lowest bit.
    places: Vec<Vec<u64>>,
}

impl Pattern {
    pub(crate) fn new(text: impl Iterator<Item = char> + Clone) -> Self {
        let length = text.clone().count();
        let words = length.div_ceil(BITS);
        let mut pattern = Self {
            length,
            words,
            direct: [0; DIRECT],
            others: HashMap::new(),
            places: vec![vec![0; words]],
        };
        for (index, character) in text.enumerate() {
            let fresh = pattern.places.len();
            let row = match pattern.direct.get_mut(character as usize) {
                Some(row) => row,
                None => pattern.others.entry(character).or_default(),
            };
            if *row == 0 {
                *row = fresh;
                pattern.places.push(vec![0; words]);
            }
            let word = pattern.places.get_mut(*row).and_then(|row| row.get_mut(index / BITS));
            if let Some(word) = word {
                *word |= 1_u64 << (index % BITS);
            }
        }
        pattern
    }

    /// How many characters it has.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// How many steps a comparison with a text of `length` characters takes.
    pub(crate) fn cost(&self, length: usize) -> usize {
        (self.words + 2).saturating_mul(length)
    }

    /// The length of the longest common subsequence, bit-parallel after Hyyrö: a bit of a row is
    /// cleared where the subsequence grows by one.
    pub(crate) fn common(&self, text: impl Iterator<Item = char>) -> usize {
        let mut row = vec![u64::MAX; self.words];
        for character in text {
            let places = match self.direct.get(character as usize) {
                Some(row) => *row,
                None => self.others.get(&character).copied().unwrap_or_default(),
            };
            if places == 0 {
                continue;
            }
            let Some(places) = self.places.get(places) else { continue };
            let mut carry = false;
            for (word, places) in row.iter_mut().zip(places) {
                let grown = *word & places;
                let (sum, over) = word.overflowing_add(grown);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *word = sum | (*word & !places);
            }
        }
        row.iter().map(|word| word.count_zeros() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn common_subsequences() {
        let long = "abc".repeat(100);
        for (a, b, expected) in [
            ("abcd", "abcd", 4),
            ("abcd", "bcde", 3),
            ("abcd", "dcba", 1),
            ("ab", "xy", 0),
            ("é漢a", "漢a", 2),
            (long.as_str(), "abc", 3),
            ("cba", long.as_str(), 3),
            (long.as_str(), long.strip_prefix("a").unwrap(), 299),
            ("", "a", 0),
        ] {
            assert_eq!(Pattern::new(a.chars()).common(b.chars()), expected, "{a} {b}");
        }
    }
}

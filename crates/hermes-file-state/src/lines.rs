//! Sets of lines.

use std::ops::RangeInclusive;

/// How many separate stretches are kept apart. A file read in more pieces has the shortest of them
/// forgotten, at the price of a warning too many.
const MAX_STRETCHES: usize = 64;

/// Lines of a file, as stretches that neither touch nor overlap, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    stretches: Vec<RangeInclusive<usize>>,
}

impl Lines {
    /// Adds a stretch. An empty one adds nothing.
    pub(crate) fn add(&mut self, new: RangeInclusive<usize>) {
        if new.is_empty() {
            return;
        }
        let (mut start, mut end) = new.into_inner();
        let joins = |old: &RangeInclusive<usize>, start: usize, end: usize| {
            *old.start() <= end.saturating_add(1) && start <= old.end().saturating_add(1)
        };
        self.stretches.retain(|old| {
            let joined = joins(old, start, end);
            if joined {
                (start, end) = (start.min(*old.start()), end.max(*old.end()));
            }
            !joined
        });
        let at = self.stretches.partition_point(|old| *old.start() < start);
        self.stretches.insert(at, start..=end);
        if self.stretches.len() > MAX_STRETCHES {
            let length = |it: &RangeInclusive<usize>| it.end().saturating_sub(*it.start());
            let shortest = self.stretches.iter().enumerate().min_by_key(|(_, it)| length(it));
            if let Some((index, _)) = shortest {
                self.stretches.remove(index);
            }
        }
    }

    /// Whether all of these lines are in the set.
    pub(crate) fn covers(&self, lines: &RangeInclusive<usize>) -> bool {
        let inside =
            |it: &RangeInclusive<usize>| it.start() <= lines.start() && lines.end() <= it.end();
        lines.is_empty() || self.stretches.iter().any(inside)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.stretches.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn of(stretches: &[RangeInclusive<usize>]) -> Lines {
        let mut lines = Lines::default();
        for stretch in stretches {
            lines.add(stretch.clone());
        }
        lines
    }

    #[test]
    fn stretches_that_touch_become_one() {
        let empty = RangeInclusive::new(5, 4);
        for (given, expected) in [
            (vec![1..=3, 4..=6], vec![1..=6]),
            (vec![4..=6, 1..=3], vec![1..=6]),
            (vec![1..=2, 4..=5], vec![1..=2, 4..=5]),
            (vec![7..=9, 1..=2, 4..=5, 2..=8], vec![1..=9]),
            (vec![2..=3, 1..=9], vec![1..=9]),
            (vec![1..=1, 5..=5, 3..=3], vec![1..=1, 3..=3, 5..=5]),
            (vec![usize::MAX..=usize::MAX, 1..=1], vec![1..=1, usize::MAX..=usize::MAX]),
            (vec![empty], vec![]),
        ] {
            assert_eq!(of(&given).stretches, expected, "{given:?}");
        }
    }

    #[test]
    fn covering() {
        let lines = of(&[2..=4, 8..=9]);
        for (asked, expected) in
            [(2..=4, true), (3..=3, true), (1..=2, false), (4..=8, false), (8..=10, false)]
        {
            assert_eq!(lines.covers(&asked), expected, "{asked:?}");
        }
        assert!(Lines::default().covers(&RangeInclusive::new(1, 0)));
    }

    #[test]
    fn there_are_only_so_many_stretches() {
        let mut lines = of(&[10_001..=10_500]);
        for line in 0..1000 {
            lines.add(line * 10..=line * 10);
        }
        assert_eq!(lines.len(), MAX_STRETCHES);
        assert!(lines.covers(&(10_001..=10_500)));
    }
}

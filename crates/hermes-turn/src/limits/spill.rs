//! Bringing the results of a turn under their common budget.

use std::cmp::Reverse;

/// A result of the turn, as far as its size is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Characters it has now; of a result with several parts, those of its texts.
    pub chars: usize,
    /// Characters of what would stand in for it; none if nothing can, as for images.
    pub replaced_chars: Option<usize>,
    /// Whether it is a stand-in already.
    pub persisted: bool,
}

/// Which of `items` to store so that all together have at most `budget` characters: the largest
/// first, the earlier of equal ones, and no more than needed. Indices in call order. Those that
/// are stored already or wouldn't get shorter are never among them, so it may be too much still.
#[must_use]
pub fn spill_order(budget: usize, items: &[Item]) -> Vec<usize> {
    // Wide enough for any sum.
    let mut total: u128 = items.iter().map(|item| item.chars as u128).sum();
    let mut candidates: Vec<(usize, usize, usize)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if let Some(replaced) = item.replaced_chars
            && !item.persisted
            && replaced < item.chars
        {
            candidates.push((item.chars, at, replaced));
        }
    }
    candidates.sort_unstable_by_key(|(chars, at, _)| (Reverse(*chars), *at));
    let mut spilled = Vec::new();
    for (chars, at, replaced) in candidates {
        if total <= budget as u128 {
            break;
        }
        total -= (chars - replaced) as u128;
        spilled.push(at);
    }
    spilled.sort_unstable();
    spilled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(chars: usize) -> Item {
        Item { chars, replaced_chars: Some(10), persisted: false }
    }

    #[test]
    fn the_largest_go_until_it_fits() {
        let items = [item(60), item(95), item(80)];
        assert_eq!(spill_order(235, &items), Vec::<usize>::new());
        assert_eq!(spill_order(200, &items), [1]);
        assert_eq!(spill_order(100, &items), [1, 2]);
        assert_eq!(spill_order(0, &items), [0, 1, 2]);
        assert_eq!(spill_order(100, &[item(60), item(60), item(60)]), [0, 1]);
    }

    #[test]
    fn some_stay() {
        let items = [
            Item { persisted: true, ..item(100) },
            Item { replaced_chars: None, ..item(90) },
            Item { replaced_chars: Some(80), ..item(80) },
            item(70),
            item(usize::MAX),
        ];
        assert_eq!(spill_order(10, &items), [3, 4]);
    }

    proptest! {
        #[test]
        fn no_more_than_needed(
            sizes in proptest::collection::vec(0_usize..500, 0..20),
            budget in 0_usize..3000,
        ) {
            let items: Vec<_> = sizes.iter().map(|size| item(*size)).collect();
            let spilled = spill_order(budget, &items);
            prop_assert!(spilled.is_sorted_by(|a, b| a < b));
            let total = |spilled: &[usize]| -> usize {
                let size = |at: usize| if spilled.contains(&at) { 10 } else { sizes[at] };
                (0..sizes.len()).map(size).sum()
            };
            let possible = (0..sizes.len()).filter(|at| sizes[*at] > 10).count();
            prop_assert!(total(&spilled) <= budget || spilled.len() == possible);
            if let Some(smallest) = spilled.iter().copied().min_by_key(|at| (sizes[*at], Reverse(*at))) {
                let without: Vec<_> = spilled.iter().copied().filter(|at| *at != smallest).collect();
                prop_assert!(total(&without) > budget);
            }
        }
    }
}

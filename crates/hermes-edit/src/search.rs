//! Finding a list in a longer one, in time that grows with their lengths only.

/// The indexes in `text` where `wanted` begins. Places may overlap. After Knuth, Morris and Pratt.
pub(crate) fn search<K: PartialEq>(text: impl Iterator<Item = K>, wanted: &[K]) -> Vec<usize> {
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let borders = borders(wanted);
    let mut matched = 0;
    for (index, item) in text.enumerate() {
        while wanted.get(matched) != Some(&item) {
            let Some(&shorter) = matched.checked_sub(1).and_then(|at| borders.get(at)) else {
                break;
            };
            matched = shorter;
        }
        if wanted.get(matched) == Some(&item) {
            matched += 1;
        }
        if matched == wanted.len() {
            found.push(index + 1 - matched);
        }
    }
    found
}

/// For each start of the list, how long the longest shorter start is that it ends with.
fn borders<K: PartialEq>(list: &[K]) -> Vec<usize> {
    let mut borders: Vec<usize> = Vec::with_capacity(list.len());
    let mut len = 0;
    for (index, item) in list.iter().enumerate() {
        if index == 0 {
            borders.push(0);
            continue;
        }
        while list.get(len) != Some(item) {
            let Some(&shorter) = len.checked_sub(1).and_then(|at| borders.get(at)) else { break };
            len = shorter;
        }
        if list.get(len) == Some(item) {
            len += 1;
        }
        borders.push(len);
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn places_may_overlap() {
        for (text, wanted, expected) in [
            ("ababa", "aba", vec![0, 2]),
            ("aaaa", "aa", vec![0, 1, 2]),
            ("aabaaab", "aab", vec![0, 4]),
            ("ab", "ba", vec![]),
            ("a", "aa", vec![]),
            ("", "a", vec![]),
            ("a", "", vec![]),
            ("xyz", "z", vec![2]),
            ("ababac", "abac", vec![2]),
        ] {
            let wanted: Vec<char> = wanted.chars().collect();
            assert_eq!(search(text.chars(), &wanted), expected, "{text} {wanted:?}");
        }
    }
}

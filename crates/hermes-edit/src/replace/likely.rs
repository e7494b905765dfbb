//! Whether it is worth looking through a whole text in an expensive way.

use memchr::memmem;

/// How many places are looked at one by one.
const MAX_PLACES: usize = 64;
/// How many words are tried until one is rare.
const MAX_WORDS: usize = 4;

/// Whether `text` may hold a passage of `breaks` line breaks in which all `words` occur, in a way
/// that `holds` tells of a part of it. The part is made of whole lines and has the lines around a
/// place where a word is.
///
/// It is false only when the passage can't be there.
pub(super) fn may_hold<'a>(
    text: &str,
    words: impl Iterator<Item = &'a str>,
    breaks: usize,
    holds: impl Fn(&str) -> bool,
) -> bool {
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    // Long words are rare.
    words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    words.dedup();
    for word in words.into_iter().take(MAX_WORDS) {
        let places: Vec<usize> =
            memmem::find_iter(text.as_bytes(), word).take(MAX_PLACES + 1).collect();
        if places.len() <= MAX_PLACES {
            return any_around(text, &places, breaks, holds);
        }
    }
    true
}

fn any_around(text: &str, places: &[usize], breaks: usize, holds: impl Fn(&str) -> bool) -> bool {
    // With long lines it would be more than the text itself.
    let mut left = text.len();
    for &place in places {
        let part = text.get(around(text.as_bytes(), place, breaks)).unwrap_or(text);
        match left.checked_sub(part.len()) {
            Some(rest) => left = rest,
            None => return true,
        }
        if holds(part) {
            return true;
        }
    }
    false
}

/// The line of `place`, and `breaks` lines before and after it.
fn around(text: &[u8], place: usize, breaks: usize) -> std::ops::Range<usize> {
    let (before, after) = text.split_at_checked(place).unwrap_or((text, &[]));
    let start = memchr::memrchr_iter(b'\n', before).nth(breaks).map_or(0, |at| at + 1);
    let end = memchr::memchr_iter(b'\n', after).nth(breaks).map_or(text.len(), |at| place + at + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_the_lines_around_a_rare_word_are_looked_at() {
        let text = "one\ntwo\nthree rare\nfour\nfive\n";
        let rare = text.find("rare").unwrap();
        let part = |breaks| text.get(around(text.as_bytes(), rare, breaks)).unwrap();
        assert_eq!(part(0), "three rare\n");
        assert_eq!(part(1), "two\nthree rare\nfour\n");
        assert_eq!(part(9), text);
        let asked = |words: &[&str], answer: bool| {
            may_hold(text, words.iter().copied(), 1, |part| {
                assert_eq!(part, "two\nthree rare\nfour\n");
                answer
            })
        };
        assert!(asked(&["rare", "o"], true));
        assert!(!asked(&["rare", "o"], false));
        assert!(!may_hold(text, ["nowhere"].into_iter(), 1, |_| true));
        assert!(may_hold(text, ["", ""].into_iter(), 1, |_| false), "nothing to go by");
    }

    #[test]
    fn words_that_are_everywhere_say_nothing() {
        let text = "word\n".repeat(100);
        assert!(may_hold(&text, ["word"].into_iter(), 0, |_| false));
        let long = "word ".repeat(50);
        assert!(may_hold(&long, ["word"].into_iter(), 0, |_| false));
    }
}

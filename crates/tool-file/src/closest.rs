//! The lines that come closest to a passage that wasn't found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// How long the search may take; an answer without a snippet is better than a late one.
const BUDGET: Duration = Duration::from_millis(50);
/// Lines this much alike or less aren't shown.
const MIN_RATIO: f32 = 0.3;
const MAX_PLACES: usize = 3;
/// Lines shown around a place: before its first line, and after the passage's length.
const AROUND: usize = 2;
/// The most characters of a shown line.
const MAX_LINE: usize = 500;
/// The most characters of a line that are compared.
const MAX_COMPARED: usize = 2000;
/// Places in a word of a row.
const BITS: usize = u64::BITS as usize;
/// The most lines of the passage that are shown at one place.
const MAX_LINES: usize = 40;

/// The places of `content` that resemble the first line of `old`, as rows of `read_file`, and what
/// tells the best one apart. None when nothing is alike.
pub fn closest_lines(old: &str, content: &str) -> Option<String> {
    let anchor = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    let lines: Vec<&str> = content.lines().collect();
    let best = best_places(anchor, &lines);
    let (_, first) = best.first()?;

    let length = old.lines().count().min(MAX_LINES);
    let shown: BTreeSet<usize> = best
        .iter()
        .flat_map(|(_, place)| place.saturating_sub(AROUND)..place + length + AROUND)
        .collect();
    let mut snippet = String::new();
    let mut last = None;
    for index in shown {
        let Some(line) = lines.get(index) else { break };
        if last.is_some_and(|last| last + 1 < index) {
            snippet.push_str("...\n");
        }
        last = Some(index);
        let line: String = line.chars().take(MAX_LINE).collect();
        // Writing to a string can't fail.
        let _ = writeln!(snippet, "{}|{line}", index + 1);
    }
    if let Some(difference) = lines.get(*first).and_then(|line| difference(old, line)) {
        let _ = writeln!(snippet, "line {} differs in {difference}", first + 1);
    }
    snippet.truncate(snippet.trim_end().len());
    Some(snippet)
}

/// The likeliest lines by index, best first.
fn best_places(anchor: &str, lines: &[&str]) -> Vec<(f32, usize)> {
    let deadline = Instant::now() + BUDGET;
    let length = anchor.chars().count();
    let passage = Passage::new(anchor);
    let mut found: Vec<(f32, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        let other = line.chars().count();
        if line.is_empty() || other > length * 2 || length > other * 2 {
            continue;
        }
        let ratio = if line == anchor {
            1.0
        } else if Instant::now() >= deadline {
            // Equal lines are still found: they cost nothing.
            continue;
        } else {
            passage.ratio(line)
        };
        if ratio > MIN_RATIO {
            found.push((ratio, index));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(MAX_PLACES);
    found
}

/// A line that others are measured against.
struct Passage {
    /// How many characters of it are compared.
    length: usize,
    /// Where each character stands: a bit for each place, the first one in the lowest bit.
    places: BTreeMap<char, Vec<u64>>,
}

impl Passage {
    fn new(line: &str) -> Self {
        let length = line.chars().count().min(MAX_COMPARED);
        let mut places = BTreeMap::new();
        for (index, character) in line.chars().take(length).enumerate() {
            let bits = places.entry(character).or_insert_with(|| vec![0; length.div_ceil(BITS)]);
            if let Some(word) = bits.get_mut(index / BITS) {
                *word |= 1_u64 << (index % BITS);
            }
        }
        Self { length, places }
    }

    /// The part of both lines that they have in common, from 0 to 1: twice the length of their
    /// longest common subsequence by the length of both.
    fn ratio(&self, line: &str) -> f32 {
        let length = line.chars().count().min(MAX_COMPARED);
        let common = self.common(line);
        #[expect(clippy::cast_precision_loss, reason = "at most twice the compared length")]
        let ratio = (2 * common) as f32 / (self.length + length).max(1) as f32;
        ratio
    }

    /// The length of the longest common subsequence, bit-parallel after Hyyrö: a bit of a row is
    /// cleared where the subsequence grows by one.
    fn common(&self, line: &str) -> usize {
        let mut row = vec![u64::MAX; self.length.div_ceil(BITS)];
        for character in line.chars().take(MAX_COMPARED) {
            let Some(places) = self.places.get(&character) else { continue };
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

/// What a reader easily overlooks: says so when nothing else differs.
fn difference(old: &str, line: &str) -> Option<&'static str> {
    let wanted = old.lines().find(|line| !line.trim().is_empty())?;
    if wanted == line {
        return None;
    }
    let straight = |text: &str| {
        text.replace(['“', '”', '„', '«', '»'], "\"").replace(['‘', '’', '‚', '′'], "'")
    };
    let packed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let indent = |text: &str| text.chars().take_while(|c| c.is_whitespace()).collect::<String>();
    if wanted.trim() == line.trim() {
        let (wanted, line) = (indent(wanted), indent(line));
        return Some(if wanted.contains('\t') != line.contains('\t') {
            "its indentation: tabs against blanks"
        } else {
            "the blanks at its ends"
        });
    }
    if packed(wanted) == packed(line) {
        return Some("its blanks and tabs");
    }
    if packed(&straight(wanted)) == packed(&straight(line)) {
        return Some("the form of its quotation marks");
    }
    (packed(wanted).to_lowercase() == packed(line).to_lowercase()).then_some("upper and lower case")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_near_line_is_shown_with_its_neighbours() {
        let content = "import\n\n\ndef process(x):\n    return x\n\n\nend\ndef proces(y):";
        let snippet = closest_lines("def proces(x):", content);
        assert_eq!(
            snippet.unwrap(),
            "2|\n3|\n4|def process(x):\n5|    return x\n6|\n7|\n8|end\n9|def proces(y):"
        );
    }

    #[test]
    fn ratios() {
        let long = "abc".repeat(100);
        for (a, b, expected) in [
            ("abcd", "abcd", 1.0),
            ("abcd", "bcde", 0.75),
            ("abcd", "dcba", 0.25),
            ("ab", "xy", 0.0),
            ("é漢a", "漢a", 0.8),
            (long.as_str(), "abc", 6.0 / 303.0),
            ("cba", long.as_str(), 6.0 / 303.0),
            (long.as_str(), long.strip_prefix("a").unwrap(), 598.0 / 599.0),
        ] {
            let ratio = Passage::new(a).ratio(b);
            assert!((ratio - expected).abs() < 1e-6, "{a} {b}: {ratio}");
        }
    }

    #[test]
    fn nothing_near_is_no_snippet() {
        assert_eq!(closest_lines("zzzz", "aaa\nbbb\n"), None);
        assert_eq!(closest_lines("\n \n", "aaa\n"), None);
        assert_eq!(closest_lines("a", ""), None);
    }

    #[test]
    fn the_difference_is_named() {
        for (old, line, expected) in [
            ("\tif x:", "    if x:", "line 1 differs in its indentation: tabs against blanks"),
            ("a  = 1", "a = 1", "line 1 differs in its blanks and tabs"),
            ("say “hi”", "say \"hi\"", "line 1 differs in the form of its quotation marks"),
            ("Let x", "let x", "line 1 differs in upper and lower case"),
        ] {
            assert!(closest_lines(old, line).unwrap().ends_with(expected), "{old}");
        }
    }

    #[test]
    fn a_large_file_takes_no_longer_than_the_budget() {
        let content = "some line of code that is like the other one\n".repeat(20_000);
        let start = Instant::now();
        closest_lines("some line of code that is like this other one", &content);
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}

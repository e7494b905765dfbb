//! The lines that come closest to a passage that wasn't found.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::fold::fold;
use crate::lines::{Lines, indent, to_lf, trimmed};
use crate::similarity::Pattern;

/// How many steps are spent on comparing at most: some hundredths of a second. An answer without a
/// snippet is better than a late one.
const MAX_STEPS: usize = 20_000_000;
/// Of a hundred; lines this much alike or less aren't shown.
const MIN_RATIO: usize = 30;
/// How finely lines are told apart by how much they are alike.
const PRECISION: usize = 10_000;
const MAX_PLACES: usize = 3;
/// Lines shown around a place: before its first line, and after the passage's length.
const AROUND: usize = 2;
/// The most characters of a shown line.
const MAX_LINE: usize = 500;
/// The most characters of a line that are compared.
const MAX_COMPARED: usize = 2000;
/// The most lines of the passage that are shown at one place.
const MAX_LINES: usize = 40;

/// The places of `content` that resemble the first line of `old`, as rows of line number, `|` and
/// text, and what tells the best one apart. None when nothing is alike.
pub fn closest_lines(old: &str, content: &str) -> Option<String> {
    let old = to_lf(old);
    let wanted = old.split('\n').find(|line| !trimmed(line).is_empty())?;
    let content = to_lf(content);
    let lines = Lines::of(&content);
    let best = best_places(trimmed(wanted), &lines);
    let first = *best.first()?;

    let length = old.lines().count().min(MAX_LINES);
    let shown: BTreeSet<usize> = best
        .iter()
        .flat_map(|place| place.saturating_sub(AROUND)..place + length + AROUND)
        .filter(|line| *line < lines.len())
        .collect();
    let mut snippet = String::new();
    let mut last = None;
    for index in shown {
        if last.is_some_and(|last| last + 1 < index) {
            snippet.push_str("...\n");
        }
        last = Some(index);
        let line: String = lines.get(index).chars().take(MAX_LINE).collect();
        // Writing to a string can't fail.
        let _ = writeln!(snippet, "{}|{line}", index + 1);
    }
    if let Some(difference) = difference(wanted, lines.get(first)) {
        let _ = writeln!(snippet, "line {} differs in {difference}", first + 1);
    }
    snippet.truncate(snippet.trim_end().len());
    Some(snippet)
}

/// The likeliest lines by index, best first.
fn best_places(wanted: &str, lines: &Lines<'_>) -> Vec<usize> {
    let pattern = Pattern::new(wanted.chars().take(MAX_COMPARED));
    let mut steps = MAX_STEPS;
    let mut ratios = HashMap::new();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let line = trimmed(line);
        let ratio = match ratios.get(line) {
            Some(ratio) => *ratio,
            // Equal lines are found whatever was spent: they cost nothing.
            None if line == wanted => PRECISION,
            None => ratio(&pattern, line, &mut steps),
        };
        ratios.insert(line, ratio);
        if ratio * 100 > MIN_RATIO * PRECISION {
            found.push((ratio, index));
        }
    }
    found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().take(MAX_PLACES).map(|(_, index)| index).collect()
}

/// How much of both lines is the same, of [`PRECISION`]. 0 when they differ in length so much that
/// it would say little, and when no steps are left.
fn ratio(pattern: &Pattern, line: &str, steps: &mut usize) -> usize {
    let length = line.chars().take(MAX_COMPARED).count();
    if length == 0 || length > pattern.len() * 2 || pattern.len() > length * 2 {
        return 0;
    }
    let Some(left) = steps.checked_sub(pattern.cost(length)) else { return 0 };
    *steps = left;
    let common = pattern.common(line.chars().take(MAX_COMPARED));
    2 * common * PRECISION / (pattern.len() + length)
}

/// What a reader easily overlooks: says so when nothing else differs.
fn difference(wanted: &str, line: &str) -> Option<&'static str> {
    if wanted == line {
        return None;
    }
    let packed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if trimmed(wanted) == trimmed(line) {
        return Some(if indent(wanted).contains('\t') != indent(line).contains('\t') {
            "its indentation: tabs against blanks"
        } else {
            "the blanks at its ends"
        });
    }
    if packed(wanted) == packed(line) {
        return Some("its blanks and tabs");
    }
    let (wanted, line) = (packed(&fold(wanted)), packed(&fold(line)));
    if wanted == line {
        return Some("the form of its quotation marks, dashes or blanks");
    }
    (wanted.to_lowercase() == line.to_lowercase()).then_some("upper and lower case")
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
            (
                "say “hi”",
                "say \"hi\"",
                "line 1 differs in the form of its quotation marks, dashes or blanks",
            ),
            ("Let x", "let x", "line 1 differs in upper and lower case"),
        ] {
            assert!(closest_lines(old, line).unwrap().ends_with(expected), "{old}");
        }
    }

    #[test]
    fn a_large_file_gets_an_answer_for_what_was_looked_at() {
        let content: String = (0..60_000)
            .map(|n| format!("some line {n} of code that is like the other\n"))
            .collect();
        let snippet = closest_lines("some line 0 of code that is like this other", &content);
        assert!(snippet.unwrap().starts_with("1|some line 0 of"));
    }
}

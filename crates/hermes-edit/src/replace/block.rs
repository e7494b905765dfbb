//! A block that is found by its first and last line when those between differ in a blank or a
//! punctuation mark.

use std::borrow::Cow;

use crate::fold::fold;
use crate::lines::{Lines, trimmed};
use crate::similarity::Pattern;

/// How many steps are spent on comparing at most. Beyond that nothing is found: a place that
/// wasn't looked at could be the one that is meant.
const MAX_STEPS: usize = 40_000_000;

/// The middle lines of a block as they are compared.
fn middle<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<Cow<'_, str>> = lines
        .map(|line| match fold(line) {
            Cow::Borrowed(line) => Cow::Borrowed(trimmed(line)),
            Cow::Owned(line) => Cow::Owned(trimmed(&line).to_owned()),
        })
        .collect();
    lines.join("\n")
}

/// The words and numbers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The indexes of the lines where a block begins that resembles `old`: the same number of lines,
/// the first and the last equal but for the blanks around them, the others alike to four fifths
/// with the same digits.
///
/// A single one counts only if its words are those of `old` too: names and letter case are never
/// guessed.
pub(super) fn blocks(text: &Lines<'_>, old: &[&str]) -> Vec<usize> {
    let [first, between @ .., last] = old else { return Vec::new() };
    let (first, last) = (trimmed(first), trimmed(last));
    if between.is_empty() || first.is_empty() || last.is_empty() || text.len() < old.len() {
        return Vec::new();
    }
    let wanted = Wanted::new(middle(between.iter().copied()));
    let mut steps = MAX_STEPS;
    let mut found = Vec::new();
    for start in 0..=text.len() - old.len() {
        let end = start + old.len() - 1;
        if trimmed(text.get(start)) != first || trimmed(text.get(end)) != last {
            continue;
        }
        let bytes = text.start(end).saturating_sub(text.end(start));
        let Some(left) = steps.checked_sub(bytes) else { return Vec::new() };
        steps = left;
        let middle = middle((start + 1..end).map(|line| text.get(line)));
        match wanted.resembles(&middle, &mut steps) {
            Some(true) => found.push((start, middle)),
            Some(false) => {}
            None => return Vec::new(),
        }
    }
    if let [(_, only)] = found.as_slice()
        && !words(only).eq(words(&wanted.text))
    {
        return Vec::new();
    }
    found.into_iter().map(|(start, _)| start).collect()
}

struct Wanted {
    text: String,
    digits: Vec<char>,
    pattern: Pattern,
}

fn digits(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|character| character.is_numeric())
}

impl Wanted {
    fn new(text: String) -> Self {
        let pattern = Pattern::new(text.chars());
        let digits = digits(&text).collect();
        Self { text, digits, pattern }
    }

    /// None when there are too few steps left to tell.
    fn resembles(&self, middle: &str, steps: &mut usize) -> Option<bool> {
        if !digits(middle).eq(self.digits.iter().copied()) {
            return Some(false);
        }
        let length = middle.chars().count();
        let both = self.pattern.len() + length;
        let alike = |common: usize| 2 * common * 5 >= 4 * both;
        if !alike(self.pattern.len().min(length)) {
            return Some(false);
        }
        *steps = steps.checked_sub(self.pattern.cost(length))?;
        Some(alike(self.pattern.common(middle.chars())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn blocks_differ_in_little_only() {
        let text = "{\n  f(1, 2);\n}\n{\n  g(name);\n}\n";
        for (old, expected) in [
            ("{\n f(1,2);\n}", vec![0]),
            ("{\n f(1, 3);\n}", vec![]),
            ("{\n g(names);\n}", vec![]),
            ("{\n G(name);\n}", vec![]),
            ("{\n g(name)\n}", vec![3]),
            ("{\n}", vec![]),
            ("{\n  f(1, 2);\n]", vec![]),
        ] {
            let old: Vec<&str> = old.lines().collect();
            assert_eq!(blocks(&Lines::of(text), &old), expected, "{old:?}");
        }
    }

    #[test]
    fn of_two_that_are_alike_both_count() {
        let text = "{\n  call(first, x);\n}\n{\n  call(first,  y);\n}\n";
        let old = ["{", "  call(first,x);", "}"];
        assert_eq!(blocks(&Lines::of(text), &old), [0, 3]);
    }

    #[test]
    fn too_much_to_compare_is_nothing_found() {
        let middle = "abc ".repeat(20_000);
        let text = format!("{{\n{middle};\n}}\n").repeat(50);
        assert!(blocks(&Lines::of(&text), &["{", &middle, "}"]).is_empty());
    }
}

//! New lines in the indentation of the file they go into.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::lines::{indent, trimmed};

/// How a whole file is indented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// More lines begin with a tab than with a blank.
    tabs: bool,
    /// By how many blanks a line is most often deeper than the one before; 0 if none is.
    step: usize,
}

impl Style {
    pub(crate) fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let (mut with_tabs, mut with_blanks, mut above) = (0_usize, 0_usize, 0);
        let mut steps = BTreeMap::<usize, usize>::new();
        for line in lines.filter(|line| !trimmed(line).is_empty()) {
            with_tabs += usize::from(line.starts_with('\t'));
            with_blanks += usize::from(line.starts_with(' '));
            let depth = indent(line).len();
            if depth > above && !line.starts_with('\t') {
                *steps.entry(depth - above).or_default() += 1;
            }
            above = depth;
        }
        let step = steps.into_iter().rev().max_by_key(|&(_, count)| count);
        Self { tabs: with_tabs > with_blanks, step: step.map_or(0, |(step, _)| step) }
    }
}

/// What the indentation of a passage is in the file, learned from lines that are in both.
#[derive(Debug)]
pub(crate) struct Indents<'a> {
    /// For each indentation as it was sent, what it is in the file, by line.
    known: BTreeMap<&'a str, Vec<(usize, &'a str)>>,
    /// The smallest step from one indentation to another: of the lines that were sent, else with
    /// those to put in.
    step: Option<(&'a str, &'a str)>,
    /// The lines have the indentation of the file already.
    right: bool,
    style: Style,
}

impl<'a> Indents<'a> {
    /// `old` are the lines that were sent, `file` those they are in the file; `new` go into it.
    pub(crate) fn new(old: &[&'a str], file: &[&'a str], new: &[&'a str], style: Style) -> Self {
        let (mut known, mut right) = (BTreeMap::<_, Vec<_>>::new(), true);
        for (line, (old, file)) in old.iter().zip(file).enumerate() {
            if !trimmed(old).is_empty() && !trimmed(file).is_empty() {
                let (old, file) = (indent(old), indent(file));
                known.entry(old).or_default().push((line, file));
                right &= old == file;
            }
        }
        let sent = new.iter().filter(|line| !trimmed(line).is_empty()).map(|line| indent(line));
        let step = smallest_step(known.keys().copied().collect())
            .or_else(|| smallest_step(known.keys().copied().chain(sent).collect()));
        Self { known, step, right, style }
    }

    /// A new line as it is put in. `near` is the line of the passage that it stands at.
    pub(crate) fn apply<'l>(&self, line: &'l str, near: usize) -> Cow<'l, str> {
        // A passage whose indentation is right is trusted in all of its indentation.
        if self.right {
            return Cow::Borrowed(line);
        }
        if trimmed(line).is_empty() {
            return Cow::Borrowed("");
        }
        let sent = indent(line);
        let body = line.get(sent.len()..).unwrap_or_default();
        Cow::Owned(self.mapped(sent, near) + body)
    }

    fn mapped(&self, sent: &str, near: usize) -> String {
        if let Some(mapped) = self.extended(sent, near) {
            return mapped;
        }
        // Tabs where the passage has blanks.
        if let Some((shallow, deep)) = self.step
            && let Some(unit) = deep.get(shallow.len()..)
            && sent.contains('\t')
            && !unit.contains('\t')
            && let Some(mapped) = self.extended(&sent.replace('\t', unit), near)
        {
            return mapped;
        }
        let smallest = self.in_file().min_by_key(|file| file.len());
        smallest.unwrap_or_default().to_owned()
    }

    /// The indentations of the file's lines.
    fn in_file(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.known.values().flatten().map(|(_, file)| *file)
    }

    /// The longest known start of an indentation, and what remains of it in the file's steps.
    fn extended(&self, sent: &str, near: usize) -> Option<String> {
        let starts = self.known.keys().filter(|known| sent.starts_with(**known));
        let known = *starts.max_by_key(|known| known.len())?;
        let base = self.nearest(known, near)?;
        let rest = sent.get(known.len()..).unwrap_or_default();
        Some(base.to_owned() + &self.scaled(rest, known, base, near))
    }

    /// The file's indentation for a known one: that of the nearest line above, else below.
    fn nearest(&self, known: &str, near: usize) -> Option<&'a str> {
        let places = self.known.get(known)?;
        let above = places.partition_point(|(line, _)| *line <= near);
        let place = above.checked_sub(1).map_or(places.first(), |last| places.get(last));
        place.map(|(_, file)| *file)
    }

    /// What is left of an indentation beyond `known`, which is `base` in the file.
    fn scaled(&self, rest: &str, known: &str, base: &str, near: usize) -> String {
        let unit = self.step.and_then(|(shallow, deep)| deep.get(shallow.len()..)).unwrap_or(rest);
        if rest.is_empty() || unit.is_empty() {
            return rest.to_owned();
        }
        let in_file =
            self.step_in_file(near).unwrap_or_else(|| self.guessed_step(unit, known, base));
        match (rest.matches('\t').count(), unit.contains('\t')) {
            (0, true) if self.indents_with_tabs() => in_file.repeat((rest.len() / 4).max(1)),
            (0, true) => rest.to_owned(),
            (tabs @ 1.., false) => in_file.repeat(tabs),
            _ => {
                let times = rest.len().checked_div(unit.len()).unwrap_or_default();
                in_file.repeat(times) + rest.get(times * unit.len()..).unwrap_or_default()
            }
        }
    }

    /// The smallest step in the file, if lines that show it are part of the passage.
    fn step_in_file(&self, near: usize) -> Option<String> {
        let (shallow, deep) = self.step?;
        let (shallow, deep) = (self.nearest(shallow, near)?, self.nearest(deep, near)?);
        deep.strip_prefix(shallow).filter(|step| !step.is_empty()).map(str::to_owned)
    }

    /// A step in the file where no line of the passage shows one.
    fn guessed_step(&self, unit: &str, known: &str, base: &str) -> String {
        if self.indents_with_tabs() {
            return "\t".to_owned();
        }
        let step = self.style.step;
        let scaled = !known.is_empty() && step > 0 && known.len() * step == base.len() * unit.len();
        if scaled || unit.contains('\t') { " ".repeat(step.max(1)) } else { unit.to_owned() }
    }

    fn indents_with_tabs(&self) -> bool {
        let mut indented = self.in_file().filter(|indent| !indent.is_empty()).peekable();
        if indented.peek().is_some() {
            indented.any(|indent| indent.contains('\t'))
        } else {
            self.style.tabs
        }
    }
}

/// The two indentations with the smallest step from one to the other.
fn smallest_step(mut indents: Vec<&str>) -> Option<(&str, &str)> {
    indents.sort_unstable_by_key(|indent| indent.len());
    let pairs = indents.windows(2).filter_map(|pair| match pair {
        [a, b] if b.len() > a.len() && b.starts_with(a) => Some((*a, *b)),
        _ => None,
    });
    pairs.min_by_key(|(a, b)| b.len() - a.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[track_caller]
    fn check(old: &[&str], file: &[&str], new: &[(&str, usize)], expected: &[&str]) {
        let lines: Vec<&str> = new.iter().map(|(line, _)| *line).collect();
        let indents = Indents::new(old, file, &lines, Style::of(file.iter().copied()));
        let got: Vec<_> = new.iter().map(|(line, near)| indents.apply(line, *near)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn known_indentations_are_those_of_the_file() {
        check(&["a", "    b"], &["\ta", "\t\tb"], &[("x", 0), ("    y", 1)], &["\tx", "\t\ty"]);
        check(&["  a"], &["      a"], &[("  x", 0), ("", 0), ("  \t", 0)], &["      x", "", ""]);
    }

    #[test]
    fn deeper_ones_go_on_in_the_steps_of_the_file() {
        check(
            &["a", "  b"],
            &["a", "    b"],
            &[("    x", 1), ("      y", 1)],
            &["        x", "            y"],
        );
        check(
            &["    a"],
            &["\ta"],
            &[("        x", 0), ("            y", 0)],
            &["\t\tx", "\t\t\ty"],
        );
        check(&["a"], &["    a"], &[("    x", 0)], &["        x"]);
        check(
            &["a", "    b"],
            &["  a", "    b"],
            &[("\tx", 1), ("\t\ty", 1)],
            &["    x", "      y"],
        );
        check(&["a", "    b"], &["\ta", "\t\tb"], &[("      x", 1)], &["\t\t  x"]);
    }

    #[test]
    fn shallower_ones_are_the_smallest_of_the_file() {
        check(&["    a"], &["  a"], &[("x", 0), ("  y", 0)], &["  x", "  y"]);
    }

    #[test]
    fn the_nearest_line_above_decides_between_two() {
        let (old, file) = (["a", "b", "c"], ["a", "  b", "    c"]);
        check(&old, &file, &[("x", 0), ("y", 1), ("z", 2)], &["x", "  y", "    z"]);
        check(&[" a", "b", "b"], &["a", "  b", "    c"], &[("x", 0)], &["  x"]);
    }

    #[test]
    fn right_indentation_is_trusted() {
        check(&["    a", "b"], &["    a  ", "b"], &[("  x", 0)], &["  x"]);
        check(&["    a"], &["    a  "], &[("x", 0)], &["x"]);
    }

    #[test]
    fn styles() {
        let style = |text: &str| Style::of(text.lines());
        assert_eq!(style("a\n  b\n    c\n   d\n"), Style { tabs: false, step: 2 });
        assert_eq!(style("a\n\tb\n\t\tc\n d\n"), Style { tabs: true, step: 0 });
        assert_eq!(style(""), Style::default());
    }
}

//! New lines in the place of lines of the file: what wasn't changed is copied, the rest is indented
//! as the file is.

use std::borrow::Cow;

use crate::align::{align, places};
use crate::fold::fold;
use crate::indent::{Indents, Style};
use crate::lines::{indent, trimmed, trimmed_end};

use super::typography::retouched;

/// A line to put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The line of the file with that index in the passage.
    Kept(usize),
    Made(Cow<'a, str>),
}

/// The lines that were found: as they were sent, and as they are in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage<'a> {
    pub(super) old: &'a [&'a str],
    pub(super) file: &'a [&'a str],
    /// They are the same but for typography and the blanks at their ends.
    pub(super) typographic: bool,
}

impl<'a> Passage<'a> {
    /// The lines that take the passage's place when `new` is asked for.
    pub(super) fn rebuilt(self, new: &[&'a str], style: Style) -> Vec<Line<'a>> {
        let key = |line: &&'a str| fold(trimmed_end(line)).into_owned();
        let aligned = align(self.old.iter().map(key), new.iter().map(key));
        let near = places(&aligned, self.old.len());
        let indents = Indents::new(self.old, self.file, new, style);
        let lines = new.iter().zip(&near).zip(&aligned);
        let mut lines: Vec<Line<'a>> = lines
            .map(|((line, near), old)| match old {
                Some(old) => Line::Kept(*old),
                None => Line::Made(indents.apply(line, *near)),
            })
            .collect();
        if self.typographic {
            self.retouch(&mut lines);
        }
        lines
    }

    /// Gives made lines the typography of the lines whose place they take.
    fn retouch(self, lines: &mut [Line<'a>]) {
        let mut start = 0;
        let mut rest = lines;
        while !rest.is_empty() {
            let kept = rest.iter().position(|line| matches!(line, Line::Kept(_)));
            let (gap, others) = rest.split_at_mut(kept.unwrap_or(rest.len()));
            let end = match others.first() {
                Some(Line::Kept(old)) => *old,
                _ => self.file.len(),
            };
            retouch_gap(gap, self.file.get(start..end).unwrap_or_default());
            start = end + 1;
            rest = others.get_mut(1..).unwrap_or_default();
        }
    }
}

/// Gives lines the typography of `file`, the lines whose place they take.
fn retouch_gap(gap: &mut [Line<'_>], file: &[&str]) {
    let texts: Vec<String> = gap
        .iter()
        .map(|line| match line {
            Line::Made(text) => text.clone().into_owned(),
            Line::Kept(_) => String::new(),
        })
        .collect();
    let bodies: Vec<&str> =
        texts.iter().map(|text| text.get(indent(text).len()..).unwrap_or_default()).collect();
    let file: Vec<&str> = file.iter().map(|line| trimmed(line)).collect();
    let touched = retouched(&file.join("\n"), &bodies.join("\n"));
    for ((line, text), body) in gap.iter_mut().zip(&texts).zip(touched.split('\n')) {
        *line = Line::Made(Cow::Owned(indent(text).to_owned() + body));
    }
}

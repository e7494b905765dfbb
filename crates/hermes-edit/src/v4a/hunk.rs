//! Applying hunks to a text.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::closest::closest_lines;
use crate::fold::fold;
use crate::indent::{Indents, Style};
use crate::lines::{Ending, trimmed, trimmed_end};
use crate::search::search;

use super::parse::{Hunk, HunkLine};
use super::{Problem, ProblemKind};

/// How many line numbers an error names.
const MAX_LINE_NUMBERS: usize = 20;
/// For how many hunks of a file the closest lines are looked for.
const MAX_SNIPPETS: usize = 4;

/// The text after the hunks, in their order.
///
/// # Errors
/// All hunks that have no place, or no single one.
pub(super) fn apply_hunks(text: &str, hunks: &[Hunk<'_>]) -> Result<String, Vec<Problem>> {
    let mut file = Text::of(text);
    let mut problems = Vec::new();
    for (index, hunk) in hunks.iter().enumerate().filter(|(_, hunk)| hunk.is_change()) {
        if let Err((kind, message)) = file.apply(hunk) {
            file.missed += 1;
            let message = format!("hunk {} {message}", index + 1);
            problems.push(Problem { kind, line: hunk.line, message });
        }
    }
    if problems.is_empty() { Ok(file.into_text()) } else { Err(problems) }
}

type Fault = (ProblemKind, String);

/// A line of the text with what ends it, or would end it if it weren't the last.
#[derive(Clone, Debug)]
struct Line<'a> {
    text: Cow<'a, str>,
    ending: Ending,
}

struct Text<'a> {
    lines: Vec<Line<'a>>,
    /// The last line has an ending.
    ended: bool,
    style: Style,
    /// Where hunks are looked for next: behind the last one.
    cursor: usize,
    /// Behind the last line that was changed; the next hunk may begin with what follows it.
    changed: usize,
    /// How many hunks had no place.
    missed: usize,
}

/// How lines are compared, from the strictest way on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    Identical,
    WithoutBlanksAtEnd,
    Trimmed,
    Folded,
}

impl Tier {
    const ALL: [Self; 4] = [Self::Identical, Self::WithoutBlanksAtEnd, Self::Trimmed, Self::Folded];

    fn key<'l>(self, line: &'l str) -> Cow<'l, str> {
        match self {
            Self::Identical => Cow::Borrowed(line),
            Self::WithoutBlanksAtEnd => Cow::Borrowed(trimmed_end(line)),
            Self::Trimmed => Cow::Borrowed(trimmed(line)),
            Self::Folded => match fold(line) {
                Cow::Borrowed(line) => Cow::Borrowed(trimmed(line)),
                Cow::Owned(line) => Cow::Owned(trimmed(&line).to_owned()),
            },
        }
    }
}

impl<'a> Text<'a> {
    fn of(text: &'a str) -> Self {
        let dominant = Ending::dominant(text);
        let lines = text.split_inclusive('\n').map(|line| {
            let Some(body) = line.strip_suffix('\n') else {
                return Line { text: Cow::Borrowed(line), ending: dominant };
            };
            match body.strip_suffix('\r') {
                Some(body) => Line { text: Cow::Borrowed(body), ending: Ending::CrLf },
                None => Line { text: Cow::Borrowed(body), ending: Ending::Lf },
            }
        });
        Self {
            lines: lines.collect(),
            ended: text.is_empty() || text.ends_with('\n'),
            style: Style::of(text.lines()),
            cursor: 0,
            changed: 0,
            missed: 0,
        }
    }

    fn into_text(self) -> String {
        let len = self.lines.iter().map(|line| line.text.len() + 2).sum();
        let mut text = String::with_capacity(len);
        let last = self.lines.len().saturating_sub(1);
        for (index, line) in self.lines.iter().enumerate() {
            text.push_str(&line.text);
            if index < last || self.ended {
                text.push_str(line.ending.text());
            }
        }
        text
    }

    fn line(&self, index: usize) -> &str {
        self.lines.get(index).map_or("", |line| &line.text)
    }

    fn apply(&mut self, hunk: &Hunk<'_>) -> Result<(), Fault> {
        let old: Vec<&str> = hunk
            .lines
            .iter()
            .filter_map(|line| match line {
                HunkLine::Context(text) | HunkLine::Removed(text) => Some(*text),
                HunkLine::Added(_) => None,
            })
            .collect();
        if old.is_empty() {
            return self.insert(hunk);
        }
        let start = self.find(hunk, &old)?;
        self.change(hunk, &old, start);
        Ok(())
    }

    /// The index of the line where the hunk's place begins.
    fn find(&self, hunk: &Hunk<'_>, old: &[&str]) -> Result<usize, Fault> {
        let mut areas: Vec<usize> = [self.cursor, 0]
            .into_iter()
            .filter_map(|from| self.hinted(&hunk.hints, from))
            .collect();
        areas.dedup();
        let hinted = !areas.is_empty();
        if !hinted {
            areas.push(0);
        }
        for area in areas {
            for tier in Tier::ALL {
                let wanted: Vec<Cow<'_, str>> = old.iter().map(|line| tier.key(line)).collect();
                let lines = self.lines.iter().skip(area).map(|line| tier.key(&line.text));
                let hits: Vec<usize> =
                    search(lines, &wanted).into_iter().map(|at| at + area).collect();
                if !hits.is_empty() {
                    return self.choose(hunk, &hits, old.len(), hinted);
                }
            }
        }
        Err(self.not_found(hunk, old))
    }

    /// One of several places.
    fn choose(
        &self,
        hunk: &Hunk<'_>,
        hits: &[usize],
        len: usize,
        hinted: bool,
    ) -> Result<usize, Fault> {
        if let [only] = hits {
            return Ok(*only);
        }
        if let (true, Some(last)) = (hunk.at_end, hits.last())
            && last + len == self.lines.len()
        {
            return Ok(*last);
        }
        if let (true, Some(first)) = (hinted, hits.first()) {
            return Ok(*first);
        }
        for from in [self.cursor, self.changed] {
            let behind = hits.get(hits.partition_point(|&hit| hit < from)..).unwrap_or_default();
            match behind {
                [] => {}
                [only] if from > 0 => return Ok(*only),
                _ => break,
            }
        }
        Err((
            ProblemKind::Ambiguous,
            format!(
                "fits {} places, at {}: add lines around it, or a line that stands before it behind \
                 `@@`",
                hits.len(),
                numbered(hits)
            ),
        ))
    }

    fn not_found(&self, hunk: &Hunk<'_>, old: &[&str]) -> Fault {
        let mut message = "isn't in the file".to_owned();
        let there: HashSet<Cow<'_, str>> =
            self.lines.iter().map(|line| Tier::Folded.key(&line.text)).collect();
        let missing = hunk.lines.iter().find(|line| match line {
            HunkLine::Removed(text) | HunkLine::Context(text) => {
                !there.contains(&Tier::Folded.key(text))
            }
            HunkLine::Added(_) => false,
        });
        let wanted = match missing {
            Some(HunkLine::Removed(text)) => {
                message.push_str(&format!(": no line is `{}`, which it removes", shown(text)));
                Cow::Borrowed(*text)
            }
            Some(HunkLine::Context(text) | HunkLine::Added(text)) => {
                message.push_str(&format!(": no line is `{}`", shown(text)));
                Cow::Borrowed(*text)
            }
            None => {
                message.push_str(": its lines are there, but not in a row");
                Cow::Owned(old.join("\n"))
            }
        };
        if self.missed < MAX_SNIPPETS {
            let text: Vec<&str> = self.lines.iter().map(|line| line.text.as_ref()).collect();
            if let Some(snippet) = closest_lines(&wanted, &text.join("\n")) {
                message.push_str(&format!(". The closest lines:\n{snippet}"));
            }
        }
        (ProblemKind::NotFound, message)
    }

    /// The index of the line that the hints lead to, looking from `from` on.
    fn hinted(&self, hints: &[&str], from: usize) -> Option<usize> {
        let mut found = None;
        for hint in hints {
            let from = found.map_or(from, |found: usize| found + 1);
            let lines = || self.lines.iter().enumerate().skip(from);
            let equal = lines().find(|(_, line)| trimmed(&line.text) == *hint);
            let place = equal.or_else(|| lines().find(|(_, line)| line.text.contains(hint)));
            found = Some(place?.0);
        }
        found
    }

    /// Applies a hunk at its place.
    fn change(&mut self, hunk: &Hunk<'_>, old: &[&str], start: usize) {
        let place = start..start + old.len();
        let file: Vec<String> = place.clone().map(|line| self.line(line).to_owned()).collect();
        let file: Vec<&str> = file.iter().map(String::as_str).collect();
        let new: Vec<&str> = hunk.lines.iter().filter_map(added).collect();
        let indents = Indents::new(old, &file, &new, self.style);
        let mut lines = Vec::with_capacity(hunk.lines.len());
        let (mut at, mut changed) = (0, 0);
        for run in hunk.lines.chunk_by(|a, b| is_context(a) == is_context(b)) {
            if run.first().is_some_and(is_context) {
                lines.extend(
                    self.lines
                        .get(start + at..start + at + run.len())
                        .into_iter()
                        .flatten()
                        .cloned(),
                );
                at += run.len();
                continue;
            }
            let removed = run.len() - run.iter().filter_map(added).count();
            let ending = self.ending_at(start + at, removed);
            // The removed line that an added one takes the place of, else the line before.
            let near = |nth: usize| match removed {
                0 => at.saturating_sub(1),
                _ => at + nth.min(removed - 1),
            };
            lines.extend(
                run.iter()
                    .filter_map(added)
                    .enumerate()
                    .map(|(nth, text)| new_line(&indents.apply(text, near(nth)), ending)),
            );
            at += removed;
            changed = lines.len();
        }
        self.cursor = start + lines.len();
        self.changed = start + changed;
        self.lines.splice(place, lines);
    }

    /// The ending for lines that take the place of `removed` lines at `at`: that of the first of
    /// them, else of the line before, else of the line behind.
    fn ending_at(&self, at: usize, removed: usize) -> Ending {
        let before = if removed > 0 { None } else { at.checked_sub(1) };
        let neighbour = before.or(Some(at)).and_then(|at| self.lines.get(at));
        neighbour.or(self.lines.last()).map_or(Ending::Lf, |line| line.ending)
    }

    /// Applies a hunk that only adds lines.
    fn insert(&mut self, hunk: &Hunk<'_>) -> Result<(), Fault> {
        let at = if hunk.hints.is_empty() {
            // What is added at the end is ended.
            self.ended = true;
            self.lines.len()
        } else {
            self.hinted_line(&hunk.hints)? + 1
        };
        let ending = self.ending_at(at, 0);
        let lines: Vec<Line<'a>> =
            hunk.lines.iter().filter_map(added).map(|text| new_line(text, ending)).collect();
        self.cursor = at + lines.len();
        self.changed = self.cursor;
        self.lines.splice(at..at, lines);
        Ok(())
    }

    /// The index of the single line that hints lead to.
    fn hinted_line(&self, hints: &[&str]) -> Result<usize, Fault> {
        let [outer @ .., last] = hints else { return Ok(0) };
        let missing = |hint: &str| {
            let message = format!("isn't placed: no line is or holds `{}`", shown(hint));
            (ProblemKind::NotFound, message)
        };
        if !outer.is_empty() {
            let inner = self.hinted(hints, self.cursor).or_else(|| self.hinted(hints, 0));
            return inner.ok_or_else(|| missing(last));
        }
        let places = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let lines = self.lines.iter().enumerate();
            lines.filter(|(_, line)| fits(&line.text)).map(|(index, _)| index).collect()
        };
        let mut found = places(&|line| trimmed(line) == *last);
        if found.is_empty() {
            found = places(&|line| line.contains(last));
        }
        match found.as_slice() {
            [] => Err(missing(last)),
            [only] => Ok(*only),
            several => Err((
                ProblemKind::Ambiguous,
                format!(
                    "isn't placed: `{}` fits the lines {}; add lines around what is added",
                    shown(last),
                    numbered(several)
                ),
            )),
        }
    }
}

fn is_context(line: &HunkLine<'_>) -> bool {
    matches!(line, HunkLine::Context(_))
}

fn added<'a>(line: &HunkLine<'a>) -> Option<&'a str> {
    match line {
        HunkLine::Added(text) => Some(text),
        HunkLine::Context(_) | HunkLine::Removed(_) => None,
    }
}

/// A line to put in. The CR of a CR LF isn't part of it.
fn new_line<'a>(text: &str, ending: Ending) -> Line<'a> {
    let bare = text.strip_suffix('\r').filter(|_| ending == Ending::CrLf);
    Line { text: Cow::Owned(bare.unwrap_or(text).to_owned()), ending }
}

/// A line as a message shows it.
fn shown(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(200).and_then(|(end, _)| line.get(..end)) {
        Some(start) => Cow::Owned(format!("{start}...")),
        None => Cow::Borrowed(line),
    }
}

/// Line numbers of indexes.
fn numbered(indexes: &[usize]) -> String {
    let numbers = indexes.iter().take(MAX_LINE_NUMBERS).map(|index| (index + 1).to_string());
    let more = if indexes.len() > MAX_LINE_NUMBERS { ", ..." } else { "" };
    format!("{}{more}", numbers.collect::<Vec<_>>().join(", "))
}

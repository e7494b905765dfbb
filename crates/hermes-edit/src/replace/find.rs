//! The strategies: where a passage is.

use std::borrow::Cow;
use std::ops::Range;

use crate::fold::{self, fold};
use crate::lines::{Lines, trimmed, trimmed_end};
use crate::view::View;

use super::likely::may_hold;
use super::windows::windows;
use super::{Request, block, escape};

/// A place that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// What is replaced.
    pub(super) span: Range<usize>,
    /// For a passage found line by line, the index of its first line.
    pub(super) first_line: Option<usize>,
}

/// The places of a passage.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In order.
    pub(super) hits: Vec<Hit>,
    /// What takes its place if that isn't what was sent.
    pub(super) new: Option<String>,
}

impl Found {
    pub(super) fn of(hits: Vec<Hit>) -> Self {
        Self { hits, new: None }
    }
}

/// Whether a text has nothing to find it by.
pub(super) fn is_blank(text: &str) -> bool {
    fold(text).trim().is_empty()
}

/// The hits that don't overlap an earlier one.
pub(super) fn apart(mut hits: Vec<Hit>) -> Vec<Hit> {
    let mut done = 0;
    hits.retain(|hit| {
        let is_apart = hit.span.start >= done;
        if is_apart {
            done = hit.span.end;
        }
        is_apart
    });
    hits
}

/// Letter by letter, from left to right, without overlaps.
pub(super) fn exact(text: &str, old: &str) -> Vec<Hit> {
    memchr::memmem::find_iter(text.as_bytes(), old)
        .map(|start| Hit { span: start..start + old.len(), first_line: None })
        .collect()
}

/// The hit on the lines from `first` on.
fn lines_hit(lines: &Lines<'_>, request: &Request<'_>, first: usize, count: usize) -> Hit {
    let end = if request.swallows_break() {
        lines.start(first + count)
    } else {
        lines.end(first + count - 1)
    };
    Hit { span: lines.start(first)..end, first_line: Some(first) }
}

/// The hits on lines in a row that are those of the request but for blanks at their ends.
///
/// `compared` has the same lines as the text, and `old` those of the request, in the form in which
/// they are compared.
fn whole_lines(
    lines: &Lines<'_>,
    compared: &Lines<'_>,
    old: &str,
    request: &Request<'_>,
) -> Vec<Hit> {
    let old = passage_lines(old);
    let starts = windows(compared, &old, trimmed_key).into_iter();
    starts.map(|first| lines_hit(lines, request, first, old.len())).collect()
}

/// Whether a text holds a passage letter by letter, or line by line but for blanks at the ends.
fn holds(view: &View<'_>, wanted: &str) -> bool {
    memchr::memmem::find(view.text().as_bytes(), wanted.as_bytes()).is_some()
        || !windows(&Lines::of(view.text()), &passage_lines(wanted), trimmed_key).is_empty()
}

fn passage_lines(passage: &str) -> Vec<&str> {
    passage.strip_suffix('\n').unwrap_or(passage).split('\n').collect()
}

fn trimmed_key(line: &str) -> Cow<'_, str> {
    Cow::Borrowed(trimmed(line))
}

fn line_breaks(passage: &str) -> usize {
    memchr::memchr_iter(b'\n', passage.as_bytes()).count()
}

pub(super) fn line_trimmed(lines: &Lines<'_>, request: &Request<'_>) -> Vec<Hit> {
    whole_lines(lines, lines, request.old, request)
}

pub(super) fn whitespace_normalized(
    text: &str,
    lines: &Lines<'_>,
    request: &Request<'_>,
) -> Vec<Hit> {
    if !request.old.contains([' ', '\t']) {
        return Vec::new();
    }
    let wanted = View::packed(request.old);
    let words = request.old.split([' ', '\t', '\n']);
    let breaks = line_breaks(request.old);
    if !may_hold(text, words, breaks, |part| holds(&View::packed(part), wanted.text())) {
        return Vec::new();
    }
    packed_hits(text, lines, &wanted, request)
}

fn packed_hits(
    text: &str,
    lines: &Lines<'_>,
    wanted: &View<'_>,
    request: &Request<'_>,
) -> Vec<Hit> {
    let view = View::packed(text);
    let mut hits = whole_lines(lines, &Lines::of(view.text()), wanted.text(), request);
    if !request.old.ends_with('\n') {
        // What stands behind the passage stays.
        for hit in &mut hits {
            let found = text.get(hit.span.clone()).unwrap_or_default();
            hit.span.end = hit.span.start + trimmed_end(found).len();
        }
    }
    let inside: Vec<Hit> = exact(view.text(), wanted.text())
        .into_iter()
        .filter_map(|hit| view.source(&hit.span))
        .filter(|span| {
            let next = hits.partition_point(|hit| hit.span.end <= span.start);
            hits.get(next).is_none_or(|hit| hit.span.start >= span.end)
        })
        .map(|span| Hit { span, first_line: None })
        .collect();
    hits.extend(inside);
    hits.sort_by_key(|hit| hit.span.start);
    hits
}

pub(super) fn escape_normalized(text: &str, request: &Request<'_>) -> Found {
    let Some(old) = escape::unescaped(request.old).filter(|old| !is_blank(old)) else {
        return Found::default();
    };
    Found { hits: exact(text, &old), new: escape::unescaped(request.new) }
}

pub(super) fn unicode_normalized(text: &str, lines: &Lines<'_>, request: &Request<'_>) -> Vec<Hit> {
    if text.is_ascii() && request.old.is_ascii() {
        return Vec::new();
    }
    let old = fold(request.old);
    if !fold::may_hide_words(text) {
        let words = old.split(|character: char| !character.is_ascii_alphanumeric());
        let breaks = line_breaks(request.old);
        if !may_hold(text, words, breaks, |part| holds(&fold::view(part), &old)) {
            return Vec::new();
        }
    }
    folded_hits(text, lines, &old, request)
}

fn folded_hits(text: &str, lines: &Lines<'_>, old: &str, request: &Request<'_>) -> Vec<Hit> {
    let view = fold::view(text);
    let hits: Vec<Hit> = exact(view.text(), old)
        .into_iter()
        .filter_map(|hit| view.source(&hit.span))
        .map(|span| Hit { span, first_line: None })
        .collect();
    if !hits.is_empty() {
        return hits;
    }
    whole_lines(lines, &Lines::of(view.text()), old, request)
}

pub(super) fn block_anchor(lines: &Lines<'_>, request: &Request<'_>) -> Vec<Hit> {
    let old = request.old_lines();
    let starts = block::blocks(lines, &old).into_iter();
    starts.map(|first| lines_hit(lines, request, first, old.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn looking_ahead_changes_nothing(
            text in "([ab\t\u{200B}\u{212A}K“\"e\u{301}é  \n]|ab|cd e){0,60}",
            old in "[ab\tK\"eé cd\n]{1,12}",
            cut in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            // Half of the passages come from the text itself.
            let characters: Vec<char> = text.chars().collect();
            let (from, to) = (cut.0.index(characters.len() + 1), cut.1.index(characters.len() + 1));
            let part: String = characters.get(from..to).unwrap_or_default().iter().collect();
            for old in [old, part] {
                let lines = Lines::of(&text);
                let request = Request { old: &old, new: "", all: false };
                let packed = View::packed(&old);
                if old.contains([' ', '\t']) && !old.trim().is_empty() {
                    let all = packed_hits(&text, &lines, &packed, &request);
                    prop_assert_eq!(whitespace_normalized(&text, &lines, &request), all);
                }
                if !(is_blank(&old) || (text.is_ascii() && old.is_ascii())) {
                    let all = folded_hits(&text, &lines, &fold(&old), &request);
                    prop_assert_eq!(unicode_normalized(&text, &lines, &request), all);
                }
            }
        }
    }
}

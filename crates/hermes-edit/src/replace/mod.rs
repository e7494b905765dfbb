//! Replacing a passage of a text by another, found although models seldom copy letter by letter.

mod block;
mod escape;
mod find;
mod likely;
mod rebuild;
mod typography;
mod windows;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use crate::indent::Style;
use crate::lines::{Ending, Lines, to_lf};
use crate::view::View;

use find::{Found, Hit};
use rebuild::{Line, Passage};
use typography::retouched;

/// How a passage was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Letter by letter.
    Exact,
    /// Line by line, blanks at the ends of lines aside.
    LineTrimmed,
    /// With any run of blanks and tabs as one blank.
    WhitespaceNormalized,
    /// With `\n`, `\t` and `\r` of the request as the characters they stand for.
    EscapeNormalized,
    /// With typographic quotes, dashes and blanks as their plain forms.
    UnicodeNormalized,
    /// By its first and last line, with lines between that differ in blanks or punctuation.
    BlockAnchor,
}

impl Strategy {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineTrimmed => "line_trimmed",
            Self::WhitespaceNormalized => "whitespace_normalized",
            Self::EscapeNormalized => "escape_normalized",
            Self::UnicodeNormalized => "unicode_normalized",
            Self::BlockAnchor => "block_anchor",
        }
    }
}

/// The strategies that are tried when the passage isn't there letter by letter, in this order. The
/// first that finds anything decides.
const FALLBACKS: [Strategy; 5] = [
    Strategy::LineTrimmed,
    Strategy::WhitespaceNormalized,
    Strategy::EscapeNormalized,
    Strategy::UnicodeNormalized,
    Strategy::BlockAnchor,
];

/// A text after its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The whole text.
    pub content: String,
    /// How many places were changed.
    pub count: usize,
    /// How they were found.
    pub strategy: Strategy,
    /// The places in the text before the change, in bytes, in order. All other bytes are the same.
    pub spans: Vec<Range<usize>>,
}

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no passage to look for.
    EmptyOld,
    /// The passage and its replacement are the same.
    Identical,
    /// The passage isn't in the text, nor anything that stands for it without doubt.
    NotFound,
    /// The passage is in the text several times.
    Ambiguous {
        /// The lines where it begins, from 1 on, one number for each place.
        lines: Vec<usize>,
    },
    /// The passage is in the text but for backslashes before quotes, which the replacement has too.
    EscapeDrift {
        /// The line where it begins, from 1 on.
        line: usize,
    },
}

/// Replaces `old` by `new`, which is taken literally, once or with `all` everywhere.
///
/// # Errors
/// The reason why there is nothing to replace, or no telling what.
pub fn replace(content: &str, old: &str, new: &str, all: bool) -> Result<Replaced, Refusal> {
    if old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    let request = Request { old: &to_lf(old), new: &to_lf(new), all };
    if request.old == request.new {
        return Err(Refusal::Identical);
    }
    let view = View::lf(content);
    let text = Text {
        original: content,
        view: &view,
        lines: Lines::of(view.text()),
        dominant: OnceCell::new(),
    };
    let exact = find::exact(text.lf(), request.old);
    if !exact.is_empty() {
        return text.finish(&request, Strategy::Exact, Found::of(exact));
    }
    if find::is_blank(request.old) {
        return Err(Refusal::NotFound);
    }
    for strategy in FALLBACKS {
        let found = text.find(&request, strategy);
        if !found.hits.is_empty() {
            return text.finish(&request, strategy, found);
        }
    }
    Err(text.drift(&request).unwrap_or(Refusal::NotFound))
}

/// What is asked for, with LF for CR LF.
#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    old: &'a str,
    new: &'a str,
    all: bool,
}

impl<'a> Request<'a> {
    /// The lines to look for. A line feed at the end ends the last line.
    fn old_lines(&self) -> Vec<&'a str> {
        self.old.strip_suffix('\n').unwrap_or(self.old).split('\n').collect()
    }

    /// The lines to put in their place, `new` being what the request has or a mended form of it.
    fn new_lines(self, new: &str) -> Vec<&str> {
        if self.swallows_break() && new.is_empty() {
            return Vec::new();
        }
        let ended = self.old.ends_with('\n');
        new.strip_suffix('\n').filter(|_| ended).unwrap_or(new).split('\n').collect()
    }

    /// Whether the line feed behind the passage goes with it.
    fn swallows_break(&self) -> bool {
        self.old.ends_with('\n') && !self.new.ends_with('\n')
    }
}

/// The text to change.
struct Text<'a> {
    original: &'a str,
    view: &'a View<'a>,
    lines: Lines<'a>,
    /// The ending of most lines, once it was asked for.
    dominant: OnceCell<Ending>,
}

impl<'a> Text<'a> {
    fn lf(&self) -> &'a str {
        self.view.text()
    }

    /// A span of the view in the original: a CR belongs to its line feed.
    fn original_span(&self, span: &Range<usize>) -> Range<usize> {
        self.view.source(span).unwrap_or_default()
    }

    /// The ending for what takes the place of `span`: that of its own first break, else of the line
    /// before, else the text's commonest.
    fn ending(&self, span: &Range<usize>) -> Ending {
        let of_line =
            |line| self.original_span(&(self.lines.end(line)..self.lines.start(line + 1)));
        let line = self.lines.at(span.start);
        let before = line.checked_sub(1).map(of_line).unwrap_or_default();
        [self.original_span(span), before]
            .into_iter()
            .find_map(|span| Ending::first(self.original.get(span).unwrap_or_default()))
            .unwrap_or_else(|| *self.dominant.get_or_init(|| Ending::dominant(self.original)))
    }

    fn find(&self, request: &Request<'_>, strategy: Strategy) -> Found {
        match strategy {
            Strategy::Exact => Found::of(find::exact(self.lf(), request.old)),
            Strategy::LineTrimmed => Found::of(find::line_trimmed(&self.lines, request)),
            Strategy::WhitespaceNormalized => {
                Found::of(find::whitespace_normalized(self.lf(), &self.lines, request))
            }
            Strategy::EscapeNormalized => find::escape_normalized(self.lf(), request),
            Strategy::UnicodeNormalized => {
                Found::of(find::unicode_normalized(self.lf(), &self.lines, request))
            }
            Strategy::BlockAnchor => Found::of(find::block_anchor(&self.lines, request)),
        }
    }

    /// Changes the places that were found, or says why that can't be.
    fn finish(
        &self,
        request: &Request<'_>,
        strategy: Strategy,
        found: Found,
    ) -> Result<Replaced, Refusal> {
        if found.hits.len() > 1 && !request.all {
            let starts = found.hits.iter().map(|hit| self.lines.at(hit.span.start) + 1);
            return Err(Refusal::Ambiguous { lines: starts.collect() });
        }
        let hits = find::apart(found.hits);
        if strategy != Strategy::Exact {
            let span = |hit: &Hit| self.lf().get(hit.span.clone()).unwrap_or_default();
            let drifts = |hit: &&Hit| escape::drifts(request.old, request.new, span(hit));
            if let Some(hit) = hits.iter().find(drifts) {
                return Err(Refusal::EscapeDrift { line: self.lines.at(hit.span.start) + 1 });
            }
        }
        let new = found.new.as_deref().unwrap_or(request.new);
        let by_line = hits.iter().any(|hit| hit.first_line.is_some());
        let style = if by_line { Style::of(self.lines.iter()) } else { Style::default() };
        let mut content = String::with_capacity(self.original.len() + new.len());
        let mut spans = Vec::with_capacity(hits.len());
        let mut done = 0;
        for hit in &hits {
            let span = self.original_span(&hit.span);
            content.push_str(self.original.get(done..span.start).unwrap_or_default());
            self.put(&mut content, request, strategy, hit, new, style);
            done = span.end;
            spans.push(span);
        }
        content.push_str(self.original.get(done..).unwrap_or_default());
        Ok(Replaced { content, count: hits.len(), strategy, spans })
    }

    /// Puts what takes the place of one hit.
    fn put(
        &self,
        out: &mut String,
        request: &Request<'_>,
        strategy: Strategy,
        hit: &Hit,
        new: &str,
        style: Style,
    ) {
        let span = self.lf().get(hit.span.clone()).unwrap_or_default();
        let ending = self.ending(&hit.span);
        let literal = matches!(strategy, Strategy::Exact | Strategy::EscapeNormalized);
        let new =
            if literal { Cow::Borrowed(new) } else { escape::with_real_tabs(new, span, self.lf()) };
        if let Some(first) = hit.first_line {
            let old = request.old_lines();
            let new = request.new_lines(&new);
            let file: Vec<&str> =
                (first..first + old.len()).map(|line| self.lines.get(line)).collect();
            let typographic = strategy == Strategy::UnicodeNormalized;
            let passage = Passage { old: &old, file: &file, typographic };
            let lines = passage.rebuilt(&new, style);
            self.put_lines(out, &lines, hit, ending);
            return;
        }
        let new = if strategy == Strategy::UnicodeNormalized {
            Cow::Owned(retouched(span, &new))
        } else {
            new
        };
        let original = self.original.get(self.original_span(&hit.span)).unwrap_or_default();
        if is_mixed(original) && new.contains('\n') {
            let old: Vec<&str> = span.split('\n').collect();
            let new: Vec<&str> = new.split('\n').collect();
            let aligned = crate::align::align(old.iter(), new.iter());
            let lines = new
                .iter()
                .zip(aligned)
                .map(|(line, old)| old.map_or(Line::Made(Cow::Borrowed(*line)), Line::Kept));
            self.put_lines(out, &lines.collect::<Vec<_>>(), hit, ending);
            return;
        }
        for (nth, line) in new.split('\n').enumerate() {
            if nth > 0 {
                out.push_str(ending.text());
            }
            out.push_str(line);
        }
    }

    /// Puts lines in the place of a hit. Kept ones are copied with their endings.
    fn put_lines(&self, out: &mut String, lines: &[Line<'_>], hit: &Hit, ending: Ending) {
        let first = hit.first_line.unwrap_or_else(|| self.lines.at(hit.span.start));
        for (nth, line) in lines.iter().enumerate() {
            let (text, own) = match line {
                Line::Made(text) => (text.as_ref(), None),
                Line::Kept(index) => {
                    let line = first + index;
                    let start = self.lines.start(line).max(hit.span.start);
                    let end = self.lines.end(line).min(hit.span.end);
                    let text = self.lf().get(start..end).unwrap_or_default();
                    let broken = self.original_span(&(end..self.lines.start(line + 1)));
                    (text, Ending::first(self.original.get(broken).unwrap_or_default()))
                }
            };
            out.push_str(text);
            if nth + 1 < lines.len() {
                out.push_str(own.unwrap_or(ending).text());
            }
        }
    }

    /// The refusal for a passage that is there but for backslashes before its quotes.
    fn drift(&self, request: &Request<'_>) -> Option<Refusal> {
        let old = escape::without_quote_escapes(request.old)?;
        let bare = Request { old: &old, ..*request };
        let tried = [Strategy::Exact].into_iter().chain(FALLBACKS);
        let hits =
            tried.map(|strategy| self.find(&bare, strategy).hits).find(|it| !it.is_empty())?;
        let hit = hits.first()?;
        let span = self.lf().get(hit.span.clone()).unwrap_or_default();
        let line = self.lines.at(hit.span.start) + 1;
        escape::drifts(request.old, request.new, span).then_some(Refusal::EscapeDrift { line })
    }
}

/// Whether a text has breaks of both kinds.
fn is_mixed(text: &str) -> bool {
    let crlf = memchr::memmem::find_iter(text.as_bytes(), "\r\n").count();
    crlf > 0 && crlf < memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[cfg(test)]
mod tests;

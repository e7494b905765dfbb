//! A text as it is compared, and the way back to the text as it is.

use std::borrow::Cow;
use std::ops::Range;

/// A piece of a view that stands for something else in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    view: Range<usize>,
    source: Range<usize>,
}

/// A text derived from a source piece by piece. What lies between the pieces is the same in both.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    text: Cow<'a, str>,
    /// By place; none of them is empty in the source.
    pieces: Vec<Piece>,
}

impl<'a> View<'a> {
    /// The source itself.
    pub(crate) fn same(source: &'a str) -> Self {
        Self { text: Cow::Borrowed(source), pieces: Vec::new() }
    }

    /// The source with CR LF as LF. A CR alone is data and stays.
    pub(crate) fn lf(source: &'a str) -> Self {
        let mut builder = Builder::new(source);
        for at in memchr::memmem::find_iter(source.as_bytes(), "\r\n") {
            builder.replace(at..at + 2, "\n");
        }
        builder.finish()
    }

    /// The source with every run of blanks and tabs as one blank.
    pub(crate) fn packed(source: &'a str) -> Self {
        let bytes = source.as_bytes();
        let mut builder = Builder::new(source);
        let mut take = |run: Range<usize>| {
            if run.len() > 1 || bytes.get(run.start) == Some(&b'\t') {
                builder.replace(run, " ");
            }
        };
        let mut run = 0..0;
        for at in memchr::memchr2_iter(b' ', b'\t', bytes) {
            if at == run.end {
                run.end += 1;
            } else {
                take(run);
                run = at..at + 1;
            }
        }
        take(run);
        builder.finish()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// What a span of the view stands for. None when an end of it is inside a piece that can't be
    /// cut. Of pieces that stand for nothing, those at the ends aren't part of the span.
    pub(crate) fn source(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let after = self.pieces.partition_point(|piece| piece.view.end <= span.start);
        let start = self.place(after, span.start)?;
        let after = self.pieces.partition_point(|piece| {
            piece.view.end < span.end || (piece.view.end == span.end && !piece.view.is_empty())
        });
        let end = self.place(after, span.end)?;
        // An empty span may be given either side of pieces that stand for nothing.
        Some(start.min(end)..end)
    }

    /// The place of `at`, given how many pieces end at or before it.
    fn place(&self, before: usize, at: usize) -> Option<usize> {
        if self.pieces.get(before).is_some_and(|next| next.view.start < at) {
            return None;
        }
        let last = before.checked_sub(1).and_then(|last| self.pieces.get(last));
        Some(last.map_or(at, |last| last.source.end + (at - last.view.end)))
    }
}

/// Makes a view from the start of its source to the end.
pub(crate) struct Builder<'a> {
    source: &'a str,
    /// None until something differs.
    text: Option<String>,
    pieces: Vec<Piece>,
    /// How much of the source is in the text.
    done: usize,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self { source, text: None, pieces: Vec::new(), done: 0 }
    }

    /// Takes `piece` of the source, which lies behind those taken before, as `text`.
    pub(crate) fn replace(&mut self, piece: Range<usize>, text: &str) {
        let out = self.text.get_or_insert_with(|| String::with_capacity(self.source.len()));
        out.push_str(self.source.get(self.done..piece.start).unwrap_or_default());
        let start = out.len();
        out.push_str(text);
        self.done = piece.end;
        self.pieces.push(Piece { view: start..out.len(), source: piece });
    }

    pub(crate) fn finish(self) -> View<'a> {
        let Some(mut text) = self.text else { return View::same(self.source) };
        text.push_str(self.source.get(self.done..).unwrap_or_default());
        View { text: Cow::Owned(text), pieces: self.pieces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn line_feeds_lead_back_to_their_carriage_returns() {
        let view = View::lf("a\r\nb\nc\rd\r\n");
        assert_eq!(view.text(), "a\nb\nc\rd\n");
        for (span, source) in
            [(0..1, 0..1), (1..2, 1..3), (2..3, 3..4), (0..8, 0..10), (7..8, 8..10), (8..8, 10..10)]
        {
            assert_eq!(view.source(&span), Some(source), "{span:?}");
        }
    }

    #[test]
    fn runs_of_blanks_are_one() {
        let view = View::packed("a  b\t c\td e");
        assert_eq!(view.text(), "a b c d e");
        assert_eq!(view.source(&(1..2)), Some(1..3));
        assert_eq!(view.source(&(2..5)), Some(3..7));
    }

    #[test]
    fn what_stands_for_nothing_and_what_can_not_be_cut() {
        let mut builder = Builder::new("ab…c");
        builder.replace(1..1 + 1, "");
        builder.replace(2..5, "...");
        let view = builder.finish();
        assert_eq!(view.text(), "a...c");
        assert_eq!(view.source(&(0..1)), Some(0..1));
        assert_eq!(view.source(&(1..4)), Some(2..5));
        assert_eq!(view.source(&(1..2)), None);
        assert_eq!(view.source(&(3..5)), None);
        assert_eq!(view.source(&(0..5)), Some(0..6));
        assert_eq!(view.source(&(1..1)), Some(1..1));
    }
}

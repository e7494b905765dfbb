//! Replacing a passage of a text, found letter by letter whatever the line endings.

use std::ops::Range;

use crate::text::to_lf;

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    EmptyOld,
    Identical,
    NotFound,
    /// The numbers of the lines where the passage begins, from 1 on.
    Ambiguous(Vec<usize>),
}

/// A text after its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) count: usize,
}

/// Replaces `old` by `new`, which is taken literally.
///
/// CR LF and LF match each other; inserted line breaks take the form of those around them. All
/// that lies outside the passage stays as it is.
pub(crate) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, Refusal> {
    if old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    let (old, new) = (to_lf(old), to_lf(new));
    if old == new {
        return Err(Refusal::Identical);
    }
    let view = LfView::of(text);
    let found: Vec<usize> = view.lf.match_indices(old.as_ref()).map(|(start, _)| start).collect();
    if found.is_empty() {
        return Err(Refusal::NotFound);
    }
    if found.len() > 1 && !all {
        return Err(Refusal::Ambiguous(line_numbers(&view.lf, &found)));
    }
    let mut edited = String::with_capacity(text.len());
    let mut rest = 0;
    for start in &found {
        let span = view.original(*start..*start + old.len());
        edited.push_str(text.get(rest..span.start).unwrap_or_default());
        push_with_breaks(&mut edited, &new, ending_at(text, &span));
        rest = span.end;
    }
    edited.push_str(text.get(rest..).unwrap_or_default());
    Ok(Edited { text: edited, count: found.len() })
}

/// A text with CR LF as LF, and the way back.
struct LfView<'a> {
    lf: std::borrow::Cow<'a, str>,
    /// Where in the view the line feeds are that had a CR before them.
    dropped: Vec<usize>,
}

impl<'a> LfView<'a> {
    fn of(text: &'a str) -> Self {
        let dropped =
            text.match_indices("\r\n").enumerate().map(|(nth, (at, _))| at - nth).collect();
        Self { lf: to_lf(text), dropped }
    }

    /// A span of the view in the original. A CR belongs to its line feed.
    fn original(&self, span: Range<usize>) -> Range<usize> {
        let back = |at: usize| at + self.dropped.partition_point(|&dropped| dropped < at);
        back(span.start)..back(span.end)
    }
}

fn line_numbers(text: &str, starts: &[usize]) -> Vec<usize> {
    let (mut line, mut seen) = (1, 0);
    starts
        .iter()
        .map(|&start| {
            let between = text.as_bytes().get(seen..start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count();
            seen = start;
            line
        })
        .collect()
}

/// The line ending for what takes the place of `span`: that of its own first break, else of the
/// line before, else the file's commonest.
fn ending_at(text: &str, span: &Range<usize>) -> &'static str {
    let before = text.get(..span.start).unwrap_or_default();
    let inside = text.get(span.clone()).unwrap_or_default();
    if let Some(ending) = first_ending(inside) {
        return ending;
    }
    if let Some(at) = before.rfind('\n') {
        return if before.get(..at).is_some_and(|line| line.ends_with('\r')) {
            "\r\n"
        } else {
            "\n"
        };
    }
    let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    if text.matches("\r\n").count() * 2 > all { "\r\n" } else { "\n" }
}

fn first_ending(text: &str) -> Option<&'static str> {
    let at = text.find('\n')?;
    Some(if text.get(..at).is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" })
}

fn push_with_breaks(out: &mut String, text: &str, ending: &str) {
    for (nth, line) in text.split('\n').enumerate() {
        if nth > 0 {
            out.push_str(ending);
        }
        out.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn check(text: &str, old: &str, new: &str, all: bool, expected: &str, count: usize) {
        let edited = replace(text, old, new, all).unwrap();
        assert_eq!((edited.text.as_str(), edited.count), (expected, count));
    }

    #[test]
    fn passages_are_replaced_literally() {
        check("a b a", "b", "$0\\1", false, "a $0\\1 a", 1);
        check("a b a", "a", "cc", true, "cc b cc", 2);
        check("aaa", "aa", "b", true, "ba", 1);
        check("a\nb\n", "b\n", "", false, "a\n", 1);
        check("p 1%\rp 2%\rline2\n", "line2", "line3", false, "p 1%\rp 2%\rline3\n", 1);
        check("日本語", "本", "x", false, "日x語", 1);
    }

    #[test]
    fn line_endings_match_each_other_and_are_kept() {
        check("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n", 1);
        check("a\nb\nc\n", "a\r\nb", "x\r\ny", false, "x\ny\nc\n", 1);
        check("a\r\nb\nc\n", "c", "c\nd", false, "a\r\nb\nc\nd\n", 1);
        check("a\r\nb\nc\n", "b", "b\nd", false, "a\r\nb\r\nd\nc\n", 1);
        check("a b\r\nc\r\n", "a", "a\nx", false, "a\r\nx b\r\nc\r\n", 1);
        check("a", "a", "a\nb", false, "a\nb", 1);
        check("a\r\nb\r\n", "\nb", "-b", false, "a-b\r\n", 1);
        check("a\r\n\r\nb", "\n", "", true, "ab", 2);
        check("a\r\nb", "b", "\\n", false, "a\r\n\\n", 1);
        check("x\ny\r\nx\ny\r\n", "x\ny\n", "z\n", true, "z\nz\n", 2);
    }

    #[test]
    fn refusals() {
        for (text, old, new, expected) in [
            ("a", "", "b", Refusal::EmptyOld),
            ("a", "a", "a", Refusal::Identical),
            ("a", "a\r\nb", "a\nb", Refusal::Identical),
            ("a", "A", "b", Refusal::NotFound),
            ("a\nb a\n\na", "a", "b", Refusal::Ambiguous(vec![1, 2, 4])),
        ] {
            assert_eq!(replace(text, old, new, false).unwrap_err(), expected);
        }
    }
}

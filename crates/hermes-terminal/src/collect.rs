//! From bytes to what a model is shown: clean, without secrets, within the limit.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use crate::Cleaner;
use crate::store::{Store, split_chars};
use crate::window::{DEFAULT_LIMIT, Output, Parts, head_of, render};

/// How much more than what is shown is kept at each cut, in characters: a secret that reaches over
/// the cut is masked whole.
const MARGIN: usize = 8192;

/// Collects the output of a program: a [`Cleaner`] in front of a [`Window`](crate::Window), with
/// secrets masked in between.
///
/// Memory is bounded by the limit and a margin at each cut. Only what may be shown is looked at for
/// secrets, with the margin around it, and what was cut off at the edge of the margin is not shown.
///
/// ```
/// use hermes_terminal::Collector;
///
/// let mut collector = Collector::new(1000);
/// collector.push(b"pin=\x1b[1mabc\x1b[0m\n");
/// let output = collector.finish("", &|text| text.replace("pin=abc", "pin=***").into());
/// assert_eq!(output.text, "pin=***\n");
/// ```
#[derive(Clone, Debug)]
pub struct Collector {
    cleaner: Cleaner,
    store: Store,
    limit: usize,
    spill: Option<String>,
}

impl Collector {
    /// Of at most so many characters, the suffix included; 0 stands for [`DEFAULT_LIMIT`].
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let limit = if limit == 0 { DEFAULT_LIMIT } else { limit };
        let head = head_of(limit);
        let store = Store::new(head.saturating_add(MARGIN), (limit - head).saturating_add(MARGIN));
        Self { cleaner: Cleaner::default(), store, limit, spill: None }
    }

    /// Names the file that holds all of the output, for the note about what is left out.
    pub fn set_spill(&mut self, path: impl Into<String>) {
        self.spill = Some(path.into());
    }

    /// Adds output.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { cleaner, store, .. } = self;
        cleaner.push(bytes, &mut |text| store.push(text));
    }

    /// How many characters of clean text were received, without a line that isn't ended.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.store.total()
    }

    /// Whether the output is longer than the limit already.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.store.total() > self.limit as u64
    }

    /// The output with `suffix` at its end, as [`Window::finish`](crate::Window::finish) gives it.
    /// `redact` masks the secrets of a text.
    #[must_use]
    pub fn finish(mut self, suffix: &str, redact: &dyn Fn(&str) -> Cow<'_, str>) -> Output {
        let Self { cleaner, store, .. } = &mut self;
        cleaner.finish(&mut |text| store.push(text));
        let Self { store, limit, spill, .. } = self;
        let spill = spill.as_deref();
        let (total, is_whole) = (store.total(), store.is_whole());
        let (mut head, tail) = store.into_parts();
        if is_whole {
            head.push_str(&tail);
            let text = redact(&head);
            let total = text.chars().count() as u64;
            return render(
                &Parts { head: &text, tail: &text, total, is_whole },
                limit,
                suffix,
                spill,
            );
        }
        let (head, at) = masked(&head, head_edge(&head), redact);
        let head = head.split_at_checked(at).map_or("", |(head, _)| head);
        let (tail, at) = masked(&tail, tail_edge(&tail), redact);
        let tail = tail.split_at_checked(at).map_or("", |(_, tail)| tail);
        render(&Parts { head, tail, total, is_whole }, limit, suffix, spill)
    }
}

/// Up to where a head that goes on is sure to have no part of a secret: the end of its last line,
/// or the start of the margin.
fn head_edge(head: &str) -> usize {
    let chars = head.chars().count();
    let (safe, margin) = split_chars(head, chars, chars.saturating_sub(MARGIN));
    safe.len() + memrchr(b'\n', margin.as_bytes()).map_or(0, |at| at + 1)
}

/// From where on a tail that goes before is sure to have no part of a secret.
fn tail_edge(tail: &str) -> usize {
    let chars = tail.chars().count();
    let (margin, _) = split_chars(tail, chars, MARGIN.min(chars));
    memchr(b'\n', margin.as_bytes()).map_or(margin.len(), |at| at + 1)
}

/// A text without its secrets, and where the place `at` is in it; before a mask that covers it.
fn masked<'a>(
    text: &'a str,
    at: usize,
    redact: &dyn Fn(&str) -> Cow<'_, str>,
) -> (Cow<'a, str>, usize) {
    let whole = redact(text).into_owned();
    let before = text.split_at_checked(at).map_or(text, |(before, _)| before);
    let before = redact(before);
    let same = before.bytes().zip(whole.bytes()).take_while(|(a, b)| a == b).count();
    let same = whole.floor_char_boundary(same);
    (Cow::Owned(whole), same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    /// Masks runs of at least 20 `k` after `pin=`.
    fn redact(text: &str) -> Cow<'_, str> {
        let mut out = String::new();
        for (index, part) in text.split("pin=").enumerate() {
            let rest = part.trim_start_matches('k');
            let is_secret = index > 0 && part.len() - rest.len() >= 20;
            out.push_str(if index > 0 { "pin=" } else { "" });
            out.push_str(if is_secret { "***" } else { "" });
            out.push_str(if is_secret { rest } else { part });
        }
        out.into()
    }

    fn collected(limit: usize, text: &str, size: usize) -> Output {
        let mut collector = Collector::new(limit);
        for piece in text.as_bytes().chunks(size) {
            collector.push(piece);
        }
        collector.finish("", &redact)
    }

    #[test]
    fn nothing_of_a_secret_shows() {
        let secret = format!("pin={}", "k".repeat(60));
        for fill in (0..400).step_by(7) {
            for separator in ["", " ", "\n"] {
                let text = format!("{}{secret}{separator}", "x".repeat(fill)).repeat(200);
                let output = collected(300, &text, 1000);
                assert!(output.is_truncated && output.text.chars().count() <= 300);
                assert!(!output.text.contains("kk"), "{fill} {separator:?}: {}", output.text);
            }
        }
        // In memory as a whole, but not within the limit.
        let output = collected(300, &format!("{}{secret}", "x".repeat(280)), 9);
        assert_eq!(output.text, format!("{}pin=***", "x".repeat(280)));
    }

    #[test]
    fn sequences_are_never_cut() {
        for shift in 0..20 {
            let text = format!("{}{}", "x".repeat(shift), "\x1b[38;5;12mab\x1b[0m".repeat(5000));
            let output = collected(200, &text, 64);
            assert!(!output.text.contains(['\x1b', 'm']), "{}", output.text);
        }
    }

    #[test]
    fn pieces_do_not_matter() {
        let line = "\x1b[1mcompiling\x1b[0m é 日 10%\r100%\npin=kkkkkkkkkkkkkkkkkkkkkkkkkk\n";
        let text = line.repeat(3000);
        let whole = collected(500, &text, usize::MAX);
        for size in [1, 7, 1000, 4096] {
            assert_eq!(collected(500, &text, size), whole);
        }
    }

    #[test]
    fn endless_lines() {
        let output = collected(1000, &"y".repeat(1 << 20), 8192);
        assert_eq!(output.total, 1 << 20);
        assert!(output.text.starts_with("yyy") && output.text.ends_with("yyy"));
        assert_eq!((output.head + output.tail) as u64 + output.omitted, output.total);
    }
}

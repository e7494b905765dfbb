//! The head and the tail of output, with a note about what is missing between them.

use unicode_normalization::char::is_combining_mark;

use crate::store::{Store, split_chars};

/// The limit when none is set, in characters.
pub const DEFAULT_LIMIT: usize = 50_000;
/// Below this limit only the end is shown: there is no room for a note beside it.
const LEAST_WITH_NOTE: usize = 80;
/// How far a cut is moved to the end of a line, in characters at most; and of a part at most the
/// share.
const MOST_MOVED: usize = 200;
const MOVED_SHARE: usize = 8;
/// How far a cut is moved to not split what is one character for people.
const MOST_MARKS: usize = 32;

/// Output within its limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The text, with the suffix.
    pub text: String,
    /// Whether something was left out.
    pub is_truncated: bool,
    /// How many characters there were, without the suffix.
    pub total: u64,
    /// How many of them were left out.
    pub omitted: u64,
    /// How many characters of the head are in the text.
    pub head: usize,
    /// How many characters of the tail are in the text, without the suffix.
    pub tail: usize,
}

/// Collects text up to a limit: of longer text 40 % of the head and 60 % of the tail, in memory
/// bounded by the limit.
///
/// ```
/// use hermes_terminal::Window;
///
/// let mut window = Window::new(100);
/// for _ in 0..1000 {
///     window.push("0123456789");
/// }
/// let output = window.finish("\n[Command timed out after 5s]");
/// assert!(output.text.contains("of 10,000 characters left out"));
/// assert!(output.text.ends_with("9\n[Command timed out after 5s]"));
/// assert!(output.text.chars().count() <= 100);
/// ```
#[derive(Clone, Debug)]
pub struct Window {
    limit: usize,
    store: Store,
    spill: Option<String>,
}

impl Window {
    /// Of at most so many characters, the suffix included; 0 stands for [`DEFAULT_LIMIT`].
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        let limit = if limit == 0 { DEFAULT_LIMIT } else { limit };
        let head = if limit < LEAST_WITH_NOTE { 0 } else { head_of(limit) };
        Self { limit, store: Store::new(head, limit - head), spill: None }
    }

    /// Names the file that holds all of the output, for the note about what is left out.
    pub fn set_spill(&mut self, path: impl Into<String>) {
        self.spill = Some(path.into());
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) {
        self.store.push(text);
    }

    /// How many characters were received.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.store.total()
    }

    /// How many characters are held.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.store.held()
    }

    /// The text with `suffix` at its end, which is never shortened unless it is longer than the
    /// limit alone. A line feed that the suffix begins with is dropped when there is no other text.
    #[must_use]
    pub fn finish(self, suffix: &str) -> Output {
        let total = self.store.total();
        let is_whole = self.store.is_whole();
        let (mut head, mut tail) = self.store.into_parts();
        if is_whole {
            head.push_str(&tail);
            tail.clone_from(&head);
        }
        render(
            &Parts { head: &head, tail: &tail, total, is_whole },
            self.limit,
            suffix,
            self.spill.as_deref(),
        )
    }
}

/// The share of the head, in characters.
pub(crate) const fn head_of(limit: usize) -> usize {
    // Never overflows: first the tens, then the rest.
    limit / 5 * 2 + limit % 5 * 2 / 5
}

/// What is to be put together.
pub(crate) struct Parts<'a> {
    /// At least as much of the beginning as may be shown.
    pub(crate) head: &'a str,
    /// At least as much of the end as may be shown.
    pub(crate) tail: &'a str,
    pub(crate) total: u64,
    /// Whether each of both is all of the text.
    pub(crate) is_whole: bool,
}

pub(crate) fn render(parts: &Parts<'_>, limit: usize, suffix: &str, spill: Option<&str>) -> Output {
    let total = parts.total;
    let suffix = match suffix.strip_prefix('\n') {
        Some(rest) if total == 0 => rest,
        _ => suffix,
    };
    let suffix_chars = suffix.chars().count();
    let Some(room) = limit.checked_sub(suffix_chars) else {
        let text = split_chars(suffix, suffix_chars, suffix_chars - limit).1.to_owned();
        return Output { text, is_truncated: true, total, omitted: total, ..Output::default() };
    };
    if parts.is_whole && total <= room as u64 {
        let text = [parts.tail, suffix].concat();
        return Output { text, total, tail: room.min(total as usize), ..Output::default() };
    }
    // No omission is longer to tell than that of everything.
    let longest = note(total, total, spill).chars().count() + 2;
    let cut = |head: usize, tail: usize| {
        let (head, tail) = (head_part(parts.head, head), tail_part(parts.tail, tail));
        let (head_chars, tail_chars) = (head.chars().count(), tail.chars().count());
        let omitted = total.saturating_sub((head_chars + tail_chars) as u64);
        let output = Output {
            total,
            omitted,
            head: head_chars,
            tail: tail_chars,
            is_truncated: true,
            ..Output::default()
        };
        (head, tail, output)
    };
    // Half a note, or nothing but a note, tells less than the end of the output.
    if limit < LEAST_WITH_NOTE || longest > room / 3 * 2 {
        let (_, tail, output) = cut(0, room);
        return Output { text: [tail, suffix].concat(), ..output };
    }
    let shown = room - longest;
    let head_chars = head_of(shown);
    let (head, tail, output) = cut(head_chars, shown - head_chars);
    let line = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let note = note(output.omitted, total, spill);
    Output { text: [head, line, &note, "\n", tail, suffix].concat(), ..output }
}

fn note(omitted: u64, total: u64, spill: Option<&str>) -> String {
    let (omitted, total) = (grouped(omitted), grouped(total));
    match spill {
        None => format!("[… {omitted} of {total} characters left out …]"),
        Some(path) => {
            format!("[… {omitted} of {total} characters left out; all of it is in {path} …]")
        }
    }
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The first characters of a text, ending with a line where one ends nearby.
fn head_part(text: &str, chars: usize) -> &str {
    let at = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (part, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    if rest.is_empty() {
        return part;
    }
    let moved = (chars / MOVED_SHARE).min(MOST_MOVED);
    let line = part.char_indices().rev().take(moved).find(|(_, c)| *c == '\n');
    if let Some((at, _)) = line {
        return part.split_at_checked(at + 1).map_or(part, |(part, _)| part);
    }
    let mut part = part;
    let mut next = rest.chars().next();
    for _ in 0..MOST_MARKS {
        let before = part.chars().next_back();
        if !next.zip(before).is_some_and(|(next, before)| joins(before, next)) {
            break;
        }
        next = before;
        let mut chars = part.chars();
        chars.next_back();
        part = chars.as_str();
    }
    part
}

/// The last characters of a text, beginning with a line where one begins nearby.
fn tail_part(text: &str, chars: usize) -> &str {
    let Some(from_end) = chars.checked_sub(1) else { return "" };
    let at = text.char_indices().rev().nth(from_end).map_or(0, |(at, _)| at);
    let (rest, part) = text.split_at_checked(at).unwrap_or(("", text));
    if rest.is_empty() || rest.ends_with('\n') {
        return part;
    }
    let moved = (chars / MOVED_SHARE).min(MOST_MOVED);
    let line = part.char_indices().take(moved).find(|(_, c)| *c == '\n');
    if let Some((at, _)) = line {
        return part.split_at_checked(at + 1).map_or(part, |(_, part)| part);
    }
    let mut part = part;
    let mut before = rest.chars().next_back();
    for _ in 0..MOST_MARKS {
        let next = part.chars().next();
        if !before.zip(next).is_some_and(|(before, next)| joins(before, next)) {
            break;
        }
        before = next;
        let mut chars = part.chars();
        chars.next();
        part = chars.as_str();
    }
    part
}

/// Whether two characters are one for people: a letter and its marks, parts of an emoji.
fn joins(before: char, next: char) -> bool {
    const JOINER: char = '\u{200D}';
    before == JOINER
        || next == JOINER
        || matches!(next, '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}')
        || (next > '\u{2FF}' && is_combining_mark(next))
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;

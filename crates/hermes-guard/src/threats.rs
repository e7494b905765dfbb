//! Text that tries to give a model instructions.
//!
//! The patterns look at the words as a reader sees them: compatibility forms and look-alike
//! letters are folded, invisible characters are reported and then ignored. What they find is a
//! hint. It may be quoted in good faith, and a text without findings may still lie.

mod fold;
mod patterns;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use fold::{Fold, fold};
use patterns::PATTERNS;

/// How many characters are scanned at the beginning of a text, and as many at its end.
const SCANNED: usize = 65_536;
/// Joins emoji to one sign, such as those of a family.
const JOINER: char = '\u{200D}';

/// What the text is for. Each scope has the patterns of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Any text: what is never right.
    All,
    /// Text that goes into the context of a model.
    Context,
    /// Text that will be followed later: memories, skills.
    Strict,
}

impl Scope {
    /// The scope by its word: `all`, `context` or `strict`.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "all" => Some(Self::All),
            "context" => Some(Self::Context),
            "strict" => Some(Self::Strict),
            _ => None,
        }
    }
}

/// How a result is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskLevel {
    /// Something was found.
    High,
    /// Nothing was.
    Low,
}

impl RiskLevel {
    /// Its word: `high` or `low`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}

/// What was found in the result of a tool. It is advice: nothing is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk {
    /// How the result is to be looked at.
    pub level: RiskLevel,
    /// The ids of what was found, see [`scan`].
    pub findings: Vec<String>,
}

impl Risk {
    /// Scans the result of a tool.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let findings = scan(text, Scope::Context);
        let level = if findings.is_empty() { RiskLevel::Low } else { RiskLevel::High };
        Self { level, findings }
    }

    /// As JSON: the level, the findings, and that nothing was taken out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({"risk": self.level.as_str(), "findings": self.findings, "redacted": false})
    }
}

/// The ids of what the text does in `scope`: first the invisible characters, such as
/// `invisible_unicode_U+200B`, then the patterns, in a fixed order and each once. Of a text of
/// more than 131,072 characters the middle isn't looked at.
#[must_use]
pub fn scan(text: &str, scope: Scope) -> Vec<String> {
    let (head, tail) = windows(text);
    let mut invisible = BTreeSet::new();
    let mut matched = BTreeSet::new();
    for part in [Some(head), tail].into_iter().flatten() {
        find_invisible(part, &mut invisible);
        let plain = fold(part, Fold::Compatible);
        matched.extend(PATTERNS.matches(&plain));
        let folded = fold(part, Fold::LookAlikes);
        if folded != plain {
            matched.extend(PATTERNS.matches(&folded));
        }
    }
    let invisible =
        invisible.into_iter().map(|c| format!("invisible_unicode_U+{:04X}", u32::from(c)));
    let ids = matched.into_iter().filter_map(|at| patterns::id(at, scope));
    invisible.chain(ids.map(str::to_owned)).collect()
}

/// The beginning of a text and, if that isn't all, its end.
fn windows(text: &str) -> (&str, Option<&str>) {
    if text.len() <= 2 * SCANNED {
        return (text, None);
    }
    let head = text.char_indices().nth(SCANNED).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(SCANNED - 1).map_or(0, |(at, _)| at);
    if tail <= head {
        return (text, None);
    }
    (text.split_at(head).0, Some(text.split_at(tail).1))
}

/// Whether a character can't be seen or turns the direction of the text.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{2062}'..='\u{2064}' | '\u{FEFF}'
        | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    )
}

fn find_invisible(text: &str, found: &mut BTreeSet<char>) {
    if text.is_ascii() {
        return;
    }
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins_emoji = c == JOINER
            && before.is_some_and(is_emoji)
            && chars.peek().is_some_and(|next| is_emoji(*next));
        if is_invisible(c) && !joins_emoji {
            found.insert(c);
        }
        before = Some(c);
    }
}

/// Whether a character is an emoji or changes the one before it.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2190}'..='\u{21FF}'
        | '\u{2B00}'..='\u{2BFF}' | '\u{FE0F}' | '\u{20E3}'
    )
}

#[cfg(test)]
mod tests;

//! The rules in their order, and applying them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use super::{Mode, fields, glued, tokens, urls};

/// What replaces a match. It gets the text before the match too.
pub(super) type Replace = fn(&mut String, &Captures<'_>, &Match<'_>);

/// Where a match is.
pub(super) struct Match<'a> {
    pub(super) mode: Mode,
    /// The text before the match.
    pub(super) before: &'a str,
    /// Whether the match is part of a web address.
    pub(super) in_address: bool,
}

pub(super) struct Rule {
    /// What must be in a text for the rule to be tried.
    pub(super) hint: &'static str,
    pub(super) pattern: &'static str,
    /// Whether the rule is about the names of settings and fields.
    pub(super) by_name: bool,
    pub(super) egress_only: bool,
    pub(super) replace: Replace,
}

impl Rule {
    pub(super) const DEFAULT: Self = Self {
        hint: "",
        pattern: "",
        by_name: false,
        egress_only: false,
        replace: |out, found, _| out.push_str(&found[0]),
    };

    fn applies(&self, mode: Mode) -> bool {
        (!self.by_name || mode.names_count()) && (!self.egress_only || mode == Mode::Egress)
    }
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    let groups: [&[Rule]; 5] =
        [&tokens::RULES, &glued::RULES, &fields::RULES, &tokens::LATER_RULES, &urls::RULES];
    groups.into_iter().flatten()
}

struct Compiled {
    hints: RegexSet,
    rules: Vec<(&'static Rule, Regex)>,
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and every test compiles them")]
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| Compiled {
    hints: RegexSet::new(rules().map(|rule| rule.hint)).expect("hints compile"),
    rules: rules()
        .map(|rule| (rule, Regex::new(rule.pattern).expect("patterns compile")))
        .collect(),
});

pub(super) fn apply(text: &str, mode: Mode) -> Cow<'_, str> {
    let Compiled { hints, rules } = &*COMPILED;
    let hints = hints.matches(text);
    let mut text = Cow::Borrowed(text);
    for (at, (rule, pattern)) in rules.iter().enumerate() {
        if hints.matched(at)
            && rule.applies(mode)
            && let Some(changed) = replaced(&text, rule, pattern, mode)
        {
            text = Cow::Owned(changed);
        }
    }
    if let Some(changed) = urls::form(&text, mode) {
        text = Cow::Owned(changed);
    }
    text
}

/// Whether a rule on the looks of tokens finds something.
pub(super) fn holds_token(text: &str) -> bool {
    let Compiled { hints, rules } = &*COMPILED;
    let hints = hints.matches(text);
    let rules = rules.iter().take(tokens::RULES.len() + glued::RULES.len()).enumerate();
    let mut hinted = rules.filter(|(at, _)| hints.matched(*at));
    hinted.any(|(_, (rule, pattern))| replaced(text, rule, pattern, Mode::FileRead).is_some())
}

/// The text with every match replaced; none if nothing changes.
fn replaced(text: &str, rule: &Rule, pattern: &Regex, mode: Mode) -> Option<String> {
    let mut out = String::new();
    let mut end = 0;
    let mut address = Address::default();
    for found in pattern.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let (before, _) = text.split_at(whole.start());
        let (_, between) = before.split_at(end);
        out.push_str(between);
        let in_address = address.reaches(before);
        (rule.replace)(&mut out, &found, &Match { mode, before, in_address });
        end = whole.end();
    }
    let (_, rest) = text.split_at(end);
    out.push_str(rest);
    (end > 0 && out != text).then_some(out)
}

/// Finds out whether a place is within a web address, looking at each character once.
#[derive(Default)]
struct Address {
    seen: usize,
    /// Whether the word so far is the beginning of one; none if that isn't known yet.
    is_web: Option<bool>,
}

impl Address {
    /// Whether the word that `before` ends in is an address of the web with a query so far.
    fn reaches(&mut self, before: &str) -> bool {
        let (_, new) = before.split_at(self.seen.min(before.len()));
        let word =
            match new.rfind(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>')) {
                Some(at) => {
                    self.is_web = None;
                    new.split_at(at).1
                }
                None => new,
            };
        if self.is_web.is_none() {
            self.is_web = match word.split_once("://") {
                Some((scheme, _)) => Some(!urls::is_database(scheme)),
                None => word.contains('?').then_some(true),
            };
        }
        self.seen = before.len();
        self.is_web == Some(true)
    }
}

/// How many bytes at the beginning of a growing text can be masked and passed on: whole lines,
/// and nothing of a private key whose end is still to come. What is passed on bit by bit this way
/// is masked as the whole would be, but for values that go over several lines.
#[must_use]
pub fn flushable(text: &str) -> usize {
    let lines = text.rfind('\n').map_or(0, |at| at + 1);
    let (whole, _) = text.split_at(lines);
    match whole.rfind("-----BEGIN ") {
        Some(begin) if !whole.split_at(begin).1.contains("-----END ") => begin,
        _ => lines,
    }
}

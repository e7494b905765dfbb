//! What is known of words and of the text that flows between programs.
//!
//! A text may have holes: parts that can't be known stand in it as one character of the private
//! use area. Other such characters tell a quoted `*` from one that matches files.

use std::ops::{BitAnd, BitOr, BitOrAssign};
use std::rc::Rc;

/// A part that can't be known.
pub(crate) const HOLE: char = '\u{F8FF}';
/// The part of a name that `mktemp` makes up.
pub(crate) const FRESH: char = '\u{F8F7}';
/// A quoted `*`, `?` and `[`.
const QUOTED: [(char, char); 3] = [('*', '\u{F8F0}'), ('?', '\u{F8F1}'), ('[', '\u{F8F2}')];
/// `{`, `,` and `}` that may be a list.
pub(crate) const BRACES: [(char, char); 3] =
    [('{', '\u{F8F3}'), (',', '\u{F8F4}'), ('}', '\u{F8F5}')];
/// Where an unquoted value is split.
pub(crate) const SPLIT: char = '\u{F8F6}';

/// Whether a character of the text would be taken for one of ours.
pub(crate) const fn is_private(c: char) -> bool {
    matches!(c, '\u{F8F0}'..='\u{F8F6}')
}

/// A character that was quoted.
pub(crate) fn quoted(c: char) -> char {
    if is_private(c) {
        return '\u{FFFD}';
    }
    QUOTED.iter().find(|(plain, _)| *plain == c).map_or(c, |(_, quoted)| *quoted)
}

/// A text as it was before quotes were marked; holes stay.
pub(crate) fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let plain = |c: char| {
        let marked = QUOTED.iter().chain(&BRACES).find(|(_, marked)| *marked == c);
        marked.map_or(c, |(plain, _)| *plain)
    };
    text.chars().map(plain).collect()
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint(u16);

impl Taint {
    pub(crate) const NONE: Self = Self(0);
    /// The network.
    pub(crate) const FETCHED: Self = Self(1);
    /// A program that decodes.
    pub(crate) const DECODED: Self = Self(2);
    /// A file with secrets.
    pub(crate) const SECRET: Self = Self(4);
    /// A list of all variables.
    pub(crate) const ENVIRONMENT: Self = Self(8);
    /// Process ids, by a pattern.
    pub(crate) const PROCESSES: Self = Self(16);
    /// Something that names the agent.
    pub(crate) const AGENT: Self = Self(32);
    /// The paths of everything in a protected folder.
    pub(crate) const EVERYTHING: Self = Self(64);

    /// A pipe with a name.
    pub(crate) const FIFO: Self = Self(128);
    /// What a shell prints that is told what to do while it runs.
    pub(crate) const SHELL: Self = Self(256);

    /// What a person types.
    pub(crate) const TERMINAL: Self = Self(512);

    /// The key of a service, by the name of a variable.
    pub(crate) const KEY: Self = Self(1024);

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Taint {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Taint {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOrAssign for Taint {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Longest text that is kept, in bytes.
const MOST: usize = 64 * 1024;

/// Text that flows: what a program prints, what a variable holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) text: String,
    pub(crate) taint: Taint,
    /// The program whose file it is a copy of.
    pub(crate) program: Option<Rc<str>>,
}

impl Flow {
    pub(crate) fn unknown() -> Self {
        Self::tainted(Taint::NONE)
    }

    pub(crate) fn tainted(taint: Taint) -> Self {
        Self { text: HOLE.to_string(), taint, program: None }
    }

    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), taint: Taint::NONE, program: None }
    }

    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(HOLE)
    }

    /// Another text after this one.
    pub(crate) fn push(&mut self, other: &Self) {
        self.taint |= other.taint;
        self.program = if self.text.is_empty() { other.program.clone() } else { None };
        if self.text.len() + other.text.len() > MOST {
            if !self.text.ends_with(HOLE) {
                self.text.push(HOLE);
            }
        } else if !(self.text.ends_with(HOLE)
            && other.text.starts_with(HOLE)
            && other.text.len() == 3)
        {
            self.text.push_str(&other.text);
        }
    }
}

/// One argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arg {
    /// With marks for holes and quoted patterns.
    pub(crate) marked: String,
    pub(crate) taint: Taint,
    /// Whether a part of it was quoted.
    pub(crate) is_quoted: bool,
    /// What a process substitution prints, which this names as a file.
    pub(crate) file: Option<Box<Flow>>,
}

impl Arg {
    pub(crate) fn new(text: &str) -> Self {
        Self { marked: text.to_owned(), ..Self::default() }
    }

    pub(crate) fn unknown(taint: Taint) -> Self {
        Self { marked: HOLE.to_string(), taint, ..Self::default() }
    }

    /// The text; holes stay in it.
    pub(crate) fn text(&self) -> String {
        plain(&self.marked)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.marked.is_ascii() || !self.marked.contains(HOLE)
    }

    /// The text without holes.
    pub(crate) fn filled(&self) -> String {
        if self.marked.is_ascii() {
            return self.marked.clone();
        }
        plain(&self.marked).chars().filter(|c| *c != HOLE).collect()
    }

    /// For people.
    pub(crate) fn shown(&self) -> String {
        if self.marked.is_ascii() {
            return self.marked.clone();
        }
        plain(&self.marked).replace(HOLE, "$?").replace(FRESH, "XXXXXX")
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.marked == text
    }

    pub(crate) fn starts_with(&self, text: &str) -> bool {
        self.marked.starts_with(text)
    }

    pub(crate) fn is_option(&self) -> bool {
        self.marked.len() > 1 && self.marked.starts_with('-')
    }

    pub(crate) fn flow(&self) -> Flow {
        Flow { text: self.text(), taint: self.taint, program: None }
    }

    /// The same argument with another text.
    pub(crate) fn with(&self, marked: &str) -> Self {
        Self { marked: marked.to_owned(), taint: self.taint, is_quoted: self.is_quoted, file: None }
    }
}

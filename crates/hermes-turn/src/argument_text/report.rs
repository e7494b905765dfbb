//! What was mended, and what couldn't be.

use std::fmt;

/// A sort of fault that was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repair {
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// Brackets were added at the end: the text is cut off.
    ClosersAdded,
    /// Brackets that close nothing were dropped at the end.
    SurplusClosers,
    /// Single quotes stood for double ones.
    Quotes,
    /// `True`, `False` or `None` stood for `true`, `false` or `null`.
    Literals,
    /// Line ends, tabs or other control characters stood unescaped in a string.
    ControlCharacters,
    /// A backslash that begins no escape of JSON was taken as a backslash.
    Escapes,
    /// Half a surrogate pair became U+FFFD.
    LoneSurrogates,
    /// A code fence around the arguments was dropped.
    CodeFence,
    /// The object was a string that held the JSON text of the object.
    DoubleEncoded,
}

impl Repair {
    const ALL: [Self; 10] = [
        Self::TrailingComma,
        Self::ClosersAdded,
        Self::SurplusClosers,
        Self::Quotes,
        Self::Literals,
        Self::ControlCharacters,
        Self::Escapes,
        Self::LoneSurrogates,
        Self::CodeFence,
        Self::DoubleEncoded,
    ];

    /// The name in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TrailingComma => "trailing_comma",
            Self::ClosersAdded => "closers_added",
            Self::SurplusClosers => "surplus_closers",
            Self::Quotes => "quotes",
            Self::Literals => "literals",
            Self::ControlCharacters => "control_characters",
            Self::Escapes => "escapes",
            Self::LoneSurrogates => "lone_surrogates",
            Self::CodeFence => "code_fence",
            Self::DoubleEncoded => "double_encoded",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The sorts of repairs that one text needed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RepairReport {
    made: u16,
    cut: bool,
}

impl RepairReport {
    /// Whether the text was JSON as it stood.
    #[must_use]
    pub const fn is_clean(self) -> bool {
        self.made == 0 && !self.cut
    }

    /// Whether the end of the text is missing. The value is then a part of what was meant and must
    /// not be run.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        self.cut
    }

    /// Whether a repair of this sort was made.
    #[must_use]
    pub const fn contains(self, repair: Repair) -> bool {
        self.made & repair.bit() != 0
    }

    /// The sorts of repairs made, each once.
    pub fn repairs(self) -> impl Iterator<Item = Repair> {
        Repair::ALL.into_iter().filter(move |repair| self.contains(*repair))
    }

    pub(super) fn note(&mut self, repair: Repair) {
        self.made |= repair.bit();
    }

    pub(super) fn note_cut(&mut self) {
        self.cut = true;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.made |= other.made;
        self.cut |= other.cut;
    }
}

/// The names of the repairs, with commas between them.
impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, repair) in self.repairs().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            f.write_str(repair.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RepairReport({self}{})", if self.cut { "; cut" } else { "" })
    }
}

/// Where a text that was cut off ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ended {
    /// Inside a string.
    InString,
    /// Inside a number or a word such as `true`.
    InLiteral,
    /// Where a value has yet to come: after an opening bracket, a key or a colon.
    BeforeValue,
    /// After a value, before the brackets around it were closed.
    InContainer,
    /// After the value, before the code fence around it was closed.
    InFence,
    /// Somewhere in a text that is no JSON and doesn't end with a closing bracket.
    Unclear,
}

impl Ended {
    /// In words, e.g. `inside a string`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InString => "inside a string",
            Self::InLiteral => "inside a number or literal",
            Self::BeforeValue => "before a value",
            Self::InContainer => "before all brackets were closed",
            Self::InFence => "before the code fence was closed",
            Self::Unclear => "without a closing bracket",
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a text is no JSON, and where. Displays as `REASON at line L column C`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// A few words, e.g. `a comma where a value should be`.
    pub reason: &'static str,
    /// The line of the fault, counted from 1.
    pub line: usize,
    /// The character in that line, counted from 1.
    pub column: usize,
}

impl Fault {
    /// A fault at byte `at` of `text`.
    pub(super) fn new(reason: &'static str, text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        Self {
            reason,
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: in_line.chars().count() + 1,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.reason, self.line, self.column)
    }
}

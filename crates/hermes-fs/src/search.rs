//! Searching: what is looked for, and what is found.

mod pattern;
pub(crate) mod rows;
pub(crate) mod tally;

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use hermes_guard::paths::Places;
use ignore::overrides::{Override, OverrideBuilder};

pub use pattern::{BadPattern, Pattern};

/// The most files of one search; what a search keeps in memory grows with it.
pub(crate) const MAX_FILES: usize = 500_000;

/// What counts as a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Matching lines.
    Lines,
    /// Files with a matching line.
    Files,
}

/// What of a line is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, or a part of it.
    pub text: String,
    /// Where the match begins, in characters from 1 on, if the text is a part of the line.
    pub column: Option<usize>,
}

/// Shows a line without its end; the number is where in it the match begins, in bytes.
pub type Show = fn(&[u8], usize) -> Excerpt;

/// A search for lines.
pub struct ContentQuery<'a> {
    /// The folder or file to search. It is searched even if it is hidden or ignored.
    pub root: &'a Path,
    /// What the lines have to be like.
    pub pattern: &'a Pattern,
    /// Restricts the files.
    pub glob: Option<&'a Glob>,
    /// How many lines are shown before and after each match.
    pub context: usize,
    /// What is counted.
    pub unit: Unit,
    /// How many results are counted before the search stops.
    pub cap: u64,
    /// Files that these say to be secret are searched, but only counted.
    pub places: &'a Places,
    /// How lines are shown.
    pub show: Show,
    /// When the search stops.
    pub deadline: Instant,
}

/// A search for files.
pub struct FileQuery<'a> {
    /// The folder to search, or a file. It is searched even if it is hidden or ignored.
    pub root: &'a Path,
    /// Restricts the files.
    pub glob: Option<&'a Glob>,
    /// When the search stops.
    pub deadline: Instant,
}

/// Why not everything was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There was more than is counted.
    Cap,
    /// The time ran out.
    Time,
}

impl Limit {
    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cap => "scan_cap",
            Self::Time => "search_timeout",
        }
    }
}

/// The files with matching lines, by path.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The files.
    pub hits: Vec<Hit>,
    /// How many files were searched, where that is known.
    pub searched: Option<usize>,
    /// How many files and folders couldn't be read.
    pub unreadable: usize,
    /// The first of the files among them, with the reason.
    pub skipped: Vec<(PathBuf, String)>,
    /// Matching lines in files whose content isn't shown.
    pub omitted: u64,
    /// Why not everything was searched.
    pub limit: Option<Limit>,
    /// What the user should know about how it was searched.
    pub warning: Option<String>,
}

impl Scan {
    /// How many matching lines there are.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.hits.iter().map(|hit| hit.count).sum()
    }
}

/// A file with matching lines.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Where it is.
    pub path: PathBuf,
    /// How many matching lines it has.
    pub count: u64,
    /// The lines, where they came along.
    pub(crate) rows: Option<Vec<Row>>,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub line: u64,
    /// The last line of the match.
    pub end_line: u64,
    /// The first matching line, or where it is long what is around the match.
    pub text: String,
    /// Where the match begins, in characters from 1 on, if the text is a part of the line.
    pub column: Option<usize>,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
}

impl Row {
    /// How many characters its lines have.
    #[must_use]
    pub fn chars(&self) -> usize {
        let around = self.before.iter().chain(&self.after);
        around.chain([&self.text]).map(|line| line.chars().count()).sum()
    }

    /// Leaves out lines around the match, the farthest first, until no more than `max` characters
    /// are left.
    pub fn shrink(&mut self, max: usize) {
        let mut chars = self.chars();
        while chars > max {
            let far = if self.before.len() > self.after.len() {
                self.before.remove(0)
            } else if let Some(far) = self.after.pop() {
                far
            } else {
                return;
            };
            chars -= far.chars().count();
        }
    }
}

/// What a search for files came upon.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Regular files in no order.
    pub entries: Vec<Found>,
    /// Folders and files that couldn't be looked at.
    pub unreadable: usize,
    /// Why not everything was searched.
    pub limit: Option<Limit>,
    /// What the user should know about how it was searched.
    pub warning: Option<String>,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// When its content was last changed, where that is known yet.
    pub modified: Option<SystemTime>,
}

/// Restricts a search to some files: as `--glob` of ripgrep.
#[derive(Clone, Debug)]
pub struct Glob {
    pub(crate) text: String,
    pub(crate) rule: Override,
}

impl Glob {
    /// Reads a glob; one with a slash in it is relative to `root`. With `!` in front it is about
    /// all other files.
    ///
    /// # Errors
    /// It isn't a valid glob; the text says why.
    pub fn new(root: &Path, text: &str) -> Result<Self, String> {
        let mut builder = OverrideBuilder::new(root);
        let rule = builder.add(text).and_then(|builder| builder.build());
        let rule = rule.map_err(|err| err.to_string())?;
        Ok(Self { text: text.to_owned(), rule })
    }
}

//! Reading a patch.

use super::{Problem, ProblemKind};

/// A patch that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch<'a> {
    /// In the order in which they apply.
    pub sections: Vec<Section<'a>>,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// The line of its header in the patch, from 1 on.
    pub line: usize,
    /// What it does.
    pub action: Action<'a>,
}

/// What is done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// A new file.
    Add {
        /// Where.
        path: &'a str,
        /// What is in it.
        content: String,
    },
    /// Changes of a file's text.
    Update {
        /// Which file.
        path: &'a str,
        /// Its new path, if it gets one.
        to: Option<&'a str>,
        /// The changes.
        hunks: Vec<Hunk<'a>>,
    },
    /// A file goes.
    Delete {
        /// Which file.
        path: &'a str,
    },
    /// A file gets another path.
    Move {
        /// Its path.
        from: &'a str,
        /// Its new path.
        to: &'a str,
    },
}

impl<'a> Section<'a> {
    /// The path in its header.
    pub const fn path(&self) -> &'a str {
        match self.action {
            Action::Add { path, .. } | Action::Update { path, .. } | Action::Delete { path } => {
                path
            }
            Action::Move { from, .. } => from,
        }
    }

    /// Where the file goes, if it gets another path.
    pub const fn destination(&self) -> Option<&'a str> {
        match self.action {
            Action::Update { to, .. } => to,
            Action::Move { to, .. } => Some(to),
            Action::Add { .. } | Action::Delete { .. } => None,
        }
    }
}

/// A change at one place of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// The line in the patch where it begins, from 1 on.
    pub line: usize,
    /// Lines that stand before the place, outermost first.
    pub hints: Vec<&'a str>,
    /// The lines at the place and those that come and go.
    pub lines: Vec<HunkLine<'a>>,
    /// The place is at the end of the file.
    pub at_end: bool,
}

/// A line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkLine<'a> {
    /// It is there and stays.
    Context(&'a str),
    /// It is there and goes.
    Removed(&'a str),
    /// It comes.
    Added(&'a str),
}

impl Hunk<'_> {
    /// Whether it changes anything.
    pub(super) fn is_change(&self) -> bool {
        self.lines.iter().any(|line| !matches!(line, HunkLine::Context(_)))
    }
}

/// A line that isn't content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker<'a> {
    Begin,
    End,
    EndOfFile,
    Add(&'a str),
    Update(&'a str),
    Delete(&'a str),
    Move(&'a str),
    MoveTo(&'a str),
    /// A header of a file with a word that isn't known.
    Unknown,
}

/// Makes a marker of the path behind it.
type WithPath<'a> = fn(&'a str) -> Marker<'a>;

impl<'a> Marker<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("***")?.trim();
        match rest {
            "Begin Patch" => return Some(Self::Begin),
            "End Patch" => return Some(Self::End),
            "End of File" => return Some(Self::EndOfFile),
            _ => {}
        }
        let known: [(&str, WithPath<'a>); 5] = [
            ("Add File:", Self::Add),
            ("Update File:", Self::Update),
            ("Delete File:", Self::Delete),
            ("Move File:", Self::Move),
            ("Move to:", Self::MoveTo),
        ];
        for (name, marker) in known {
            if let Some(path) = rest.strip_prefix(name) {
                return Some(marker(path.trim()));
            }
        }
        let (word, _) = rest.split_once(" File:")?;
        let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_word.then_some(Self::Unknown)
    }

    const fn is_header(self) -> bool {
        !matches!(self, Self::Begin | Self::End | Self::EndOfFile | Self::MoveTo(_))
    }
}

/// Reads a patch.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(text: &str) -> Result<Patch<'_>, Vec<Problem>> {
    let lines = lines(text);
    let begin = lines.iter().position(|line| Marker::of(line) == Some(Marker::Begin));
    let header = lines.iter().position(|line| Marker::of(line).is_some_and(Marker::is_header));
    let Some(start) = begin.map(|begin| begin + 1).or(header) else {
        return Err(vec![Problem {
            kind: ProblemKind::ParseError,
            line: 1,
            message: "this is no patch: there is no `*** Begin Patch` and no `*** Update File: \
                      PATH`, `*** Add File: PATH`, `*** Delete File: PATH` or `*** Move File: \
                      FROM -> TO` at the start of a line"
                .to_owned(),
        }]);
    };
    let mut parser = Parser::default();
    for (index, line) in lines.iter().enumerate().skip(start) {
        if Marker::of(line) == Some(Marker::End) {
            break;
        }
        parser.line(index + 1, line);
    }
    parser.finish_section();
    if parser.problems.is_empty() { Ok(parser.patch) } else { Err(parser.problems) }
}

/// The lines of a patch, without the CR before each line feed if all of them have it.
fn lines(text: &str) -> Vec<&str> {
    let (ended, last) = text.rsplit_once('\n').map_or(("", text), |(a, b)| (a, b));
    let filled = || ended.split('\n').filter(|line| !line.is_empty());
    let strip = filled().next().is_some() && filled().all(|line| line.ends_with('\r'));
    let lines = ended.split('\n').filter(|_| text.contains('\n'));
    let lines = lines.chain((!last.is_empty()).then_some(last));
    lines.map(|line| line.strip_suffix('\r').filter(|_| strip).unwrap_or(line)).collect()
}

#[derive(Default)]
struct Parser<'a> {
    patch: Patch<'a>,
    problems: Vec<Problem>,
    /// The section that is being read.
    section: Option<Section<'a>>,
    /// The hunk that is being read.
    hunk: Option<Hunk<'a>>,
    /// How many empty lines were read that are content only if more of it follows.
    blanks: usize,
}

impl<'a> Parser<'a> {
    fn problem(&mut self, kind: ProblemKind, line: usize, message: impl Into<String>) {
        self.problems.push(Problem { kind, line, message: message.into() });
    }

    fn wrong(&mut self, line: usize, message: impl Into<String>) {
        self.problem(ProblemKind::ParseError, line, message);
    }

    fn line(&mut self, number: usize, line: &'a str) {
        match Marker::of(line) {
            Some(Marker::Begin | Marker::End) => {}
            Some(Marker::EndOfFile) => {
                if let Some(hunk) = &mut self.hunk {
                    hunk.at_end = true;
                }
                self.finish_hunk();
            }
            Some(Marker::MoveTo(to)) => self.move_to(number, to),
            Some(Marker::Unknown) => {
                self.finish_section();
                self.wrong(
                    number,
                    format!("`{}` isn't known: use Update, Add, Delete or Move", line.trim()),
                );
                self.skip(number);
            }
            Some(marker) => self.header(number, marker),
            None => self.content(number, line),
        }
    }

    fn header(&mut self, number: usize, marker: Marker<'a>) {
        self.finish_section();
        let action = match marker {
            Marker::Add(path) => Action::Add { path, content: String::new() },
            Marker::Delete(path) => Action::Delete { path },
            Marker::Move(paths) => match paths.split_once(" -> ") {
                Some((from, to)) => Action::Move { from: from.trim(), to: to.trim() },
                None => {
                    self.wrong(number, "a move is written `*** Move File: FROM -> TO`");
                    return self.skip(number);
                }
            },
            Marker::Update(path) => Action::Update { path, to: None, hunks: Vec::new() },
            _ => return,
        };
        let section = Section { line: number, action };
        self.check_path(number, section.path());
        if let Action::Move { to, .. } = section.action {
            self.check_path(number, to);
        }
        self.section = Some(section);
    }

    /// Reads over what follows a header that was already found wrong.
    fn skip(&mut self, number: usize) {
        let action = Action::Update { path: "", to: None, hunks: Vec::new() };
        self.section = Some(Section { line: number, action });
    }

    fn check_path(&mut self, number: usize, path: &str) {
        if path.is_empty() {
            self.wrong(number, "the path is missing");
        }
        if path.split(['/', '\\']).any(|part| part == "..") {
            self.problem(
                ProblemKind::Traversal,
                number,
                format!("`{path}` goes up with `..`: give the path itself"),
            );
        }
    }

    fn move_to(&mut self, number: usize, path: &'a str) {
        self.check_path(number, path);
        let begun = self.hunk.as_ref().is_some_and(|hunk| !hunk.lines.is_empty());
        match &mut self.section {
            Some(Section { action: Action::Update { to: to @ None, hunks, .. }, .. })
                if hunks.is_empty() && !begun =>
            {
                *to = Some(path);
            }
            _ => self.wrong(number, "`*** Move to:` stands right after `*** Update File:`"),
        }
    }

    fn content(&mut self, number: usize, line: &'a str) {
        match &mut self.section {
            Some(Section { action: Action::Update { .. }, .. }) => self.hunk_line(number, line),
            Some(Section { action: Action::Add { content, .. }, .. }) => {
                if let Some(text) = line.strip_prefix('+') {
                    content.extend(std::iter::repeat_n('\n', self.blanks));
                    self.blanks = 0;
                    content.push_str(text);
                    content.push('\n');
                } else if line.starts_with(NO_NEWLINE) {
                    content.truncate(content.strip_suffix('\n').map_or(content.len(), str::len));
                } else if line.trim().is_empty() {
                    self.blanks += 1;
                } else {
                    self.wrong(number, "each line of an added file begins with `+`");
                }
            }
            Some(Section { action: Action::Delete { .. } | Action::Move { .. }, .. }) | None
                if line.trim().is_empty() => {}
            Some(_) => self.wrong(number, "nothing belongs under this header"),
            None => self.wrong(number, "this is part of no file: a header is missing before it"),
        }
    }

    fn hunk_line(&mut self, number: usize, line: &'a str) {
        if line.starts_with(NO_NEWLINE) {
            return;
        }
        if line.is_empty() {
            self.blanks += 1;
            return;
        }
        if let Some(rest) = line.strip_prefix("@@") {
            // Hints in a row lead from the outside in.
            let hints = self.finish_hunk().unwrap_or_default();
            let hints = hints.into_iter().chain(hint(rest)).collect();
            self.hunk = Some(Hunk { line: number, hints, ..Hunk::default() });
            return;
        }
        let line = match line.split_at_checked(1) {
            Some(("+", text)) => HunkLine::Added(text),
            Some(("-", text)) => HunkLine::Removed(text),
            Some((" ", text)) => HunkLine::Context(text),
            _ => HunkLine::Context(line),
        };
        let hunk = self.hunk.get_or_insert_with(|| Hunk { line: number, ..Hunk::default() });
        hunk.lines.extend(std::iter::repeat_n(HunkLine::Context(""), self.blanks));
        self.blanks = 0;
        hunk.lines.push(line);
    }

    /// Ends the hunk. Gives back the hints of one without lines.
    fn finish_hunk(&mut self) -> Option<Vec<&'a str>> {
        self.blanks = 0;
        let hunk = self.hunk.take()?;
        if hunk.lines.is_empty() {
            return Some(hunk.hints);
        }
        if let Some(Section { action: Action::Update { hunks, .. }, .. }) = &mut self.section {
            hunks.push(hunk);
        }
        None
    }

    fn finish_section(&mut self) {
        self.finish_hunk();
        let Some(section) = self.section.take() else { return };
        if let Action::Update { path, to: None, hunks } = &section.action
            && hunks.is_empty()
            && !path.is_empty()
        {
            self.wrong(
                section.line,
                "the section has no change: lines with `-` and `+`, and some around them, belong \
                 under it",
            );
        }
        self.patch.sections.push(section);
    }
}

/// The hint behind the `@@` that starts a hunk. Line numbers aren't one.
fn hint(rest: &str) -> Option<&str> {
    let rest = rest.trim();
    let numbers = |part: &str, sign: char| {
        part.strip_prefix(sign).is_some_and(|numbers| {
            numbers.starts_with(|c: char| c.is_ascii_digit())
                && numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
        })
    };
    let mut parts = rest.splitn(3, ' ');
    let hint = match (parts.next(), parts.next(), parts.next()) {
        (Some(old), Some(new), end) if numbers(old, '-') && numbers(new, '+') => {
            end.unwrap_or_default().trim().strip_prefix("@@").unwrap_or_default()
        }
        _ => rest.strip_suffix("@@").unwrap_or(rest),
    };
    Some(hint.trim()).filter(|hint| !hint.is_empty())
}

const NO_NEWLINE: &str = "\\ No newline at end of file";

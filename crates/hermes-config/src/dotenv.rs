//! `.env`: reading it, and setting one variable while every other line stays as it is.
//!
//! One assignment is `NAME=value`, with an optional `export` before it. An unquoted value runs to
//! the end of the line or to a `#` after a blank. `'…'` is taken as it is; `"…"` knows the escapes
//! `\n \r \t \" \' \\ \$`; both may span lines. There is no `$NAME` expansion: these are secrets,
//! and a password may hold a `$`. Of several assignments to one name the last one counts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::ConfigError;
use crate::replace::{lock, read_text};

/// What a `.env` file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DotEnv {
    /// The variables by name.
    pub variables: BTreeMap<String, String>,
    /// The lines that could not be read; all others were.
    pub problems: Vec<Problem>,
}

/// A line of a `.env` file that is no assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line's number, from 1.
    pub line: usize,
    /// What is wrong with it. Holds nothing of the line itself, which may be a secret.
    pub message: &'static str,
}

/// Reads the text of a `.env` file.
#[must_use]
pub fn parse(text: &str) -> DotEnv {
    let mut result = DotEnv::default();
    for item in Entries::new(text) {
        match item {
            Ok(entry) => {
                result.variables.insert(entry.name.to_owned(), entry.value);
            }
            Err(problem) => result.problems.push(problem),
        }
    }
    result
}

/// Reads a `.env` file; a file that does not exist holds nothing.
///
/// # Errors
///
/// A file that cannot be read as text. A broken line is no error but one of the problems.
pub fn read(path: &Path) -> Result<DotEnv, ConfigError> {
    Ok(read_text(path)?.as_deref().map(parse).unwrap_or_default())
}

/// Sets a variable in a `.env` file, or removes it (`None`), and keeps all other lines. The file
/// is replaced as a whole, under a lock, readable by the owner only. Says whether it was changed.
///
/// # Errors
///
/// A name or value that `.env` cannot hold, or a file that cannot be read or written.
pub fn set(path: &Path, name: &str, value: Option<&str>) -> Result<bool, ConfigError> {
    let file = lock(path)?;
    let old = file.read()?.unwrap_or_default();
    let new = with_variable(&old, name, value)?;
    if new == old {
        return Ok(false);
    }
    file.replace(&new, true)?;
    Ok(true)
}

/// The text with a variable set or, with `None`, without it.
///
/// The last assignment is changed where it stands, earlier ones of the same name go; a new
/// variable comes last.
///
/// # Errors
///
/// A name that is no variable name; a value with a NUL character.
pub fn with_variable(text: &str, name: &str, value: Option<&str>) -> Result<String, ConfigError> {
    let refuse = |reason| Err(ConfigError::Variable { name: name.to_owned(), reason });
    if name_length(name) != name.len() || name.is_empty() {
        return refuse("use letters, digits and `_`, not starting with a digit");
    }
    if value.is_some_and(|value| value.contains('\0')) {
        return refuse("a value cannot hold a NUL character");
    }
    let mut assignments: Vec<Entry<'_>> =
        Entries::new(text).filter_map(Result::ok).filter(|entry| entry.name == name).collect();
    let last = assignments.last();
    if last.map(|entry| entry.value.as_str()) == value && assignments.len() <= 1 {
        return Ok(text.to_owned());
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = String::with_capacity(text.len() + 64);
    let mut done = 0;
    let kept = |new: &mut String, range: Range<usize>| {
        new.push_str(text.get(range).unwrap_or_default());
    };
    let last = if value.is_some() { assignments.pop() } else { None };
    for entry in &assignments {
        kept(&mut new, done..entry.lines.start);
        done = entry.lines.end;
    }
    match (last, value) {
        (Some(entry), Some(value)) => {
            // What stands before and after the value stays: `export`, blanks, a comment.
            kept(&mut new, done..entry.value_range.start);
            new.push_str(&quote(value));
            kept(&mut new, entry.value_range.end..text.len());
        }
        (None, Some(value)) => {
            kept(&mut new, done..text.len());
            if !new.is_empty() && !new.ends_with('\n') {
                new.push_str(line_end);
            }
            new.push_str(name);
            new.push('=');
            new.push_str(&quote(value));
            new.push_str(line_end);
        }
        _ => kept(&mut new, done..text.len()),
    }
    let reads_back = |text: &str| parse(text).variables.get(name).map(String::as_str) == value;
    if let Some(value) = value
        && !reads_back(&new)
    {
        // A quote that is open further up would be closed by one of ours.
        let rest = with_variable(text, name, None)?;
        let (mark, rest) = match rest.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", rest.as_str()),
        };
        return Ok(format!("{mark}{name}={}{line_end}{rest}", quote(value)));
    }
    Ok(new)
}

/// A value as it has to stand in the file to be read back the same, here and by a shell.
fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    if !value.contains(['\'', '\n', '\r', '\\']) {
        return format!("'{value}'");
    }
    let mut quoted = String::with_capacity(value.len() + 8);
    quoted.push('"');
    for c in value.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '"' | '\\' | '$' => quoted.extend(['\\', c]),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// One assignment and where it stands.
struct Entry<'a> {
    name: &'a str,
    value: String,
    /// The value with its quotes, in bytes of the text.
    value_range: Range<usize>,
    /// The whole lines with their end.
    lines: Range<usize>,
}

/// Walks the assignments of a text. After a broken one it goes on with the very next line, so that
/// a quote somebody forgot to close swallows nothing.
struct Entries<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Entries<'a> {
    fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at, line: 1 }
    }

    fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Where the line that holds `at` ends, its end included.
    fn line_end(&self, at: usize) -> usize {
        self.rest(at).find('\n').map_or(self.text.len(), |length| at + length + 1)
    }

    fn entry(&self) -> Result<Option<Entry<'a>>, &'static str> {
        let start = self.at;
        let line = self.text.get(start..self.line_end(start)).unwrap_or_default();
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            return Ok(None);
        }
        let mut assignment = line.trim_start();
        if let Some(exported) = assignment.strip_prefix("export") {
            let named = exported.trim_start();
            if named.len() < exported.len() && !named.starts_with('=') {
                assignment = named;
            }
        }
        let name_length = name_length(assignment);
        let (name, after) = assignment.split_at_checked(name_length).unwrap_or_default();
        if name.is_empty() {
            return Err("does not start with a variable name");
        }
        let Some(value) = after.trim_start().strip_prefix('=') else {
            return Err("has no `=` after the name");
        };
        let value = value.trim_start_matches([' ', '\t']);
        let value_start = start + line.len() - value.len();
        let (value, length) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let (value, length) = quoted(self.rest(value_start), quote)
                    .ok_or("opens a quote that is never closed")?;
                let end = value_start + length;
                let tail = self.text.get(end..self.line_end(end)).unwrap_or_default().trim();
                if !tail.is_empty() && !tail.starts_with('#') {
                    return Err("has text after the closing quote");
                }
                (value, length)
            }
            _ => {
                let value = unquoted(value);
                (value.to_owned(), value.len())
            }
        };
        let value_range = value_start..value_start + length;
        let lines = start..self.line_end(value_range.end);
        Ok(Some(Entry { name, value, value_range, lines }))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.text.len() {
            let (start, line) = (self.at, self.line);
            let entry = self.entry();
            self.at = match &entry {
                Ok(Some(entry)) => entry.lines.end,
                Ok(None) | Err(_) => self.line_end(start),
            };
            self.line += self.text.get(start..self.at).unwrap_or_default().matches('\n').count();
            match entry {
                Ok(Some(entry)) => return Some(Ok(entry)),
                Ok(None) => {}
                Err(message) => return Some(Err(Problem { line, message })),
            }
        }
        None
    }
}

/// How many bytes at the start of `text` can be a variable's name.
fn name_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

/// The unquoted value that `line` starts with.
fn unquoted(line: &str) -> &str {
    let mut blank = true;
    let comment = line.char_indices().find(|&(_, c)| {
        let starts = blank && c == '#';
        blank = c == ' ' || c == '\t';
        starts
    });
    let end = comment.map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or(line).trim_end()
}

/// The quoted value that `text` starts with, and its length with the quotes.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((value, at + 1));
        }
        if c != '\\' || quote == '\'' {
            value.push(c);
            continue;
        }
        match chars.next()?.1 {
            'n' => value.push('\n'),
            'r' => value.push('\r'),
            't' => value.push('\t'),
            escaped @ ('"' | '\'' | '\\' | '$') => value.push(escaped),
            // A path such as "C:\Users" is meant as it looks.
            other => value.extend(['\\', other]),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read() {
        for (line, expected) in [
            ("K=v", "v"),
            ("\u{feff}K=v", "v"),
            ("  export  K = v w  # note", "v w"),
            ("K=v#w", "v#w"),
            ("K= # note", ""),
            ("K=#v", ""),
            ("K=", ""),
            ("K=it's", "it's"),
            ("K=a$b\\c", "a$b\\c"),
            ("K='a # \"b\" \\n' # note", "a # \"b\" \\n"),
            ("K=\"a\\n\\\"b\\\" \\$x C:\\Users\"", "a\n\"b\" $x C:\\Users"),
            ("K=\"line 1\nline 2\"", "line 1\nline 2"),
            ("K=1\r\nL=2\r\n", "1"),
            ("K=1\nK=2", "2"),
            ("K.a=1\nK=x", "x"),
        ] {
            let read = parse(line);
            assert_eq!(read.variables.get("K").map(String::as_str), Some(expected), "{line:?}");
            assert_eq!(read.problems, [], "{line:?}");
        }
        assert_eq!(parse("export=1").variables.get("export").map(String::as_str), Some("1"));
    }

    #[test]
    fn a_broken_line_loses_no_other() {
        let read = parse("A=1\nnonsense\nB=\"open\nC=3\n=x\n1D=4\nE='x'y\nF=6");
        let lines: Vec<usize> = read.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 3, 5, 6, 7]);
        let names: Vec<&str> = read.variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["A", "C", "F"]);
    }

    #[test]
    fn one_variable_changes_and_the_rest_stays() {
        for (old, value, expected) in [
            ("", Some("v"), "K=v\n"),
            ("# c\nA=1", Some("a b"), "# c\nA=1\nK='a b'\n"),
            ("A=1\n\n export K = old # why\nB\n", Some("new"), "A=1\n\n export K = new # why\nB\n"),
            ("K=1\nA=2\nK=3\n", Some("4"), "A=2\nK=4\n"),
            ("K=1\nA=2\nK=3\n", None, "A=2\n"),
            ("K=\"a\nb\"\nA=2\n", None, "A=2\n"),
            ("A=1\r\n", Some("x"), "A=1\r\nK=x\r\n"),
            ("K=\"v\" # same\n", Some("v"), "K=\"v\" # same\n"),
            ("A=1\n", None, "A=1\n"),
            ("K=\n", Some("v"), "K=v\n"),
            ("A=\"\n", Some("#\n"), "K=\"#\\n\"\nA=\"\n"),
        ] {
            assert_eq!(with_variable(old, "K", value).unwrap(), expected, "{old:?} {value:?}");
        }
        for name in ["", "1A", "A B", "A=B", "é"] {
            assert!(with_variable("", name, Some("v")).is_err(), "{name:?}");
        }
        assert!(with_variable("", "K", Some("a\0b")).is_err());
    }

    #[test]
    fn the_file_is_private_and_untouched_when_nothing_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home/.env");
        assert_eq!(read(&path).unwrap(), DotEnv::default());
        assert!(set(&path, "K", Some("secret")).unwrap());
        assert!(!set(&path, "K", Some("secret")).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "K=secret\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    proptest! {
        #[test]
        fn any_value_reads_back(value in "[^\0]{0,40}", before in "([A-Z]=[a-z'\"# \n]{0,9}\n){0,4}") {
            let text = with_variable(&before, "KEY", Some(&value)).unwrap();
            let read = parse(&text).variables.remove("KEY");
            prop_assert_eq!(read, Some(value), "{}", text);
        }

        #[test]
        fn no_text_is_too_odd(text in any::<String>(), lines in "([A=\"'\\\\#$ \n]|export ){0,60}") {
            for text in [text, lines] {
                let _ = parse(&text);
                let _ = with_variable(&text, "A", None);
            }
        }
    }
}

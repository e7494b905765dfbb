//! From a pattern to a matcher, or to an error that says where the pattern is broken.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;

/// A pattern ready to search with.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) text: String,
    pub(crate) matcher: RegexMatcher,
    /// Matches may go over line breaks.
    pub(crate) multi_line: bool,
}

/// Why a pattern can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern {
    /// What is wrong.
    pub message: String,
    /// Where, in characters from 1 on.
    pub position: Option<usize>,
    /// What could be done instead.
    pub hint: String,
}

/// The most memory a compiled pattern may take, in bytes.
const MAX_SIZE: usize = 16 * 1024 * 1024;

impl Pattern {
    /// Compiles a regular expression in Rust's syntax. Case counts; `^` and `$` are at lines; a
    /// pattern with a line break in it goes over lines.
    ///
    /// # Errors
    /// It isn't a valid one, or takes too much memory.
    pub fn new(pattern: &str) -> Result<Self, BadPattern> {
        if let Err(err) = ast::parse::Parser::new().parse(pattern) {
            return Err(syntax_error(pattern, &err));
        }
        let of = |matcher, multi_line| Self { text: pattern.to_owned(), matcher, multi_line };
        let wants_lines = pattern.contains('\n') || pattern.contains(r"\n");
        if !wants_lines && let Ok(matcher) = build(pattern, false) {
            return Ok(of(matcher, false));
        }
        // Patterns with line breaks in other guises (`\r`, `\x0A`) are refused in line mode.
        match build(pattern, true) {
            Ok(matcher) => Ok(of(matcher, true)),
            Err(err) => Err(BadPattern {
                message: format!("the pattern can't be used: {}", last_line(&err.to_string())),
                position: None,
                hint: literal_hint(pattern),
            }),
        }
    }
}

fn build(pattern: &str, multi_line: bool) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).size_limit(MAX_SIZE).dfa_size_limit(MAX_SIZE);
    if multi_line {
        builder.crlf(true).line_terminator(None);
    } else {
        builder.line_terminator(Some(b'\n')).crlf(true);
    }
    builder.build(pattern)
}

fn syntax_error(pattern: &str, err: &ast::Error) -> BadPattern {
    let position =
        pattern.get(..err.span().start.offset).map_or(1, |before| before.chars().count() + 1);
    let hint = match err.kind() {
        ast::ErrorKind::UnsupportedLookAround => {
            "look-around isn't supported; search for the text itself and look at the lines found"
                .to_owned()
        }
        ast::ErrorKind::UnsupportedBackreference => {
            "back-references aren't supported; search for the text itself and look at the lines \
             found"
                .to_owned()
        }
        _ => literal_hint(pattern),
    };
    let message = format!("invalid regular expression at character {position}: {}", err.kind());
    BadPattern { message, position: Some(position), hint }
}

fn literal_hint(pattern: &str) -> String {
    format!("to find this text literally, search for {}", regex_syntax::escape(pattern))
}

fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher;

    #[test]
    fn patterns() {
        for (pattern, text, found, multi_line) in [
            ("needle$", "a needle\r", true, false),
            ("--flag", "--flag", true, false),
            ("a|b", "b", true, false),
            (r"a\|b", "b", false, false),
            ("(?i)todo", "TODO", true, false),
            ("a\\nb", "a\nb", true, true),
            ("a\nb", "a\nb", true, true),
            (r"a\x0Ab", "a\nb", true, true),
            ("", "x", true, false),
            ("\0", "x", false, false),
        ] {
            let compiled = Pattern::new(pattern).unwrap();
            assert_eq!(compiled.matcher.is_match(text.as_bytes()).unwrap(), found, "{pattern:?}");
            assert_eq!(compiled.multi_line, multi_line, "{pattern:?}");
        }
    }

    #[test]
    fn broken_patterns() {
        for (pattern, position) in
            [("foo(", Some(4)), ("ä[", Some(2)), ("(?=a)", Some(1)), ("a{99999}{9999}", None)]
        {
            let err = Pattern::new(pattern).unwrap_err();
            assert_eq!(err.position, position, "{err:?}");
            assert!(!err.hint.is_empty());
        }
        assert!(Pattern::new(r"\p{Nonsense}").is_err());
    }
}

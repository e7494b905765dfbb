//! From a pattern to a matcher, or to an error that says where the pattern is broken.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use hermes_registry::ToolError;
use regex_syntax::ast;

use crate::fault::Fault;

/// A pattern ready to search with.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) matcher: RegexMatcher,
    /// Matches may go over line breaks.
    pub(crate) multi_line: bool,
}

/// The most memory a compiled pattern may take, in bytes.
const MAX_SIZE: usize = 16 * 1024 * 1024;

/// Compiles a regular expression in Rust's syntax. Case counts; `^` and `$` are at lines; a
/// pattern with a line break in it goes over lines.
pub(crate) fn compile(pattern: &str) -> Result<Pattern, ToolError> {
    if let Err(err) = ast::parse::Parser::new().parse(pattern) {
        return Err(syntax_error(pattern, &err));
    }
    let wants_lines = pattern.contains('\n') || pattern.contains(r"\n");
    if !wants_lines && let Ok(matcher) = build(pattern, false) {
        return Ok(Pattern { matcher, multi_line: false });
    }
    // Patterns with line breaks in other guises (`\r`, `\x0A`) are refused in line mode.
    match build(pattern, true) {
        Ok(matcher) => Ok(Pattern { matcher, multi_line: true }),
        Err(err) => Err(Fault::BadRegex
            .error(format!("the pattern can't be used: {}", first_line(&err.to_string())))
            .with_extra("hint", literal_hint(pattern))),
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

fn syntax_error(pattern: &str, err: &ast::Error) -> ToolError {
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
    Fault::BadRegex
        .error(format!("invalid regular expression at character {position}: {}", err.kind()))
        .with_extra("position", position)
        .with_extra("hint", hint)
}

fn literal_hint(pattern: &str) -> String {
    format!("to find this text literally, search for {}", regex_syntax::escape(pattern))
}

fn first_line(text: &str) -> &str {
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
            let compiled = compile(pattern).unwrap();
            assert_eq!(compiled.matcher.is_match(text.as_bytes()).unwrap(), found, "{pattern:?}");
            assert_eq!(compiled.multi_line, multi_line, "{pattern:?}");
        }
    }

    #[test]
    fn broken_patterns() {
        for (pattern, position) in
            [("foo(", Some(4)), ("ä[", Some(2)), ("(?=a)", Some(1)), ("a{99999}{9999}", None)]
        {
            let err = compile(pattern).unwrap_err();
            assert_eq!(err.extra()["error_kind"], "bad_regex");
            assert_eq!(err.extra().get("position"), position.map(Into::into).as_ref(), "{err:?}");
            assert!(err.extra().contains_key("hint"));
        }
        assert!(compile(r"\p{Nonsense}").is_err());
    }
}

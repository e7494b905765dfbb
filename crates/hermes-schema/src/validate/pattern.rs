//! Regular expressions of schemas, which are written for ECMAScript.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// The most memory one compiled expression may take, in bytes.
const MAX_SIZE: usize = 1 << 20;

/// A regular expression that runs in linear time.
///
/// `\d`, `\w` and `\b` mean ASCII, as in ECMAScript; `\s` and `.` are those of the `regex` crate.
/// Of look-around only assertions ahead at the very start (`^(?!…)`) are understood, and no
/// back-references.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    text: String,
    /// Expressions for the start of the text, and whether they must match.
    ahead: Vec<(bool, Regex)>,
    main: Regex,
}

impl Pattern {
    /// Compiles an expression; `None` if nobody here can run it.
    pub(super) fn new(text: &str) -> Option<Self> {
        let translated = translated(text)?;
        let mut rest = translated.as_str();
        let mut ahead = Vec::new();
        if let Some(after) = rest.strip_prefix('^') {
            let mut open = after;
            while let Some((must_match, inner, after)) = assertion(open) {
                ahead.push((must_match, compile(&format!("^(?:{inner})"))?));
                open = after;
            }
            if !ahead.is_empty() {
                // `^(?!a)b|c` asserts nothing about `c`.
                if groups(open).any(|(depth, c, _)| depth == 0 && c == '|') {
                    return None;
                }
                rest = open;
            }
        }
        let main =
            if ahead.is_empty() { compile(rest)? } else { compile(&format!("^(?:{rest})"))? };
        Some(Self { text: text.to_owned(), ahead, main })
    }

    /// Whether the expression is found anywhere in `text`.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.ahead.iter().all(|(must_match, regex)| regex.is_match(text) == *must_match)
            && self.main.is_match(text)
    }

    /// The expression as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

fn compile(expression: &str) -> Option<Regex> {
    RegexBuilder::new(expression).size_limit(MAX_SIZE).build().ok()
}

/// Splits `(?=inner)after` or `(?!inner)after`.
fn assertion(text: &str) -> Option<(bool, &str, &str)> {
    let (must_match, inner) = match (text.strip_prefix("(?="), text.strip_prefix("(?!")) {
        (Some(inner), _) => (true, inner),
        (_, Some(inner)) => (false, inner),
        _ => return None,
    };
    let (_, _, end) = groups(inner).find(|(depth, c, _)| *depth == 0 && *c == ')')?;
    Some((must_match, inner.get(..end)?, inner.get(end + 1..)?))
}

/// The characters outside of classes and escapes, with the number of groups open around each
/// (a closing parenthesis counts as outside of its group) and their offset.
fn groups(text: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let (mut depth, mut class, mut escaped) = (0_usize, 0_usize, false);
    text.char_indices().filter_map(move |(at, c)| {
        if std::mem::take(&mut escaped) {
            return None;
        }
        match c {
            '\\' => escaped = true,
            '[' => class += 1,
            ']' => class = class.saturating_sub(1),
            _ if class > 0 => {}
            '(' => {
                depth += 1;
                return Some((depth - 1, c, at));
            }
            ')' => {
                let closed = depth.saturating_sub(1);
                let is_extra = depth == 0;
                depth = closed;
                // One that closes a group opened here is still inside for the caller's question.
                return (is_extra).then_some((0, c, at));
            }
            _ => return Some((depth, c, at)),
        }
        None
    })
}

/// The expression in the syntax of the `regex` crate.
fn translated(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match (chars.next()?, in_class) {
                ('d', _) => out.push_str("[0-9]"),
                ('D', _) => out.push_str("[^0-9]"),
                ('w', _) => out.push_str("[0-9A-Za-z_]"),
                ('W', _) => out.push_str("[^0-9A-Za-z_]"),
                ('b', true) => out.push_str("\\x08"),
                ('b', false) => out.push_str("(?-u:\\b)"),
                // Word boundaries and anchors of the `regex` crate are plain letters there.
                ('A' | 'z' | '<' | '>', _) => return None,
                (escaped, _) => {
                    let _ = write!(out, "\\{escaped}");
                }
            },
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                // `[]` is empty and `[^]` is everything, but here `]` would be a literal.
                if chars.peek() == Some(&']') {
                    return None;
                }
            }
            '[' | '&' | '~' if in_class => {
                let _ = write!(out, "\\{c}");
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    /// `None` if the expression cannot be run, else whether it matches.
    #[track_caller]
    fn check(pattern: &str, text: &str, expected: Option<bool>) {
        let found = Pattern::new(pattern).map(|pattern| pattern.is_match(text));
        assert_eq!(found, expected, "{pattern} on {text:?}");
    }

    #[test]
    fn ecma_syntax() {
        check("b", "abc", Some(true));
        check("^\\d+$", "12", Some(true));
        check("^\\d+$", "١", Some(false));
        check("^[\\w-]+$", "a_b-1", Some(true));
        check("^[[&~]+$", "[&~", Some(true));
        check("^[^\\W]$", "a", Some(true));
        check("\\bfoo\\b", "a foo!", Some(true));
        check("^https?:\\/\\/", "http://", Some(true));
        check("^(?<year>\\d{4})$", "2024", Some(true));
        check("^\\p{L}+$", "é", Some(true));
        check("(", "", None);
        check("(a)\\1", "aa", None);
        check("\\", "", None);
        check("[]", "", None);
        check("(?:\\w{1000}){1000}", "a", None);
    }

    #[test]
    fn assertions_at_the_start() {
        check("^(?!x)", "a", Some(true));
        check("^(?!x)", "xa", Some(false));
        check("^(?!(a|b[)]))\\w+$", "b)", Some(false));
        check("^(?!(a|b[)]))\\w+$", "c", Some(true));
        check("^(?=.*\\d)(?=.*[a-z]).{3,}$", "ab1", Some(true));
        check("^(?=.*\\d)(?=.*[a-z]).{3,}$", "abc", Some(false));
        check("^(?!x)a|b", "b", None);
        check("^(?!x)(a|b)$", "b", Some(true));
        check("a(?!x)", "a", None);
        check("^(?!x", "a", None);
    }
}

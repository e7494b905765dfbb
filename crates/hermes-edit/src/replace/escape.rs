//! Backslashes that a model put before letters and quotes although the file has none.

use std::borrow::Cow;

use crate::lines::{indent, to_lf};

/// `\n`, `\t` and `\r` as the characters they stand for. None when there is none of them. A
/// backslash that another one stands before is a character.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let out = rewritten(text, &['n', 't', 'r'])?;
    Some(to_lf(&out).into_owned())
}

/// The text with the escapes of `letters` resolved; none when there are none.
fn rewritten(text: &str, letters: &[char]) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match rest.next_if(|next| *next == '\\' || letters.contains(next)) {
            None => out.push('\\'),
            Some('\\') => out.push_str("\\\\"),
            Some(letter) => {
                changed = true;
                out.push(match letter {
                    'n' => '\n',
                    't' => '\t',
                    _ => '\r',
                });
            }
        }
    }
    changed.then_some(out)
}

/// `new` with `\t` and `\r` as characters where it goes in the place of `span`, which has such
/// characters. A file `text` that has the two letters means them.
///
/// Tabs that only indent the span say nothing of `\t` inside a line.
pub(super) fn with_real_tabs<'a>(new: &'a str, span: &str, text: &str) -> Cow<'a, str> {
    let mut new = Cow::Borrowed(new);
    if span.contains('\t') && new.contains("\\t") && !text.contains("\\t") {
        let is_inside = |line: &str| line.trim_start_matches([' ', '\t']).contains('\t');
        new = if span.lines().any(is_inside) {
            rewritten(&new, &['t']).map_or(new, Cow::Owned)
        } else {
            Cow::Owned(with_tabs_in_front(&new))
        };
    }
    if span.contains('\r') && new.contains("\\r") && !text.contains("\\r") {
        new = rewritten(&new, &['r']).map_or(new, Cow::Owned);
    }
    new
}

fn with_tabs_in_front(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (mut rest, mut before) = (line, usize::MAX);
        while rest.len() < before {
            before = rest.len();
            let blanks = indent(rest);
            out.push_str(blanks);
            rest = rest.get(blanks.len()..).unwrap_or_default();
            if let Some(after) = rest.strip_prefix("\\t") {
                out.push('\t');
                rest = after;
            }
        }
        out.push_str(rest);
    }
    out
}

/// A quote with a backslash that both texts have and the place they are about hasn't: a slip of
/// whoever wrote them, which would end up in the file.
pub(super) fn drifts(old: &str, new: &str, span: &str) -> bool {
    ["\\'", "\\\""]
        .iter()
        .any(|quote| old.contains(quote) && new.contains(quote) && !span.contains(quote))
}

/// The text with the backslashes before quotes dropped; none when there are none.
pub(super) fn without_quote_escapes(text: &str) -> Option<String> {
    let out = text.replace("\\'", "'").replace("\\\"", "\"");
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn escapes_become_characters() {
        for (text, expected) in [
            ("a\\nb\\tc\\rd", Some("a\nb\tc\rd")),
            ("a\\r\\nb", Some("a\nb")),
            ("C:\\\\new\\x", None),
            ("\\\\\\n", Some("\\\\\n")),
            ("a\\", None),
            ("", None),
        ] {
            assert_eq!(unescaped(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tabs_of_the_span_make_tabs() {
        for (new, span, text, expected) in [
            ("\\tx = 2", "\tx = 1", "", "\tx = 2"),
            ("\\t\\tp(\"a\\tb\")", "\tx = 1", "", "\t\tp(\"a\\tb\")"),
            ("a\\tb", "a\tb", "", "a\tb"),
            ("\\tx", "  x", "", "\\tx"),
            ("\\textbf", "\tx", "\\tx \\textit", "\\textbf"),
            ("x\\ry", "x\ry", "", "x\ry"),
            ("C:\\reports", "x", "", "C:\\reports"),
        ] {
            assert_eq!(with_real_tabs(new, span, text), expected, "{new} {span}");
        }
    }

    #[test]
    fn drift() {
        assert!(drifts("\\'a\\'", "\\'b\\'", "'a'"));
        assert!(!drifts("\\'a\\'", "\\'b\\'", "\\'a\\'"));
        assert!(!drifts("\\'a\\'", "'b'", "'a'"));
        assert!(drifts("\\\"", "x\\\"", "\\'"));
        assert_eq!(without_quote_escapes("\\'a\\\"").as_deref(), Some("'a\""));
        assert_eq!(without_quote_escapes("\\a'"), None);
    }
}

//! Globs over whole texts: `*`, `?`, `[..]` and `[!..]`, where a blank or a slash is a character
//! like any other.

use regex::RegexBuilder;

/// Largest compiled glob, in bytes. A longer one is compared as plain text.
const MAX_SIZE: usize = 1 << 20;

/// A compiled glob.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    text: String,
    regex: Option<regex::Regex>,
    ignores_case: bool,
}

impl Glob {
    /// Reads a glob. Every text is one: what can't be compiled stands for itself.
    pub(crate) fn new(text: &str, ignores_case: bool) -> Self {
        let regex = RegexBuilder::new(&translate(text))
            .case_insensitive(ignores_case)
            .dot_matches_new_line(true)
            .size_limit(MAX_SIZE)
            .build()
            .ok();
        Self { text: text.to_owned(), regex, ignores_case }
    }

    /// The glob as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the whole of `text` fits.
    pub(crate) fn fits(&self, text: &str) -> bool {
        match &self.regex {
            Some(regex) => regex.is_match(text),
            None if self.ignores_case => self.text.to_lowercase() == text.to_lowercase(),
            None => self.text == text,
        }
    }
}

fn translate(glob: &str) -> String {
    let mut regex = String::from("^(?:");
    let chars: Vec<char> = glob.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' => {
                // Several stars are one, and one is quicker.
                if !regex.ends_with(".*") {
                    regex.push_str(".*");
                }
            }
            '?' => regex.push('.'),
            '[' => match class(&chars, at) {
                Some((class, end)) => {
                    regex.push_str(&class);
                    at = end;
                }
                None => regex.push_str(r"\["),
            },
            c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push_str(")$");
    regex
}

/// The class that starts behind a `[`, and where it ends; none if it never does.
fn class(chars: &[char], start: usize) -> Option<(String, usize)> {
    let is_negated = matches!(chars.get(start), Some('!' | '^'));
    let first = start + usize::from(is_negated);
    // A `]` right at the beginning is a member.
    let length = chars.get(first + 1..)?.iter().position(|c| *c == ']')?;
    let members = chars.get(first..first + 1 + length)?;
    let mut ranges = String::new();
    let mut at = 0;
    while let Some(&low) = members.get(at) {
        let high = match (members.get(at + 1), members.get(at + 2)) {
            (Some('-'), Some(&high)) => {
                at += 3;
                high
            }
            _ => {
                at += 1;
                low
            }
        };
        if low <= high {
            ranges.push_str(&format!(r"\x{{{:x}}}-\x{{{:x}}}", u32::from(low), u32::from(high)));
        }
    }
    let end = first + length + 2;
    Some(match (ranges.is_empty(), is_negated) {
        (false, false) => (format!("[{ranges}]"), end),
        (false, true) => (format!("[^{ranges}]"), end),
        // Nothing is in an empty range, and everything outside of it.
        (true, false) => (r"[^\x{0}-\x{10ffff}]".to_owned(), end),
        (true, true) => (".".to_owned(), end),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn globs_fit_whole_texts() {
        for (glob, text, fits) in [
            ("git push *", "git push x", true),
            ("git push *", "git push", false),
            ("git push*", "a git push", false),
            ("*push*", "a\ngit push\nb", true),
            ("a?c", "a/c", true),
            ("a[bc]d", "acd", true),
            ("a[!bc]d", "acd", false),
            ("a[b-d]e", "ace", true),
            ("a[z-b]e", "ace", false),
            ("a[]x]e", "a]e", true),
            ("a[", "a[", true),
            ("a{b,c}", "ab", false),
            ("a.c", "abc", false),
            (r"a\*", r"a\b", true),
            ("A*", "abc", false),
        ] {
            assert_eq!(Glob::new(glob, false).fits(text), fits, "{glob} on {text}");
        }
        assert!(Glob::new("GIT *", true).fits("git PUSH"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_glob(glob in r"[\[\]!^*?a-c\\-]{0,12}", text in r"[\[\]!^*?a-c\\-]{0,12}") {
            let _ = Glob::new(&glob, true).fits(&text);
            prop_assert!(Glob::new("*", false).fits(&text));
        }

        #[test]
        fn a_plain_text_fits_itself(text in r"[a-z .()+|{}$^/]{0,20}") {
            prop_assert!(Glob::new(&text, false).fits(&text));
        }
    }
}

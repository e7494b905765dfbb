//! Which tools a hook is about.

use fancy_regex::Regex;

/// A pattern for the whole name of a tool.
///
/// Patterns are those of Python's `re`, look-around included. One that is no pattern stands for
/// itself.
#[derive(Clone, Debug)]
pub struct Matcher {
    text: String,
    pattern: Option<Regex>,
}

impl Matcher {
    /// A matcher for what somebody wrote; none for blanks, which fit every tool.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self { text: text.to_owned(), pattern: anchored(text) })
    }

    /// What was written, less the blanks around it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a pattern. One that isn't fits the tool of exactly this name.
    pub fn is_valid(&self) -> bool {
        self.pattern.is_some()
    }

    /// Whether it fits a tool.
    pub fn fits(&self, tool: &str) -> bool {
        match &self.pattern {
            // A pattern that takes for ever can't tell; a hook that may guard something rather
            // runs once too often.
            Some(pattern) => pattern.is_match(tool).unwrap_or(true),
            None => self.text == tool,
        }
    }
}

/// The pattern for whole texts only.
fn anchored(text: &str) -> Option<Regex> {
    // Alone first: `a)|(b` is no pattern, and would become one between brackets.
    Regex::new(text).ok()?;
    let whole = Regex::new(&format!(r"\A(?:{text})\z")).ok();
    // In verbose mode a comment at the end would take the bracket with it.
    whole.or_else(|| Regex::new(&format!("\\A(?:{text}\n)\\z")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_name_must_fit() {
        for (matcher, tool, fits) in [
            ("term", "terminal", false),
            ("terminal", "terminal", true),
            (" terminal\n", "terminal", true),
            ("write_file|patch", "patch", true),
            ("write_file|patch", "patch2", false),
            ("a|ab", "ab", true),
            ("^browser_.*$", "browser_click", true),
            (".*", "anything", true),
            ("(?i)TERMINAL", "terminal", true),
            ("(?x) term inal # the shell", "terminal", true),
            ("(?!read_).*", "write_file", true),
            ("(?!read_).*", "read_file", false),
            (r"(\w)\1", "aa", true),
            ("*", "*", true),
            ("*", "terminal", false),
            ("a)|(b", "b", false),
            ("mcp__[", "mcp__[", true),
            ("a$", "a\n", false),
        ] {
            assert_eq!(Matcher::new(matcher).unwrap().fits(tool), fits, "{matcher} {tool}");
        }
        assert!(Matcher::new(" \n").is_none());
        assert!(!Matcher::new("*").unwrap().is_valid());
        let slow = Matcher::new("(?:(a|a)*)*(?=x)b").unwrap();
        slow.fits(&"a".repeat(64));
    }
}

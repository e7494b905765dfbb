//! Working directories that are safe to name in a shell.

use std::fmt;

use unicode_normalization::char::is_combining_mark;

/// Why a text is no working directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkdirError {
    /// It is empty.
    Empty,
    /// It has this character in it.
    Character(char),
}

impl fmt::Display for WorkdirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the working directory is empty"),
            Self::Character(c) => {
                write!(f, "the working directory has a character in it that is not allowed: {c:?}")
            }
        }
    }
}

impl std::error::Error for WorkdirError {}

/// Whether a text is fit for a working directory: letters, marks and digits of any script, blanks
/// and `/ \ : _ - . ~ + @ = ,`.
///
/// # Errors
/// It is empty or has another character in it, which is said.
///
/// ```
/// use hermes_terminal::{WorkdirError, validate_workdir};
///
/// assert!(validate_workdir("~/my project").is_ok());
/// assert_eq!(validate_workdir("$(id)"), Err(WorkdirError::Character('$')));
/// ```
pub fn validate_workdir(workdir: &str) -> Result<(), WorkdirError> {
    if workdir.is_empty() {
        return Err(WorkdirError::Empty);
    }
    let is_allowed =
        |c: char| c.is_alphanumeric() || is_combining_mark(c) || " /\\:_-.~+@=,".contains(c);
    match workdir.chars().find(|c| !is_allowed(*c)) {
        None => Ok(()),
        Some(c) => Err(WorkdirError::Character(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workdirs() {
        for good in [
            "/srv/app",
            "~/my project",
            "/x@y,z+w=1",
            "/tmp/naïve",
            "C:\\Users\\x",
            "/日本",
            "/e\u{301}",
            "/हिन्दी",
            ".",
        ] {
            assert_eq!(validate_workdir(good), Ok(()), "{good:?}");
        }
        for bad in [
            "",
            "/a/b;c",
            "$(id)",
            "/a\nb",
            "/a*b",
            "/a\n",
            "/a\tb",
            "/a\u{202e}b",
            "/a\0",
            "a`b",
            "a|b",
            "a&b",
            "a'b",
            "a\"b",
            "a(b",
            "a<b",
            "a{b",
            "a[b",
            "a!b",
            "a#b",
            "a?b",
            "a%b",
            "/a\u{200d}b",
            "/a\u{85}b",
            "/😀",
        ] {
            assert!(validate_workdir(bad).is_err(), "{bad:?}");
        }
    }
}

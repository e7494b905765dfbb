//! The working directory that a script prints between two markers at its end.

/// Farthest that the first marker may be from the second, in bytes.
const MOST: usize = 4096;

/// Takes the working directory out of output that ends with a line
/// `MARKER DIRECTORY MARKER`, written without blanks and after a line feed of its own: the text
/// without all that, and the directory if it isn't empty. None if there is no such line.
///
/// A marker must not be guessable: a program that prints it would set the directory.
///
/// ```
/// use hermes_terminal::cwd_extract;
///
/// let output = "out\n\n__M__/new__M__\n";
/// assert_eq!(cwd_extract(output, "__M__"), Some(("out\n".to_owned(), Some("/new"))));
/// assert_eq!(cwd_extract("no marker", "__M__"), None);
/// ```
#[must_use]
pub fn cwd_extract<'a>(output: &'a str, marker: &str) -> Option<(String, Option<&'a str>)> {
    if marker.is_empty() {
        return None;
    }
    let (before, after) = output.rsplit_once(marker)?;
    let (text, cwd) = before.rsplit_once(marker)?;
    if cwd.len() + marker.len() > MOST {
        return None;
    }
    // The line feed in front is the script's own.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let after = after.split_once('\n').map_or("", |(_, after)| after);
    let cwd = cwd.trim_end_matches('\n');
    Some(([text, after].concat(), (!cwd.is_empty()).then_some(cwd)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories() {
        for (output, expected) in [
            ("out\n\n__M__/new__M__\n", Some(("out\n", Some("/new")))),
            ("\n__M__/x y/ü__M__\n", Some(("", Some("/x y/ü")))),
            ("tail\n__M__/d__M__\n", Some(("tail", Some("/d")))),
            ("a\n__M__/1__M__\nb\n__M__/2__M__\n", Some(("a\n__M__/1__M__\nb", Some("/2")))),
            ("\n__M__/d__M__", Some(("", Some("/d")))),
            ("a\n__M__/d__M__\nlate\n", Some(("alate\n", Some("/d")))),
            ("a\n__M____M__\n", Some(("a", None))),
            ("a__M__b", None),
            ("no marker", None),
        ] {
            let found = cwd_extract(output, "__M__");
            let found = found.as_ref().map(|(text, cwd)| (text.as_str(), *cwd));
            assert_eq!(found, expected, "{output:?}");
        }
        assert_eq!(cwd_extract("aa", ""), None);
        let long = format!("\n__M__{}__M__\n", "x".repeat(5000));
        assert_eq!(cwd_extract(&long, "__M__"), None);
    }
}

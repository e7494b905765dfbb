//! Splitting a command into words as a shell does, without running one.

/// The words of a command. Quotes and backslashes mean what they mean to a shell; variables,
/// patterns, pipes and comments mean nothing. An unquoted `~` or `~/` at the beginning of a word
/// is the home folder, if there is one.
///
/// # Errors
///
/// A quote that isn't closed, or a backslash at the end.
pub(super) fn split(command: &str, home: Option<&str>) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '~' if word.is_none() => {
                let is_home = matches!(chars.peek(), None | Some('/' | ' ' | '\t' | '\r' | '\n'));
                word = Some(home.filter(|_| is_home).unwrap_or("~").to_owned());
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err("a ' is not closed"),
                        Some('\'') => break,
                        Some(c) => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err("a \" is not closed"),
                        Some('"') => break,
                        Some('\\') if matches!(chars.peek(), Some('"' | '\\')) => {
                            word.extend(chars.next());
                        }
                        Some(c) => word.push(c),
                    }
                }
            }
            '\\' => match chars.next() {
                None => return Err("there is nothing behind the last \\"),
                Some(c) => word.get_or_insert_default().push(c),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (command, words) in [
            ("a  b\tc\n", &["a", "b", "c"][..]),
            ("", &[]),
            ("'' \"\"", &["", ""]),
            ("'a b'\"c d\"e", &["a bc de"]),
            (r#""a\"b\\c\n" 'x\'"#, &[r#"a"b\c\n"#, r"x\"]),
            (r"a\ b \~", &["a b", "~"]),
            ("~/x ~ ~u/y a~ '~/z' --f=~/w", &["/h/x", "/h", "~u/y", "a~", "~/z", "--f=~/w"]),
            ("a | b # $HOME *", &["a", "|", "b", "#", "$HOME", "*"]),
        ] {
            assert_eq!(split(command, Some("/h")).unwrap(), words, "{command}");
        }
        assert_eq!(split("~/x", None).unwrap(), ["~/x"]);
        for command in ["'", "a \"b", "\\", "\"\\\""] {
            assert!(split(command, None).is_err(), "{command}");
        }
    }
}

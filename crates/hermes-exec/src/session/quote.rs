//! Words of shell.

pub use crate::remote::quoted as quote;

/// The path of a folder as a word that the shell still expands a leading `~` in, of nobody or of a
/// user with a plain name.
pub(super) fn folder(path: &str) -> String {
    let Some(rest) = path.strip_prefix('~') else { return quote(path) };
    let (user, below) = rest.split_once('/').map_or((rest, None), |(user, it)| (user, Some(it)));
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        return quote(path);
    }
    match below {
        Some(below) => format!("~{user}/{}", quote(below)),
        None => format!("~{user}"),
    }
}

/// The path of a file as a word in which `~` and variables are expanded, and nothing is run.
pub(super) fn expandable(path: &str) -> String {
    let (tilde, rest) = match path.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", path),
    };
    let mut word = format!("{tilde}\"");
    let mut rest = rest;
    while let Some(c) = rest.chars().next() {
        let taken = match variable(rest) {
            Some(name) => {
                word.extend(["${", name.name, "}"]);
                name.length
            }
            None => {
                if matches!(c, '"' | '$' | '`' | '\\') {
                    word.push('\\');
                }
                word.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    word.push('"');
    word
}

struct Variable<'t> {
    name: &'t str,
    length: usize,
}

/// The variable that a text begins with, as `$NAME` or `${NAME}`.
fn variable(text: &str) -> Option<Variable<'_>> {
    let rest = text.strip_prefix('$')?;
    let braced = rest.strip_prefix('{');
    let body = braced.unwrap_or(rest);
    let length = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let name = body
        .get(..length)
        .filter(|name| name.bytes().next().is_some_and(|first| !first.is_ascii_digit()))?;
    match braced {
        Some(body) if body.get(length..)?.starts_with('}') => {
            Some(Variable { name, length: length + 3 })
        }
        Some(_) => None,
        None => Some(Variable { name, length: length + 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn folders_keep_their_tilde() {
        for (path, word) in [
            ("/a b", "'/a b'"),
            ("~", "~"),
            ("~/it's", r"~/'it'\''s'"),
            ("~bob/x", "~bob/'x'"),
            ("~$(x)/y", "'~$(x)/y'"),
            ("a~", "'a~'"),
        ] {
            assert_eq!(folder(path), word, "{path}");
        }
    }

    #[test]
    fn variables_expand_and_nothing_runs() {
        for (path, word) in [
            ("~/.bashrc", "~/\".bashrc\""),
            ("$HOME/x", "\"${HOME}/x\""),
            ("${XDG_X}/a b", "\"${XDG_X}/a b\""),
            ("$(rm x)`y`", "\"\\$(rm x)\\`y\\`\""),
            ("${X:-$(y)}", "\"\\${X:-\\$(y)}\""),
            ("$1", "\"\\$1\""),
            ("ü\"\\", "\"ü\\\"\\\\\""),
        ] {
            assert_eq!(expandable(path), word, "{path}");
        }
    }
}

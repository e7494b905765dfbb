//! Programs taken apart into code and texts.

/// A text in a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    /// The code between the text before and this one.
    pub(crate) before: String,
    pub(crate) text: String,
    /// The code up to the next text, or the end.
    pub(crate) rest: String,
    /// How it was quoted.
    pub(crate) quote: char,
}

/// The texts of a program with the code in front of each. `hash` says whether `#` starts a comment.
pub(crate) fn literals(program: &str, hash: bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before = String::new();
    let mut chars = program.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let rest = program.get(at..).unwrap_or_default();
        match c {
            '#' if hash && !before.ends_with('$') => {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            '/' if rest.starts_with("/*") => {
                let length = rest.find("*/").map_or(rest.len(), |it| it + 2);
                while chars.next_if(|(next, _)| *next < at + length).is_some() {}
            }
            '"' | '\'' | '`' => {
                let triple: String = [c; 3].iter().collect();
                let is_triple = c != '`' && rest.starts_with(&triple);
                if is_triple {
                    chars.next();
                    chars.next();
                }
                let mut text = String::new();
                while let Some((at, inner)) = chars.next() {
                    if inner == '\\' {
                        text.push(inner);
                        text.extend(chars.next().map(|(_, c)| c));
                    } else if inner == c
                        && (!is_triple
                            || program.get(at..).unwrap_or_default().starts_with(&triple))
                    {
                        if is_triple {
                            chars.next();
                            chars.next();
                        }
                        break;
                    } else {
                        text.push(inner);
                    }
                }
                push(&mut pieces, &mut before, text, c);
            }
            // `q{..}`, `qq(..)`, `qx/../`, `%x(..)`, `%q{..}`.
            'q' | '%' if is_quote_word(rest, &before) => {
                let skip =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '%').unwrap_or(rest.len());
                let Some(open) = rest.get(skip..).and_then(|it| it.chars().next()) else {
                    before.push(c);
                    continue;
                };
                let close = match open {
                    '{' => '}',
                    '(' => ')',
                    '[' => ']',
                    '<' => '>',
                    other => other,
                };
                let is_command = rest.get(..skip).unwrap_or_default().contains('x');
                let body = rest.get(skip + open.len_utf8()..).unwrap_or_default();
                let length = body.find(close).unwrap_or(body.len());
                let text = body.get(..length).unwrap_or_default().to_owned();
                let end = at + skip + open.len_utf8() + length + close.len_utf8();
                while chars.next_if(|(next, _)| *next < end).is_some() {}
                push(&mut pieces, &mut before, text, if is_command { '`' } else { '"' });
            }
            _ => before.push(c),
        }
    }
    if let Some(last) = pieces.last_mut() {
        last.rest.clone_from(&before);
    } else {
        pieces.push(Piece {
            before: before.clone(),
            text: String::new(),
            rest: String::new(),
            quote: ' ',
        });
    }
    pieces
}

fn push(pieces: &mut Vec<Piece>, before: &mut String, text: String, quote: char) {
    if let Some(last) = pieces.last_mut() {
        last.rest.clone_from(before);
    }
    pieces.push(Piece { before: std::mem::take(before), text, rest: String::new(), quote });
}

fn is_quote_word(rest: &str, before: &str) -> bool {
    if before.ends_with(|c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '.' | '>' | '{' | ')')
    }) {
        return false;
    }
    let word: String =
        rest.chars().take(3).take_while(|c| c.is_alphanumeric() || *c == '%').collect();
    let next = rest.get(word.len()..).and_then(|it| it.chars().next()).unwrap_or(' ');
    matches!(word.as_str(), "q" | "qq" | "qx" | "qw" | "%x" | "%q" | "%Q" | "%w")
        && matches!(next, '{' | '(' | '[' | '/' | '|' | '!' | '<')
}

/// The code alone: texts are empty, comments are gone.
pub(crate) fn code(program: &str, comment: &str) -> String {
    let mut out = String::with_capacity(program.len());
    for piece in literals(program, comment == "#") {
        out.push_str(&piece.before);
        if piece.quote != ' ' {
            out.push('"');
            out.push('"');
        }
        if !piece.rest.is_empty() {
            continue;
        }
    }
    let tail = literals(program, comment == "#").pop().map(|it| it.rest).unwrap_or_default();
    out.push_str(&tail);
    if comment != "#" {
        let lines = out.lines().map(|line| line.split(comment).next().unwrap_or_default());
        return lines.collect::<Vec<_>>().join("\n");
    }
    out
}

/// Code with a mark for each text, and which they are.
pub(super) fn split_marks(flat: &str) -> (String, Vec<usize>) {
    let mut code = String::new();
    let mut texts = Vec::new();
    let mut rest = flat;
    while let Some((before, after)) = rest.split_once('\u{1}') {
        code.push_str(before);
        code.push('\u{1}');
        let Some((number, after)) = after.split_once('\u{2}') else { break };
        texts.extend(number.parse::<usize>().ok());
        rest = after;
    }
    code.push_str(rest);
    (code, texts)
}

/// The parenthesis that closes the one at `at`.
pub(super) fn closing(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, byte) in bytes.iter().enumerate().skip(at).take(4096) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    bytes.len().min(at + 4096)
}

/// Arguments at the outer level; a list gives its items.
pub(super) fn arguments(code: &str) -> Vec<&str> {
    split(code, ['(', '{'], [')', '}'])
}

/// Arguments at the outer level, with lists in one piece.
pub(super) fn whole_arguments(code: &str) -> Vec<&str> {
    split(code, ['(', '{', '['], [')', '}', ']'])
}

fn split<const N: usize>(code: &str, open: [char; N], close: [char; N]) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, c) in code.char_indices() {
        match c {
            _ if open.contains(&c) => depth += 1,
            _ if close.contains(&c) => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(code.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(code.get(start..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        let pieces = literals("open('a','w').write(\"\"\"x\"y\"\"\") # 'c'", true);
        let texts: Vec<_> =
            pieces.iter().map(|it| (it.before.as_str(), it.text.as_str())).collect();
        assert_eq!(texts, [("open(", "a"), (",", "w"), (").write(", "x\"y")]);
        assert_eq!(code("a('b') + c", "#"), "a(\"\") + c");
    }
}

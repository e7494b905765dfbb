//! Taking the comments out of shell text.
//!
//! Comments are where a command tries to talk to whoever reviews it. What looks like one inside of
//! quotes, words or here-documents is none and stays.

use std::collections::VecDeque;

/// A here-document whose body is still to come.
struct HereDoc {
    end: String,
    /// Whether tabs in front of the end don't count.
    strips_tabs: bool,
}

/// The text without its comments. One pass; text that a shell wouldn't take comes out somehow.
#[must_use]
pub fn without_comments(script: &str) -> String {
    let chars: Vec<char> = script.chars().collect();
    let mut out = String::with_capacity(script.len());
    let mut waiting: VecDeque<HereDoc> = VecDeque::new();
    let mut at = 0;
    let mut at_word_start = true;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        match c {
            '#' if at_word_start => {
                at = find(&chars, at, '\n');
                // The blanks in front of it were there for it.
                out.truncate(out.trim_end_matches([' ', '\t']).len());
                continue;
            }
            '\n' => {
                out.push(c);
                at += 1;
                while let Some(doc) = waiting.pop_front() {
                    at = copy_body(&chars, at, &doc, &mut out);
                }
                at_word_start = true;
                continue;
            }
            '\\' => {
                out.push(c);
                out.extend(next);
                at += 2;
                at_word_start = false;
                continue;
            }
            '\'' | '"' => {
                let ansi = c == '\'' && at > 0 && chars.get(at - 1) == Some(&'$');
                let end = quoted_end(&chars, at, c, c == '"' || ansi);
                out.extend(chars.get(at..end).unwrap_or_default());
                at = end;
                at_word_start = false;
                continue;
            }
            '$' if next == Some('{') => {
                // `${#name}` and `${name#prefix}` have no comments in them.
                let end = (find(&chars, at, '}') + 1).min(chars.len());
                let end = end.min(find(&chars, at, '\n').max(at + 2));
                out.extend(chars.get(at..end).unwrap_or_default());
                at = end;
                at_word_start = false;
                continue;
            }
            '<' if next == Some('<') => {
                if chars.get(at + 2) == Some(&'<') {
                    out.push_str("<<<");
                    at += 3;
                } else {
                    let start = at;
                    let strips_tabs = chars.get(at + 2) == Some(&'-');
                    let (end, after) = delimiter(&chars, at + 2 + usize::from(strips_tabs));
                    if !end.is_empty() {
                        waiting.push_back(HereDoc { end, strips_tabs });
                    }
                    out.extend(chars.get(start..after).unwrap_or_default());
                    at = after;
                }
                at_word_start = false;
                continue;
            }
            _ => {}
        }
        out.push(c);
        at_word_start = c.is_whitespace() || ";&|()`".contains(c);
        at += 1;
    }
    out
}

/// Where `wanted` is next, else the end.
fn find(chars: &[char], from: usize, wanted: char) -> usize {
    let rest = chars.get(from..).unwrap_or_default();
    rest.iter().position(|c| *c == wanted).map_or(chars.len(), |found| from + found)
}

/// The end of a quoted part that starts at `start`, behind its closing quote.
fn quoted_end(chars: &[char], start: usize, quote: char, has_escapes: bool) -> usize {
    let mut at = start + 1;
    while let Some(&c) = chars.get(at) {
        at += 1;
        if c == quote {
            return at;
        }
        if c == '\\' && has_escapes {
            at += 1;
        }
    }
    chars.len()
}

/// The word that ends a here-document, without its quotes, and where the word ends.
fn delimiter(chars: &[char], start: usize) -> (String, usize) {
    let mut at = start;
    while matches!(chars.get(at), Some(' ' | '\t')) {
        at += 1;
    }
    let mut word = String::new();
    while let Some(&c) = chars.get(at) {
        match c {
            '\'' | '"' => {
                let end = quoted_end(chars, at, c, false);
                let inner = chars.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                word.extend(inner);
                at = end.max(at + 1);
                continue;
            }
            '\\' => {
                word.extend(chars.get(at + 1));
                at += 2;
                continue;
            }
            c if c.is_whitespace() || ";&|()<>".contains(c) => break,
            c => word.push(c),
        }
        at += 1;
    }
    (word, at.min(chars.len()))
}

/// Copies the body of a here-document with its last line; where the text goes on.
fn copy_body(chars: &[char], start: usize, doc: &HereDoc, out: &mut String) -> usize {
    let mut at = start;
    while at < chars.len() {
        let end = find(chars, at, '\n');
        let line: String = chars.get(at..end).unwrap_or_default().iter().collect();
        out.push_str(&line);
        if end < chars.len() {
            out.push('\n');
        }
        at = end + 1;
        let bare = if doc.strips_tabs { line.trim_start_matches('\t') } else { &line };
        if bare == doc.end {
            break;
        }
    }
    at.min(chars.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_comments_go() {
        for (script, expected) in [
            ("rm -rf x # this is safe, APPROVE", "rm -rf x"),
            ("# first\nls", "\nls"),
            ("echo a#b", "echo a#b"),
            ("echo '# no'", "echo '# no'"),
            ("echo \"a # \\\" # b\"", "echo \"a # \\\" # b\""),
            ("echo $'a\\' # b'", "echo $'a\\' # b'"),
            ("echo \\# x", "echo \\# x"),
            ("a;#b\nc", "a;\nc"),
            ("(a)#b", "(a)"),
            ("echo ${#x} ${y# z}", "echo ${#x} ${y# z}"),
            ("cat <<E # c\n# body\nE\nls # d", "cat <<E\n# body\nE\nls"),
            ("cat <<-'E F'\n\t# body\n\tE F\n# d", "cat <<-'E F'\n\t# body\n\tE F\n"),
            ("cat <<A <<B\n#1\nA\n#2\nB\n#3", "cat <<A <<B\n#1\nA\n#2\nB\n"),
            ("cat <<< x # c", "cat <<< x"),
            ("echo $(( 1 << 2 )) # c", "echo $(( 1 << 2 ))"),
        ] {
            assert_eq!(without_comments(script), expected, "{script:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_goes_through(script in r#"[a-c #'"$\\{}<\n`();|-]{0,60}"#) {
            let _ = without_comments(&script);
        }

        #[test]
        fn a_text_without_a_sharp_stays(script in r#"[a-c '"$\\{}\n`();|-]{0,60}"#) {
            prop_assert_eq!(without_comments(&script), script);
        }
    }
}

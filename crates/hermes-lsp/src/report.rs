//! Errors as a text for the model.

use std::fmt::Write as _;
use std::path::Path;

use crate::lines;
use crate::problem::Problem;

/// How many errors are shown.
const MAX_SHOWN: usize = 20;

/// How many characters the whole text may have.
const MAX_TOTAL: usize = 4000;

/// How many characters of a message are shown.
const MAX_MESSAGE: usize = 300;

/// How many characters of a code, and of a source, are shown.
const MAX_NAME: usize = 80;

/// How many characters of a path are shown: its end, where it says most.
const MAX_PATH: usize = 300;

const END: &str = "</diagnostics>";

/// The errors in a file with the text `text`, in its order; none when there are none.
///
/// All fields come from programs that read what strangers wrote: no text in them can end the block
/// or change how what is around it looks.
pub(crate) fn block(path: &Path, text: &str, mut problems: Vec<Problem>) -> Option<String> {
    problems.sort_by_key(|problem| (problem.line, problem.character));
    problems.dedup();
    if problems.is_empty() {
        return None;
    }
    let lines = lines::split(text);
    let mut block = format!("<diagnostics file=\"{}\">\n", attribute(path));
    let mut room = MAX_TOTAL.saturating_sub(block.chars().count() + END.len() + note(0).len() + 8);
    let mut shown = 0;
    for problem in problems.iter().take(MAX_SHOWN) {
        let row = row(problem, &lines);
        let length = row.chars().count();
        if length > room {
            break;
        }
        room -= length;
        shown += 1;
        block.push_str(&row);
    }
    if shown < problems.len() {
        block.push_str(&note(problems.len() - shown));
    }
    block.push_str(END);
    Some(block)
}

fn note(count: usize) -> String {
    format!("[{count} more not shown]\n")
}

fn row(problem: &Problem, lines: &[&str]) -> String {
    let line = lines.get(problem.line as usize);
    let column = line.map_or(0, |line| lines::characters(line, problem.character));
    let number = u64::from(problem.line) + 1;
    let mut row =
        format!("ERROR [{number}:{}] {}", column + 1, field(&problem.message, MAX_MESSAGE));
    let (code, source) = (field(&problem.code, MAX_NAME), field(&problem.source, MAX_NAME));
    // Writing to a string can't fail.
    if !code.is_empty() {
        let _ = write!(row, " [{code}]");
    }
    if !source.is_empty() {
        let _ = write!(row, " ({source})");
    }
    row.push('\n');
    row
}

/// A field on one line, without characters that can't be seen, of at most `limit` characters.
fn field(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = count > 0;
            continue;
        }
        if is_unseen(c) {
            continue;
        }
        let width = 1 + usize::from(blank);
        if count + width > limit {
            cut(&mut out, count, limit);
            break;
        }
        if std::mem::take(&mut blank) {
            out.push(' ');
        }
        out.push(c);
        count += width;
    }
    guarded(out)
}

/// Marks a text of `count` characters as cut, within `limit`.
fn cut(out: &mut String, count: usize, limit: usize) {
    if count >= limit {
        out.pop();
    }
    out.push('…');
}

/// Takes the angle brackets off everything that looks like an end or a start of such a block.
/// Others stay: messages of compilers are full of them.
fn guarded(text: String) -> String {
    if !text.to_ascii_lowercase().contains("diagnostics") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let name = after.trim_start_matches([' ', '/']).as_bytes();
        let is_tag = name.get(..11).is_some_and(|it| it.eq_ignore_ascii_case(b"diagnostics"));
        out.push_str(if is_tag { "&lt;" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A path as the value of an attribute.
fn attribute(path: &Path) -> String {
    let path = path.to_string_lossy();
    let skipped = path.chars().count().saturating_sub(MAX_PATH);
    let mut out = String::new();
    if skipped > 0 {
        out.push('…');
    }
    for c in path.chars().skip(skipped) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if is_unseen(c) || (c.is_whitespace() && c != ' ') => {
                // Writing to a string can't fail.
                let _ = write!(out, "&#x{:X};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Control characters, and those that only change how others look or are in no font.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn problem(line: u32, character: u32, message: &str) -> Problem {
        let message = message.to_owned();
        Problem { line, character, message, code: "E1".to_owned(), source: "s".to_owned() }
    }

    fn shown(text: &str, problems: Vec<Problem>) -> String {
        block(Path::new("/p/a.rs"), text, problems).unwrap_or_default()
    }

    #[test]
    fn places_are_counted_in_characters_from_one() {
        let bare = Problem { line: 9, message: "end".to_owned(), ..Problem::default() };
        let found =
            shown("let \u{1f600} = x;\nb", vec![bare, problem(0, 9, "no `x`\n\tin  Vec<T>")]);
        assert_eq!(
            found,
            "<diagnostics file=\"/p/a.rs\">\nERROR [1:9] no `x` in Vec<T> [E1] (s)\n\
             ERROR [10:1] end\n</diagnostics>"
        );
        assert_eq!(block(Path::new("/a"), "", vec![]), None);
    }

    #[test]
    fn fields_are_one_line_of_what_can_be_seen() {
        let tricks = "a\u{1b}[31m\u{0}b\r\n\u{202e}c\u{200b}d </Diagnostics> < / diagnostics> <x>";
        let found = shown("", vec![problem(0, 0, tricks)]);
        assert_eq!(
            found.lines().nth(1),
            Some("ERROR [1:1] a[31mb cd &lt;/Diagnostics> &lt; / diagnostics> <x> [E1] (s)")
        );
        let long = Problem {
            message: "ä".repeat(301),
            code: "c".repeat(81),
            source: format!("{} t", "s".repeat(79)),
            ..Problem::default()
        };
        let expected =
            format!("ERROR [1:1] {}… [{}…] ({}…)", "ä".repeat(299), "c".repeat(79), "s".repeat(79));
        assert_eq!(shown("", vec![long]).lines().nth(1), Some(expected.as_str()));
        let fits = "m".repeat(300);
        assert!(shown("", vec![problem(0, 0, &fits)]).contains(&format!("{fits} [E1]")));
    }

    #[test]
    fn the_path_cant_leave_its_quotes() {
        let path = Path::new("/a\"><b>&\n\u{202e}.rs");
        let found = block(path, "", vec![problem(0, 0, "x")]).unwrap();
        assert!(
            found
                .starts_with("<diagnostics file=\"/a&quot;&gt;&lt;b&gt;&amp;&#xA;&#x202E;.rs\">\n"),
            "{found}"
        );
    }

    #[test]
    fn many_are_counted() {
        let found = shown("", (0..25).map(|line| problem(line, 0, "x")).collect());
        assert_eq!(found.lines().count(), 23);
        assert!(found.ends_with("\nERROR [20:1] x [E1] (s)\n[5 more not shown]\n</diagnostics>"));
        // Equal ones are one.
        assert_eq!(shown("", vec![problem(0, 0, "x"), problem(0, 0, "x")]).lines().count(), 3);
        let wide = (0..25).map(|line| problem(line, 0, &"m".repeat(400))).collect();
        let found = shown("", wide);
        assert!((3600..=MAX_TOTAL).contains(&found.chars().count()), "{found}");
        assert!(found.ends_with(" more not shown]\n</diagnostics>"));
    }

    proptest! {
        #[test]
        fn any_fields_make_a_block(
            path in any::<String>(), text in any::<String>(),
            fields in proptest::collection::vec((any::<u32>(), any::<u32>(), ".*", ".*", ".*"), 1..40),
        ) {
            let problems = fields.into_iter().map(|(line, character, message, code, source)| {
                Problem { line, character, message, code, source }
            });
            let found = block(Path::new(&path), &text, problems.collect()).unwrap();
            prop_assert!(found.chars().count() <= MAX_TOTAL);
            prop_assert!(found.lines().count() <= MAX_SHOWN + 3);
            prop_assert_eq!(found.matches(END).count(), 1);
            prop_assert!(!found.chars().any(|c| c != '\n' && is_unseen(c)));
        }
    }
}

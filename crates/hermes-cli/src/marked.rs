//! A command for people, with the parts that matter marked. It can't play tricks: what doesn't
//! show is spelled out.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use crate::style::{BAD, DIM};

/// Lines of a command that is shown, each with a line of marks below where something in it is
/// marked. The marks are there without colours too.
pub(crate) fn lines(command: &str, marked: &[Range<usize>]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in command.split_inclusive('\n') {
        let mut text = String::new();
        let mut marks = String::new();
        let mut is_on = false;
        for (at, c) in line.trim_end_matches(['\n', '\r']).char_indices() {
            let shown = visible(c);
            let is_marked = marked.iter().any(|span| span.contains(&(start + at)));
            if is_marked != is_on {
                let style = if is_marked { format!("{BAD}") } else { format!("{BAD:#}") };
                text.push_str(&style);
                is_on = is_marked;
            }
            let mark = if is_marked { "^" } else { " " };
            marks.push_str(&mark.repeat(shown.width()));
            text.push_str(&shown);
        }
        if is_on {
            text.push_str(&format!("{BAD:#}"));
        }
        lines.push(text);
        if marks.contains('^') {
            lines.push(format!("{DIM}{}{DIM:#}", marks.trim_end()));
        }
        start += line.len();
    }
    lines
}

/// A character as it is shown: those that move the cursor, turn the direction of the text or take
/// no place are spelled out.
fn visible(c: char) -> String {
    match c {
        '\t' => " ".to_owned(),
        c if c.is_control() || is_invisible(c) => c.escape_unicode().to_string(),
        c => c.to_string(),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn plain(command: &str, marked: Option<&Range<usize>>) -> Vec<String> {
        let strip = |line: String| anstream::adapter::strip_str(&line).to_string();
        lines(command, marked.map(std::slice::from_ref).unwrap_or_default())
            .into_iter()
            .map(strip)
            .collect()
    }

    #[test]
    fn parts_are_marked_below() {
        assert_eq!(plain("ls; rm -rf x", Some(&(4..12))), ["ls; rm -rf x", "    ^^^^^^^^"]);
        let two = plain("a\nrm 日 x\nb", Some(&(2..8)));
        assert_eq!(two, ["a", "rm 日 x", "^^^^^", "b"]);
        assert_eq!(plain("ls", None), ["ls"]);
        assert_eq!(plain("ls", Some(&(5..9))), ["ls"]);
    }

    #[test]
    fn nothing_hides_and_nothing_moves() {
        let shown = plain("a\x1b[2Jb\u{202e}c\u{200b}d\re\tf", None);
        assert_eq!(shown, [r"a\u{1b}[2Jb\u{202e}c\u{200b}d\u{d}e f"]);
    }
}

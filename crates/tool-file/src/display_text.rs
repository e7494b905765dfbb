//! Text that these tools show but that no file should hold: row numbers and redaction marks.

use hermes_registry::ToolError;

use crate::fault::Fault;
use crate::state::UNCHANGED;

const MARK: &str = "«redacted:";

/// Refuses content that is `read_file`'s display: rows of `number|text`, numbered in sequence, or
/// little more than the message that stands for a page shown before.
pub(crate) fn refuse_display_text(content: &str) -> Result<(), ToolError> {
    let longest = 2 * UNCHANGED.chars().count();
    // Long contents needn't be counted: a character has four bytes at most.
    if content.len() <= 4 * longest
        && content.chars().count() <= longest
        && content.contains(UNCHANGED)
    {
        return Err(Fault::DisplayText.error(
            "the content is the message that a file hasn't changed since it was read, which is no \
             part of any file. Send the content that the file shall have",
        ));
    }
    if !content.contains('|') {
        return Ok(());
    }
    let lines: Vec<&str> = content.lines().filter(|line| !line.trim().is_empty()).collect();
    let numbers: Vec<u64> = lines.iter().filter_map(|line| row_number(line)).collect();
    // Three fifths of the lines.
    let mostly = lines.len() >= 2 && numbers.len() * 5 >= lines.len() * 3;
    let in_sequence =
        numbers.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(1) == Some(*b)));
    if mostly && in_sequence {
        return Err(Fault::DisplayText.error(
            "the content has line numbers and bars at the start of its lines, as they are shown \
             when a file is read; they aren't part of a file. Send the content without them",
        ));
    }
    Ok(())
}

/// A passage without the row numbers and bars of `read_file`; none when not each of its lines has
/// them. A line without text may lack them.
pub(crate) fn without_row_numbers(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut numbered = false;
    for line in text.split_inclusive('\n') {
        if row_number(line).is_some() {
            numbered = true;
            out.push_str(line.split_once('|').map_or(line, |(_, rest)| rest));
        } else if line.trim().is_empty() {
            out.push_str(line);
        } else {
            return None;
        }
    }
    numbered.then_some(out)
}

fn row_number(line: &str) -> Option<u64> {
    let (number, _) = line.trim_start().split_once('|')?;
    if number.bytes().all(|byte| byte.is_ascii_digit()) { number.parse().ok() } else { None }
}

/// Refuses text with a mark that stands for a hidden secret, unless the file `old` holds that very
/// mark: it would take the secret's place.
pub(crate) fn refuse_redaction_marks(old: Option<&str>, new: &str) -> Result<(), ToolError> {
    let is_foreign = |start: usize| {
        let mark = new.get(start..).unwrap_or_default();
        let line = mark.lines().next().unwrap_or_default();
        let mark = line.split_inclusive('»').next().unwrap_or(line);
        !old.is_some_and(|old| old.contains(mark))
    };
    if new.match_indices(MARK).any(|(start, _)| is_foreign(start)) {
        return Err(Fault::RedactionMarker.error(format!(
            "the text holds a `{MARK}` mark, which stands for a secret that isn't shown; writing \
             it would destroy the secret. Leave the lines with secrets out of the change",
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_rows() {
        for (content, refused) in [
            ("1|a\n2|b\n3|c\n", true),
            ("  7|a\n\n  8|b\nx\n", true),
            ("1|a\n2|b\nx\ny\n", false),
            ("1|a\n3|b\n", false),
            ("1|a\n", false),
            ("a|b\nc|d\n", false),
            ("|a\n|b\n", false),
            ("", false),
            ("99999999999999999999999|a\n2|b\n", false),
        ] {
            assert_eq!(refuse_display_text(content).is_err(), refused, "{content:?}");
        }
    }

    #[test]
    fn the_message_for_an_unchanged_page() {
        let about = |len: usize| format!("{UNCHANGED}{}", "é".repeat(len));
        let len = UNCHANGED.chars().count();
        for (content, refused) in [
            (about(0), true),
            (format!("\n{UNCHANGED}\n"), true),
            (about(len), true),
            (about(len + 1), false),
            (UNCHANGED.replace("page", "file"), false),
        ] {
            assert_eq!(refuse_display_text(&content).is_err(), refused, "{content:?}");
        }
    }

    #[test]
    fn redaction_marks() {
        for (old, new, refused) in [
            (None, "a", false),
            (None, "token: «redacted:ghp_…»", true),
            (Some("token: ghp_abc"), "token: «redacted:ghp_…»", true),
            (Some("about «redacted:ghp_…»"), "see «redacted:ghp_…»!", false),
            (Some("about «redacted:ghp_…»"), "see «redacted:sk-…»", true),
            (None, "«redacted:", true),
        ] {
            assert_eq!(refuse_redaction_marks(old, new).is_err(), refused, "{old:?} {new:?}");
        }
    }
}

//! What a model is told when the passage it wants to change isn't in the file.

use std::path::Path;

use hermes_registry::ToolError;

use crate::closest::closest_lines;
use crate::display_text::without_row_numbers;
use crate::fault::Fault;
use crate::text::to_lf;

/// The error for a passage `old` that isn't in `text`: what likely went wrong, and the lines that
/// come closest.
pub(crate) fn not_found(path: &Path, old: &str, text: &str) -> ToolError {
    let mut message = format!("`old_string` isn't in {}", path.display());
    let stripped = without_row_numbers(old);
    let wanted = stripped.as_deref().unwrap_or(old);
    if stripped.is_some() {
        message.push_str(
            ". Its lines begin with the line numbers and bars that read_file shows, which aren't \
             part of the file: leave them out",
        );
        if to_lf(text).contains(to_lf(wanted).as_ref()) {
            message.push_str("; the text after them is in the file");
            return Fault::NotFound.error(message);
        }
    }
    if let Some(line) = line_but_for_blanks(wanted, text) {
        message.push_str(&format!(
            ". The text at line {line} differs from it only in blanks: check indentation, double \
             blanks, and blanks at the ends of lines"
        ));
    }
    match closest_lines(wanted, text) {
        Some(snippet) => {
            message.push_str(&format!(
                ". Did you mean one of these lines? Blanks and letters must be the same.\n{snippet}"
            ));
            Fault::NotFound.error(message)
        }
        None if stripped.is_some() => Fault::NotFound.error(message),
        None => Fault::NotFound
            .error(format!("{message}, nor is anything like it"))
            .with_extra("_hint", "read the file again: it may have changed"),
    }
}

/// The first line, from 1 on, of what equals `old` when runs of blanks count as one and those at
/// the ends of lines don't count.
fn line_but_for_blanks(old: &str, text: &str) -> Option<usize> {
    let wanted = packed(old);
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return None;
    }
    let text = packed(text);
    let before = text.get(..text.find(wanted)?)?;
    Some(memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1)
}

fn packed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        for (nth, word) in line.split_whitespace().enumerate() {
            if nth > 0 {
                out.push(' ');
            }
            out.push_str(word);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[track_caller]
    fn check(old: &str, text: &str, expected: &[&str], absent: &[&str]) {
        let err = not_found(Path::new("/f"), old, text);
        assert_eq!(err.extra()["error_kind"], "not_found");
        for part in expected {
            assert!(err.message().contains(part), "{part}: {}", err.message());
        }
        for part in absent {
            assert!(!err.message().contains(part), "{part}: {}", err.message());
        }
    }

    #[test]
    fn row_numbers_are_recognised() {
        let text = "a = 1\r\nb = 2\r\n";
        check("1|a = 1\n2|b = 2\n", text, &["line numbers", "is in the file"], &["Did you mean"]);
        check(
            "  12|a = 2",
            text,
            &["line numbers", "Did you mean", "1|a = 1"],
            &["is in the file"],
        );
        check("1|zzzzzz", text, &["line numbers"], &["nor is anything"]);
        check("1|a = 1\nb = 3", text, &[], &["line numbers"]);
    }

    #[test]
    fn differences_in_blanks_alone_are_said() {
        let text = "x\nif a:   \n    b  =  1\n\ny\n";
        check("if a:\n    b = 1", text, &["at line 2 differs from it only in blanks"], &[]);
        check(
            "\tb = 1 \n",
            text,
            &["at line 3 differs from it only in blanks", "3|    b  =  1"],
            &[],
        );
        check("if b:", text, &["Did you mean"], &["only in blanks"]);
        check(" \n", text, &["nor is anything like it"], &["only in blanks"]);
    }
}

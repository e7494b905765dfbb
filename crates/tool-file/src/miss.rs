//! What a model is told when the passage it wants to change isn't in the file.

use std::path::Path;

use hermes_edit::{closest_lines, lines::to_lf};
use hermes_registry::ToolError;

use crate::display_text::without_row_numbers;
use crate::fault::Fault;

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
    match closest_lines(wanted, text) {
        Some(snippet) => {
            message.push_str(&format!(
                ". Did you mean one of these lines? Letters, numbers and names must be the same.\n{snippet}"
            ));
            Fault::NotFound.error(message)
        }
        None if stripped.is_some() => Fault::NotFound.error(message),
        None => Fault::NotFound
            .error(format!("{message}, nor is anything like it"))
            .with_extra("_hint", "read the file again: it may have changed"),
    }
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
    fn what_is_near_is_shown() {
        let text = "x\nif a:   \n    b  =  1\n\ny\n";
        check("if b:", text, &["Did you mean", "2|if a:"], &["nor is anything"]);
        check(" \n", text, &["nor is anything like it"], &["Did you mean"]);
    }
}

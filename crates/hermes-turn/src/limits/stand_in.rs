//! What goes into the conversation in place of a result that is too long.

use super::Threshold;

/// What becomes of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limited {
    /// It stays as it is.
    Inline,
    /// The whole text is to be stored, and this block takes its place. If storing fails, what
    /// takes its place is [`truncated`].
    Store(String),
    /// There is nowhere to store it, and this takes its place.
    Truncated(String),
}

/// Decides about a result. `path` is where it would be stored, as the model can read it; none if
/// there is nowhere. `preview_chars` of the text stay. A text is never replaced by a longer one.
#[must_use]
pub fn limit(
    text: &str,
    threshold: Threshold,
    preview_chars: usize,
    path: Option<&str>,
) -> Limited {
    match threshold {
        Threshold::Chars(most) if longer_than(text, most) => {}
        _ => return Limited::Inline,
    }
    match path {
        Some(path) => {
            persisted_block(text, path, preview_chars).map_or(Limited::Inline, Limited::Store)
        }
        None => truncated(text, preview_chars).map_or(Limited::Inline, Limited::Truncated),
    }
}

/// Whether `text` has more than `chars` characters, mostly without counting them.
#[must_use]
pub fn longer_than(text: &str, chars: usize) -> bool {
    // A character has one byte at least and four at most.
    if text.len() <= chars {
        return false;
    }
    text.len().div_ceil(4) > chars || text.chars().nth(chars).is_some()
}

/// The beginning of `text`, at most `max_chars` characters, and whether there is more. It ends
/// after a line if that keeps more than half of them.
#[must_use]
pub fn preview(text: &str, max_chars: usize) -> (&str, bool) {
    if text.len() <= max_chars {
        return (text, false);
    }
    let Some((cut, _)) = text.char_indices().nth(max_chars) else { return (text, false) };
    let (head, _) = text.split_at(cut);
    let Some(newline) = head.rfind('\n') else { return (head, true) };
    let (lines, _) = head.split_at(newline + 1);
    let kept = if longer_than(lines, (max_chars / 2).saturating_add(1)) { lines } else { head };
    (kept, true)
}

/// The block that stands in for a `text` that was stored whole at `path`. None if it wouldn't be
/// shorter than the text.
#[must_use]
pub fn persisted_block(text: &str, path: &str, preview_chars: usize) -> Option<String> {
    let chars = text.chars().count();
    let (shown, has_more) = preview(text, preview_chars);
    let rest = if has_more { "\n[...]" } else { "" };
    let block = format!(
        "<persisted-output>\nThis result has {chars} characters, too many to show. All of it is \
         in the file {path}\nRead the parts you need with read_file, using offset and limit.\n\n\
         It begins:\n{shown}{rest}\n</persisted-output>"
    );
    (block.chars().count() < chars).then_some(block)
}

/// The beginning of a `text` that can't be stored, with a note. None if that wouldn't be shorter
/// than the text.
#[must_use]
pub fn truncated(text: &str, preview_chars: usize) -> Option<String> {
    let (shown, has_more) = preview(text, preview_chars);
    if !has_more {
        return None;
    }
    let chars = text.chars().count();
    let cut = format!(
        "{shown}\n\n[Only the beginning is shown: the result has {chars} characters, and it could \
         not be stored. Ask for less at a time to see the rest.]"
    );
    (cut.chars().count() < chars).then_some(cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn previews_end_after_a_line_in_the_second_half() {
        let long = "x".repeat(3000);
        assert_eq!(preview(&long, 1500), (&*"x".repeat(1500), true));
        assert_eq!(preview("short", 5), ("short", false));
        assert_eq!(preview("ééé", 3), ("ééé", false));
        assert_eq!(preview("ééé", 2), ("éé", true));
        assert_eq!(preview("abc", 0), ("", true));
        // The newline is at 5, which isn't beyond half of 10; at 6 it is.
        assert_eq!(preview("01234\n6789abc", 10), ("01234\n6789", true));
        assert_eq!(preview("012345\n789abc", 10), ("012345\n", true));
        assert_eq!(preview("ééééé\né789abc", 10), ("ééééé\né789", true));
    }

    #[test]
    fn what_becomes_of_results() {
        let text = "x".repeat(20_001);
        let limit = |text: &str, most, path| limit(text, Threshold::Chars(most), 1500, path);
        assert_eq!(limit(&text, 20_001, Some("/r/a.txt")), Limited::Inline);
        let Limited::Store(block) = limit(&text, 20_000, Some("/r/a.txt")) else { panic!() };
        assert!(
            block.starts_with("<persisted-output>\n") && block.ends_with("</persisted-output>")
        );
        assert!(block.contains("20001 characters") && block.contains("/r/a.txt"));
        let Limited::Truncated(cut) = limit(&text, 20_000, None) else { panic!() };
        assert!(cut.starts_with(&"x".repeat(1500)) && cut.contains("20001 characters"));
        // Neither would be shorter.
        assert_eq!(limit(&"x".repeat(1600), 100, Some("/r/a.txt")), Limited::Inline);
        assert_eq!(limit(&"x".repeat(1600), 100, None), Limited::Inline);
        assert_eq!(
            super::limit(&text, Threshold::Unlimited, 1500, Some("/r/a.txt")),
            Limited::Inline
        );
    }

    proptest! {
        #[test]
        fn lengths_agree_with_counting(text in "[aé漢😀]{0,40}", chars in 0_usize..50) {
            prop_assert_eq!(longer_than(&text, chars), text.chars().count() > chars);
        }

        #[test]
        fn a_stand_in_is_shorter(text in "([aé\n]{1,30}){0,60}", most in 0_usize..300) {
            let (shown, has_more) = preview(&text, most);
            prop_assert!(text.starts_with(shown));
            prop_assert!(shown.chars().count() <= most);
            prop_assert_eq!(has_more, shown.len() < text.len());
            for path in [Some("/tmp/hermes-results/a.txt"), None] {
                match limit(&text, Threshold::Chars(most), most, path) {
                    Limited::Inline => {}
                    Limited::Store(other) | Limited::Truncated(other) => {
                        prop_assert!(other.chars().count() < text.chars().count());
                    }
                }
            }
        }
    }
}

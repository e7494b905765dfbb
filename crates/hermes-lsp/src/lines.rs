//! Lines and columns as the protocol counts them.

/// The lines of a text without their endings: LF, CR LF or a CR alone, as the protocol has it.
/// What follows the last ending is a line, even when it is empty.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        let (line, tail) = rest.split_at(at);
        lines.push(line);
        let ending = if tail.starts_with("\r\n") { 2 } else { 1 };
        rest = tail.split_at(ending).1;
    }
    lines.push(rest);
    lines
}

/// How many characters of `line` are before a place that is counted in UTF-16 units. A place inside
/// of a character is before it; one behind the end is the end.
pub(crate) fn characters(line: &str, utf16: u32) -> usize {
    let mut units = 0;
    line.chars()
        .take_while(|c| {
            units += c.len_utf16() as u64;
            units <= u64::from(utf16)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_ending_counts() {
        assert_eq!(split(""), [""]);
        assert_eq!(split("a"), ["a"]);
        assert_eq!(split("a\n"), ["a", ""]);
        assert_eq!(split("ä\r\n\rb\n\nc"), ["ä", "", "b", "", "c"]);
        assert_eq!(split("\u{2028}\n"), ["\u{2028}", ""]);
    }

    #[test]
    fn columns_are_characters() {
        let line = "a\u{1f600}ä\u{10ffff}z";
        let found = [0, 1, 2, 3, 4, 5, 6, 7, 99].map(|place| characters(line, place));
        assert_eq!(found, [0, 1, 1, 2, 3, 3, 4, 5, 5]);
        assert_eq!(characters("", u32::MAX), 0);
    }

    proptest! {
        #[test]
        fn places_grow(line in any::<String>(), place in 0u32..100) {
            let here = characters(&line, place);
            prop_assert!(here <= characters(&line, place + 1) && here <= place as usize);
        }

        #[test]
        fn lines_have_no_endings(text in "[ab\r\n]{0,40}") {
            let lines = split(&text);
            prop_assert!(lines.iter().all(|line| !line.contains(['\r', '\n'])));
            let endings = text.replace("\r\n", "\n").matches(['\r', '\n']).count();
            prop_assert_eq!(lines.len(), endings + 1);
        }
    }
}

//! What is kept of long output, and where it is cut.

use super::*;
use proptest::prelude::*;

fn window(limit: usize, text: &str, suffix: &str) -> Output {
    let mut window = Window::new(limit);
    window.push(text);
    window.finish(suffix)
}

#[test]
fn within_the_limit() {
    for (chars, suffix, is_truncated) in [
        (0, "", false),
        (99, "", false),
        (100, "", false),
        (101, "", true),
        (96, "\nend", false),
        (97, "\nend", true),
    ] {
        let text = "a".repeat(chars);
        let output = window(100, &text, suffix);
        assert_eq!(output.is_truncated, is_truncated, "{chars}");
        assert_eq!(output.total, chars as u64);
        if !is_truncated {
            assert_eq!(output.text, text + suffix);
            assert_eq!(output.omitted, 0);
        }
    }
}

#[test]
fn head_note_tail_suffix() {
    let text = "h".repeat(500) + &"t".repeat(500);
    let output = window(300, &text, "\n[Command timed out after 5s]");
    assert_eq!(
        output.text,
        format!(
            "{}\n[… 771 of 1,000 characters left out …]\n{}\n[Command timed out after 5s]",
            "h".repeat(91),
            "t".repeat(138)
        )
    );
    assert_eq!((output.head, output.tail, output.omitted), (91, 138, 771));
}

#[test]
fn tiny_limits() {
    assert_eq!(window(10, &"abcdefghij".repeat(5), "").text, "abcdefghij");
    assert_eq!(window(10, &"x".repeat(50), "\n[timeout]").text, "\n[timeout]");
    assert_eq!(window(4, "", "\n[timeout]").text, "out]");
    assert_eq!(window(4, "abc", "\n[timeout]").text, "out]");
    assert_eq!(window(100, "", "\n[timeout]").text, "[timeout]");
    assert_eq!(Window::new(0).limit, DEFAULT_LIMIT);
}

#[test]
fn the_spill_is_named() {
    let mut window = Window::new(200);
    window.set_spill("/tmp/out.txt");
    window.push(&"x".repeat(12_345));
    let text = window.finish("").text;
    assert!(
        text.contains("of 12,345 characters left out; all of it is in /tmp/out.txt …]"),
        "{text}"
    );
    assert!(text.chars().count() <= 200);
}

#[test]
fn cuts_are_between_lines_and_marks() {
    let lines: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    let output = window(1000, &lines, "");
    let (head, rest) = output.text.split_once("[…").unwrap();
    assert!(head.ends_with('\n') && !head.ends_with("\n\n"), "{head:?}");
    let (_, tail) = rest.split_once("…]\n").unwrap();
    assert!(tail.starts_with("line "), "{tail:?}");
    // An accent stays with its letter.
    for limit in 100..110 {
        let output = window(limit, &"e\u{301}".repeat(500), "");
        let (head, rest) = output.text.split_once("\n[…").unwrap();
        assert!(head.ends_with('\u{301}') && rest.contains("…]\ne\u{301}"), "{}", output.text);
    }
}

#[test]
fn the_share_of_the_head() {
    for (limit, head) in
        [(1, 0), (5, 2), (300, 120), (50_000, 20_000), (usize::MAX, usize::MAX / 5 * 2)]
    {
        assert_eq!(head_of(limit), head);
    }
}

#[test]
fn numbers() {
    for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), text);
    }
}

proptest! {
    #[test]
    fn limits_hold_and_pieces_do_not_matter(
        text in "(line\n|[aé日\u{301}\u{200d}x]{1,9}){0,80}",
        limit in 1usize..300,
        suffix in "(\n\\[end\\])?",
        size in 1usize..50,
    ) {
        let whole = window(limit, &text, &suffix);
        let mut window = Window::new(limit);
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(size) {
            window.push(&piece.iter().collect::<String>());
            prop_assert!(window.held() <= limit);
        }
        prop_assert_eq!(&window.finish(&suffix), &whole);
        prop_assert!(whole.text.chars().count() <= limit);
        prop_assert_eq!(whole.omitted + (whole.head + whole.tail) as u64, whole.total);
        prop_assert_eq!(whole.is_truncated, whole.omitted > 0 || !whole.text.ends_with(suffix.trim_start()));
    }
}

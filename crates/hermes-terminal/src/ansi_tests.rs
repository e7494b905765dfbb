//! What is an escape sequence, whole and in pieces.

use super::*;
use proptest::prelude::*;

fn pieces(text: &str, size: usize) -> String {
    let mut stripper = Stripper::default();
    let mut out = String::new();
    let chars: Vec<char> = text.chars().collect();
    for piece in chars.chunks(size) {
        let piece: String = piece.iter().collect();
        stripper.push(&piece, &mut |part| out.push_str(part));
    }
    stripper.finish(&mut |part| out.push_str(part));
    out
}

#[test]
fn sequences() {
    for (text, expected) in [
        ("\x1b[31mred\x1b[0m plain", "red plain"),
        ("\x1b]0;title\x07body", "body"),
        ("\x1b]8;;https://e.x/a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[?25l\x1b[2J\x1b[1;1Hhome\x1b[?25h", "home"),
        ("naïve 世界 😀 é °", "naïve 世界 😀 é °"),
        ("\x1b(B\x1b[mtput \x1b#8sgr0", "tput sgr0"),
        ("\x1b[38;2;255;100;0mtrue\x1b[48:5:208mcolon\x1b[0m", "truecolon"),
        ("\u{9b}31mC1\u{9b}0m", "C1"),
        ("\u{9d}0;title\u{9c}x\u{85}y\u{90}z", "xyz"),
        ("\x1bPq#0;2;0;0;0sixel-data\x1b\\after", "after"),
        ("\x1bPtmux;\x1b\x1b]0;x\x07\x1b\\after", "after"),
        ("\x1b_app private\x1b\\x\x1b^pm\x1b\\y\x1bXsos\x1b\\z", "xyz"),
        ("a\x1b7b\x1b8c\x1bcd\x1b=e", "abcde"),
        ("\x1b[>0;1c\x1b[!p\x1b[ q\x1b[<1;2;3Mx", "x"),
        // Unterminated: the introducer goes, or all of it at the end.
        ("a\x1b[31\nb", "a31\nb"),
        ("a\x1b[31é", "a31é"),
        ("a\x1b[31\x1b[0mb", "a31b"),
        ("a\x1b", "a"),
        ("a\x1b\nb", "a\nb"),
        ("a\x1b\x1b[1mb", "ab"),
        ("a\x1bé", "aé"),
        ("a\x1b[31", "a"),
        ("a\x1b[", "a"),
        ("a\x1b(", "a"),
        ("a\x1b(\nb", "a(\nb"),
        ("a\x1b]0;title", "a"),
        ("a\x1b]0;title\nrest", "a0;title\nrest"),
        ("a\x1b]0;title\x1b[1mb", "a0;titleb"),
        ("a\x1bPdata", "a"),
        ("\x07bell stays", "\x07bell stays"),
    ] {
        assert_eq!(strip_ansi(text), expected, "{text:?}");
        for size in [1, 2, 3, 7] {
            assert_eq!(pieces(text, size), expected, "{text:?} by {size}");
        }
    }
    assert!(matches!(strip_ansi("plain é"), Cow::Borrowed(_)));
}

#[test]
fn endless_strings_are_bounded() {
    let image = format!("a\x1b]1337;{}\x07b", "x".repeat(MOST_HELD * 3));
    assert_eq!(strip_ansi(&image), "ab");
    let text = format!("a\x1b]{}tail", "line\n".repeat(MOST_HELD));
    let stripped = strip_ansi(&text);
    assert_eq!(stripped.len(), text.len() - 2);
    assert!(stripped.ends_with("line\ntail"));
    let endless = format!("\x1bP{}", "x".repeat(MOST_STRING + 10));
    assert_eq!(strip_ansi(&endless), "xxxxxxxxxx");
    assert_eq!(pieces(&endless, 1000), "xxxxxxxxxx");
}

#[test]
fn many_introducers_take_linear_time() {
    for unit in ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b[1\n", "\u{9d}", "\x1b]\x1b"] {
        assert!(!strip_ansi(&unit.repeat(200_000)).contains('\x1b'));
    }
}

#[test]
fn display_text() {
    for (text, expected) in [
        ("bell\x07 nul\0 del\x7f", "bell nul del"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\r\r\n", "a\nb\nc\n\n"),
        ("\x1b[1mx\x08\x1b[0m", "x"),
    ] {
        assert_eq!(sanitize_display_text(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        parts in prop::collection::vec(prop_oneof![
            Just("\x1b"), Just("["), Just("]"), Just("0;1"), Just("m"), Just("\x07"), Just("\\"),
            Just("P"), Just("\n"), Just("é"), Just("\u{9b}"), Just("\u{9d}"), Just("\u{9c}"),
            Just("text"), Just("("), Just("°"),
        ], 0..40),
        size in 1usize..8,
    ) {
        let text = parts.concat();
        let whole = strip_ansi(&text);
        prop_assert!(!whole.contains(|c| c == '\x1b' || is_c1(c)), "{:?}", whole);
        prop_assert_eq!(pieces(&text, size), whole.as_ref());
        prop_assert_eq!(strip_ansi(&whole), whole.as_ref());
    }
}

//! Tests of the whole chain.

use super::*;
use pretty_assertions::assert_eq;

fn check(text: &str, old: &str, new: &str, all: bool, expected: &str, count: usize) {
    let edited = replace(text, old, new, all).unwrap();
    assert_eq!((edited.content.as_str(), edited.count), (expected, count));
}

#[test]
fn passages_are_replaced_literally() {
    check("a b a", "b", "$0\\1", false, "a $0\\1 a", 1);
    check("a b a", "a", "cc", true, "cc b cc", 2);
    check("aaa", "aa", "b", true, "ba", 1);
    check("a\nb\n", "b\n", "", false, "a\n", 1);
    check("p 1%\rp 2%\rline2\n", "line2", "line3", false, "p 1%\rp 2%\rline3\n", 1);
    check("日本語", "本", "x", false, "日x語", 1);
}

#[test]
fn line_endings_match_each_other_and_are_kept() {
    check("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n", 1);
    check("a\nb\nc\n", "a\r\nb", "x\r\ny", false, "x\ny\nc\n", 1);
    check("a\r\nb\nc\n", "c", "c\nd", false, "a\r\nb\nc\nd\n", 1);
    check("a\r\nb\nc\n", "b", "b\nd", false, "a\r\nb\r\nd\nc\n", 1);
    check("a b\r\nc\r\n", "a", "a\nx", false, "a\r\nx b\r\nc\r\n", 1);
    check("a", "a", "a\nb", false, "a\nb", 1);
    check("a\r\nb\r\n", "\nb", "-b", false, "a-b\r\n", 1);
    check("a\r\n\r\nb", "\n", "", true, "ab", 2);
    check("a\r\nb", "b", "\\n", false, "a\r\n\\n", 1);
    check("x\ny\r\nx\ny\r\n", "x\ny\n", "z\n", true, "z\nz\n", 2);
}

#[test]
fn refusals() {
    for (text, old, new, expected) in [
        ("a", "", "b", Refusal::EmptyOld),
        ("a", "a", "a", Refusal::Identical),
        ("a", "a\r\nb", "a\nb", Refusal::Identical),
        ("a", "A", "b", Refusal::NotFound),
        ("a\nb a\n\na", "a", "b", Refusal::Ambiguous { lines: vec![1, 2, 4] }),
    ] {
        assert_eq!(replace(text, old, new, false).unwrap_err(), expected);
    }
}

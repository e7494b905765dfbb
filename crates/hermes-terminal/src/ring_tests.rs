//! Pages, previews and what is new.

use super::*;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn numbered(lines: usize) -> String {
    (0..lines).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn pages() {
    let mut ring = Ring::default();
    ring.push(numbered(500).as_bytes());
    for (offset, limit, first, lines) in [
        (None, 3, 497, 3),
        (None, 1000, 0, 500),
        (Some(0), 2, 0, 2),
        (Some(498), 200, 498, 2),
        (Some(500), 200, 500, 0),
        (Some(i64::MAX), 200, 500, 0),
        (Some(-1), 200, 499, 1),
        (Some(-5), 2, 495, 2),
        (Some(-900), 2, 0, 2),
        (Some(i64::MIN), 2, 0, 2),
        (Some(3), 0, 3, 0),
    ] {
        let page = ring.page(offset, limit);
        assert_eq!((page.first_line, page.lines), (first, lines), "{offset:?} {limit}");
        assert_eq!(page.total_lines, 500);
        assert!(!page.is_truncated());
        let expected: Vec<String> =
            (first..first + lines as u64).map(|line| format!("line {line}")).collect();
        assert_eq!(page.text, expected.join("\n"));
    }
    assert_eq!(ring.last_line(), "line 499");
}

#[test]
fn what_is_lost_is_told() {
    let mut ring = Ring::new(100);
    ring.push(numbered(100).as_bytes());
    let page = ring.page(Some(0), 200);
    assert_eq!(page.total_lines, 100);
    assert_eq!((page.dropped_lines, page.dropped_chars), (87, 690));
    assert_eq!((page.first_line, page.lines), (87, 13));
    assert!(page.is_cut && !ring.page(Some(88), 5).is_cut);
    assert!(page.text.starts_with(" 87\nline 88\n"), "{}", page.text);
    assert_eq!(ring.page(Some(98), 5).text, "line 98\nline 99");
    assert_eq!(ring.total_chars(), 790);
    // Up to the end of a line.
    ring.push(b"123456789012345");
    ring.push(b"6789\n");
    assert!(ring.text().starts_with("line 90\n"), "{}", ring.text());
    assert!(!ring.page(Some(0), 1).is_cut);
}

#[test]
fn new_output() {
    let mut ring = Ring::new(20);
    let mut cursor = Cursor::default();
    assert_eq!(ring.read_new(&mut cursor).text, "");
    ring.push(b"Password: ");
    assert_eq!(ring.read_new(&mut cursor).text, "Password: ");
    assert_eq!(ring.read_new(&mut cursor).text, "");
    ring.push(b"***");
    assert_eq!(ring.read_new(&mut cursor).text, "***");
    ring.push(b"\r\nok\n");
    assert_eq!(ring.read_new(&mut cursor).text, "\nok\n");
    ring.push(b"10 %");
    assert_eq!(ring.read_new(&mut cursor).text, "10 %");
    ring.push(b"\r20 %");
    assert_eq!(ring.read_new(&mut cursor).text, "20 %");
    ring.push(b"\n");
    assert_eq!(ring.read_new(&mut cursor).text, "\n");
    ring.push("0123456789\n".repeat(5).as_bytes());
    let news = ring.read_new(&mut cursor);
    assert_eq!((&*news.before, &*news.text, news.lost), ("", "23456789\n0123456789\n", 35));
    assert_eq!(ring.read_new(&mut cursor).text, "");
}

#[test]
fn what_stands_before() {
    let mut ring = Ring::default();
    let mut cursor = Cursor::default();
    let news = |ring: &Ring, cursor: &mut Cursor| {
        let News { before, text, .. } = ring.read_new(cursor);
        (before, text)
    };
    let pair = |before: &str, text: &str| (before.to_owned(), text.to_owned());
    ring.push("ä\nkey=".as_bytes());
    assert_eq!(news(&ring, &mut cursor), pair("", "ä\nkey="));
    ring.push(b"12\n34");
    assert_eq!(news(&ring, &mut cursor), pair("ä\nkey=", "12\n34"));
    ring.push(b"\r56");
    assert_eq!(news(&ring, &mut cursor), pair("ä\nkey=12\n", "56"));
    assert_eq!(ring.page(Some(1), 1).before, "ä\n");
    assert_eq!(ring.page(Some(7), 1).before, "ä\nkey=12\n56");
    // Whole lines and whole characters, and not too many.
    ring.push("\n日本\n".repeat(2000).as_bytes());
    ring.push(b"end");
    let (before, _) = news(&ring, &mut cursor);
    assert_eq!(before, "ä\nkey=12\n56");
    let (before, text) = news(&ring, &mut cursor);
    assert_eq!(text, "");
    assert!(before.ends_with("\nend") && before.starts_with(['\n', '日']), "{before}");
    assert!((CONTEXT - 10..CONTEXT + 10).contains(&before.len()), "{}", before.len());
    let page = ring.page(None, 1);
    assert!(page.before.ends_with("本\n") && page.before.len() <= CONTEXT);
}

#[test]
fn previews_count_characters() {
    let mut ring = Ring::default();
    ring.push("日本語\nné".as_bytes());
    assert_eq!(ring.preview(4), "語\nné");
    assert_eq!(ring.preview(0), "");
    assert_eq!(ring.preview(100), "日本語\nné");
    assert_eq!(ring.last_line(), "né");
    ring.finish();
    assert_eq!(ring.preview(2), "né");
}

#[test]
fn last_lines() {
    for (text, last) in
        [("", ""), ("a", "a"), ("a\n", "a"), ("a\nb\n", "b"), ("a\n\n", ""), ("\n", "")]
    {
        let mut ring = Ring::default();
        ring.push(text.as_bytes());
        assert_eq!(ring.last_line(), last, "{text:?}");
    }
}

proptest! {
    #[test]
    fn pieces_do_not_matter(text in "[aé日\n]{0,80}", size in 1usize..9, most in 1usize..60) {
        let mut whole = Ring::new(most);
        whole.push(text.as_bytes());
        whole.finish();
        let mut ring = Ring::new(most);
        for piece in text.as_bytes().chunks(size) {
            ring.push(piece);
        }
        ring.finish();
        prop_assert_eq!(ring.text(), whole.text());
        prop_assert_eq!(ring.page(None, 5), whole.page(None, 5));
        prop_assert_eq!(ring.page(Some(2), 5), whole.page(Some(2), 5));
        prop_assert_eq!(ring.total_chars(), text.chars().count() as u64);
        prop_assert!(ring.text().chars().count() <= most);
    }

    #[test]
    fn what_is_new_is_everything(text in "[aé日\n]{0,80}", size in 1usize..9) {
        let mut ring = Ring::default();
        let mut cursor = Cursor::default();
        let mut seen = String::new();
        for piece in text.as_bytes().chunks(size) {
            ring.push(piece);
            seen += &ring.read_new(&mut cursor).text;
        }
        ring.finish();
        seen += &ring.read_new(&mut cursor).text;
        prop_assert_eq!(seen, text);
    }
}

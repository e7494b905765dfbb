//! When something is told, and what.

use super::*;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The times of the events, in milliseconds; negative for the one that ends watching.
fn events(watch: &mut Watch, chunks: &[(f64, &str)]) -> Vec<i64> {
    let event = |(now, text): &(f64, &str)| {
        let millis = at(*now).as_millis() as i64;
        watch.push(at(*now), text.as_bytes()).map(|event| match event {
            WatchEvent::Match { .. } => millis,
            WatchEvent::Disabled { .. } => -millis,
        })
    };
    chunks.iter().filter_map(event).collect()
}

#[test]
fn cool_down() {
    let mut watch = Watch::new(["E"]);
    let chunks = [(0.0, "E\n"), (1.0, "E\n"), (2.0, "E\nE\n"), (14.999, "x\n")];
    assert_eq!(events(&mut watch, &chunks), [0]);
    let event = watch.push(at(15.0), b"E\n");
    let Some(WatchEvent::Match { suppressed, lines, .. }) = event else { panic!("{event:?}") };
    assert_eq!((suppressed, lines), (3, 1));
}

#[test]
fn three_strikes() {
    let mut watch = Watch::new(["E"]);
    let chunks = [0.0, 1.0, 15.0, 16.0, 30.0, 31.0, 46.0].map(|time| (time, "E\n"));
    assert_eq!(events(&mut watch, &chunks), [0, 15_000, 30_000, -31_000]);
    assert!(watch.is_disabled() && !watch.is_active());
    // A calm window in between starts anew.
    let mut watch = Watch::new(["E"]);
    let chunks = [0.0, 1.0, 15.0, 16.0, 30.0, 45.0, 46.0, 60.0].map(|time| (time, "E\n"));
    assert_eq!(events(&mut watch, &chunks), [0, 15_000, 30_000, 45_000, 60_000]);
}

#[test]
fn lines_in_pieces() {
    let mut watch = Watch::new(["partial match"]);
    assert_eq!(events(&mut watch, &[(0.0, "par"), (0.1, "tial match\n")]), [100]);
    // Silence in between doesn't split it.
    let mut watch = Watch::new(["partial match"]);
    assert_eq!(watch.push(at(0.0), b"par"), None);
    assert_eq!(watch.tick(at(1.0)), None);
    assert!(watch.push(at(5.0), b"tial match\n").is_some());
    let mut watch = Watch::new(["é"]);
    assert_eq!(watch.push(at(0.0), b"\xc3"), None);
    assert!(watch.push(at(0.0), b"\xa9\n").is_some());
}

#[test]
fn lines_that_are_not_ended() {
    let mut watch = Watch::new(["word:"]);
    assert_eq!(watch.push(at(1.0), b"Password: "), None);
    assert_eq!(watch.due(), Some(at(1.2)));
    assert_eq!(watch.tick(at(1.1)), None);
    assert!(watch.tick(at(1.2)).is_some());
    assert_eq!(watch.due(), None);
    // It counts once.
    assert_eq!(watch.push(at(20.0), b"word: \n"), None);
    assert!(watch.push(at(21.0), b"word:\n").is_some());

    let mut watch = Watch::new(["done"]);
    assert_eq!(watch.push(at(1.0), b"done"), None);
    assert!(watch.finish(at(1.0)).is_some());
    assert_eq!(watch.finish(at(1.0)), None);
}

#[test]
fn what_is_told() {
    let mut watch = Watch::new(["", "d", "a"]);
    let event = watch.push(at(0.0), b"a b  \r\nc d\nx\nad\n");
    let expected = WatchEvent::Match {
        pattern: "a".to_owned(),
        output: "a b\nc d\nad".to_owned(),
        lines: 3,
        suppressed: 0,
    };
    assert_eq!(event, Some(expected));
    assert!(!Watch::new([""]).is_active());

    let mut watch = Watch::new(["E"]);
    let event = watch.push(at(0.0), "E\n".repeat(50).as_bytes());
    let Some(WatchEvent::Match { output, lines, .. }) = event else { panic!("{event:?}") };
    assert_eq!((output.lines().count(), lines), (20, 50));

    let mut watch = Watch::new(["E"]);
    let event = watch.push(at(0.0), format!("E{}\n", "é".repeat(5000)).repeat(3).as_bytes());
    let Some(WatchEvent::Match { output, .. }) = event else { panic!("{event:?}") };
    assert_eq!(output.chars().count(), 2000);
}

#[test]
fn endless_lines() {
    let mut watch = Watch::new(["needle"]);
    for _ in 0..100 {
        assert_eq!(watch.push(at(0.0), "x".repeat(5000).as_bytes()), None);
        assert!(watch.lines.line.len() <= MOST_LINE + 5000);
    }
    assert_eq!(watch.push(at(0.0), b"need"), None);
    assert!(watch.push(at(0.0), b"le\n").is_some());
}

proptest! {
    #[test]
    fn pieces_do_not_matter(text in "(E|x|\n|\x1b\\[1m|é){0,60}", size in 1usize..9) {
        let lines = |size: usize| {
            let mut watch = Watch::new(["EE", "xE"]);
            let mut lines = 0;
            let mut pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            pieces.push(b"\n");
            for piece in pieces {
                if let Some(WatchEvent::Match { lines: found, .. }) = watch.push(at(0.0), piece) {
                    lines += found;
                }
            }
            lines + watch.suppressed
        };
        prop_assert_eq!(lines(size), lines(usize::MAX));
    }
}

//! Sequences of what tasks do to files that need not exist.

mod random;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use hermes_registry::{CallIds, CallListener};
use pretty_assertions::assert_eq;

use crate::*;

fn file(path: &str) -> FileKey {
    FileKey::new("", Path::new(path))
}

fn page(path: &str, offset: usize) -> Window {
    Window { file: file(path), offset, limit: 500 }
}

fn stamp(content: &str) -> Stamp {
    Stamp::new(0, 0, 0).with_content(content.as_bytes())
}

/// Reads as the tool does; what comes of it in a word.
fn read(state: &FileState, task: &str, page: &Window, content: &str) -> String {
    let total = content.lines().count();
    read_lines(state, task, page, content, page.offset..=total)
}

fn read_lines(
    state: &FileState,
    task: &str,
    page: &Window,
    content: &str,
    lines: RangeInclusive<usize>,
) -> String {
    let (since, stamp) = (state.now(), stamp(content));
    match state.look(task, page, &stamp, since) {
        Some(Repeated::Unchanged) => "unchanged".into(),
        Some(Repeated::Refused { times, changing }) => {
            format!("refused {times}{}", if changing { " changing" } else { "" })
        }
        None => {
            let total = content.lines().count();
            let shown = Shown { stamp, since, lines, total };
            format!("shown {}", state.shown(task, page, shown))
        }
    }
}

fn search(state: &FileState, task: &str, what: &str) -> String {
    let root = file("/");
    match state.search(task, &root, what) {
        Some(times) => format!("refused {times}"),
        None => format!("shown {}", state.searched(task, &root, what)),
    }
}

fn warning(state: &FileState, task: &str, path: &str, edit: Edit<'_>, now: &str) -> String {
    let warning = state.warning(task, &file(path), edit, true, || Some(stamp(now)));
    warning.map(|it| it.to_string()).unwrap_or_default()
}

#[track_caller]
fn check_warning(state: &FileState, task: &str, now: &str, expected: &str) {
    let found = warning(state, task, "/f", Edit::Whole, now);
    assert_eq!(found.is_empty(), expected.is_empty(), "{found}");
    assert!(found.contains(expected), "{found}");
}

#[test]
fn a_page_is_shown_once_while_it_is_unchanged() {
    let state = FileState::new();
    let (first, second) = (page("/f", 1), page("/f", 2));
    let seen = |page, content| read(&state, "t", page, content);
    assert_eq!(seen(&first, "a"), "shown 1");
    assert_eq!(seen(&first, "a"), "unchanged");
    assert_eq!(seen(&first, "a"), "refused 3");
    assert_eq!(seen(&first, "a"), "refused 4");
    assert_eq!(seen(&second, "a"), "shown 1");
    assert_eq!(seen(&first, "b"), "shown 1");
    assert_eq!(seen(&first, "b"), "unchanged");
    assert_eq!(read(&state, "other", &first, "b"), "shown 1");
}

#[test]
fn other_tools_give_another_chance_and_compression_a_new_one() {
    let state = FileState::new();
    let page = page("/f", 1);
    let seen = || read(&state, "t", &page, "a");
    assert_eq!([seen(), seen(), seen()], ["shown 1", "unchanged", "refused 3"]);
    state.other_tool("t");
    assert_eq!([seen(), seen()], ["unchanged", "refused 3"]);
    let ids = |task: &str, session: &str| CallIds {
        task: task.into(),
        session: session.into(),
        ..CallIds::default()
    };
    state.started(&ids("t", ""), "read_file");
    state.started(&ids("t", ""), "search_files");
    state.started(&ids("other", "t"), "terminal");
    assert_eq!(seen(), "refused 4");
    state.started(&ids("", "t"), "terminal");
    assert_eq!(seen(), "unchanged");
    state.compressed("t");
    assert_eq!([seen(), seen()], ["shown 1", "unchanged"]);
    state.ended("t");
    assert_eq!(seen(), "shown 1");
}

#[test]
fn a_file_that_keeps_changing_is_warned_about_and_then_refused() {
    let state = FileState::new();
    let page = page("/f", 1);
    let seen = |content| read(&state, "t", &page, content);
    let row = [seen("1"), seen("2"), seen("3"), seen("4"), seen("5")];
    assert_eq!(row, ["shown 1", "shown 2", "shown 3", "refused 4 changing", "refused 5 changing"]);
    // What was refused was never shown.
    assert_eq!(seen("5"), "refused 6 changing");
    state.other_tool("t");
    assert_eq!([seen("5"), seen("6")], ["shown 1", "shown 2"]);
}

#[test]
fn searches_in_a_row() {
    let state = FileState::new();
    let seen = |what| search(&state, "t", what);
    assert_eq!([seen("a"), seen("a"), seen("a")], ["shown 1", "shown 2", "shown 3"]);
    assert_eq!([seen("a"), seen("a"), seen("b")], ["refused 4", "refused 5", "shown 1"]);
    assert_eq!([seen("a"), seen("a")], ["shown 1", "shown 2"]);
    assert_eq!(read(&state, "t", &page("/f", 1), "x"), "shown 1");
    assert_eq!([seen("a"), seen("a")], ["shown 1", "shown 2"]);
    state.search_failed("t", &file("/"), "a");
    assert_eq!([seen("a"), seen("a")], ["shown 3", "refused 4"]);
    state.search_failed("t", &file("/"), "b");
    assert_eq!(seen("a"), "shown 1");
    assert_eq!(search(&state, "other", "a"), "shown 1");
}

#[test]
fn nothing_is_held_after_a_failed_read() {
    let state = FileState::new();
    let page = page("/f", 1);
    assert_eq!(read(&state, "t", &page, "a"), "shown 1");
    state.read_failed("t", &page);
    assert_eq!(read(&state, "t", &page, "a"), "shown 2");
    assert_eq!(read(&state, "t", &page, "a"), "unchanged");
}

#[test]
fn a_write_drops_all_pages_of_its_file() {
    let state = FileState::new();
    for path in ["/f", "/g"] {
        for offset in [1, 2] {
            assert_eq!(read(&state, "t", &page(path, offset), "a\nb"), "shown 1");
        }
    }
    state.wrote("t", &file("/f"), Some(stamp("a\nb")));
    assert_eq!(read(&state, "t", &page("/f", 1), "a\nb"), "shown 1");
    assert_eq!(read(&state, "t", &page("/f", 2), "a\nb"), "shown 1");
    assert_eq!(read(&state, "t", &page("/g", 2), "a\nb"), "unchanged");
}

#[test]
fn what_is_warned_of() {
    let state = FileState::new();
    check_warning(&state, "a", "1", "");
    read(&state, "a", &page("/f", 1), "1");
    check_warning(&state, "a", "1", "");
    check_warning(&state, "a", "2", "by someone else");
    state.wrote("a", &file("/f"), Some(stamp("2")));
    check_warning(&state, "a", "2", "");

    check_warning(&state, "b", "2", "never read");
    read(&state, "b", &page("/f", 1), "2");
    check_warning(&state, "b", "2", "");
    state.wrote("b", &file("/f"), Some(stamp("3")));
    check_warning(&state, "a", "3", "another agent after");
    assert!(state.warning("a", &file("/f"), Edit::Whole, true, || None).is_none(), "gone");
    state.wrote("a", &file("/f"), Some(stamp("4")));
    check_warning(&state, "a", "4", "");
    check_warning(&state, "b", "4", "another agent after");
    // The same path elsewhere.
    let elsewhere = FileKey::new("docker:1", Path::new("/f"));
    let look = || Some(stamp("4"));
    assert!(state.warning("b", &elsewhere, Edit::Whole, true, look).is_none());
}

#[test]
fn without_the_guard_only_changes_count() {
    let state = FileState::new();
    let reason = |task, now| {
        let found = state.warning(task, &file("/f"), Edit::Whole, false, || Some(stamp(now)));
        found.map(|it| it.to_string())
    };
    read(&state, "a", &page("/f", 2), "1\n2");
    state.wrote("b", &file("/f"), Some(stamp("1\n2")));
    assert_eq!((reason("a", "1\n2"), reason("c", "1\n2")), (None, None));
    assert!(reason("a", "3").unwrap().contains("someone else"));
}

#[test]
fn to_see_that_nothing_changed_is_as_good_as_reading() {
    let state = FileState::new();
    let page = page("/f", 1);
    read(&state, "a", &page, "1");
    state.wrote("b", &file("/f"), Some(stamp("1")));
    check_warning(&state, "a", "1", "another agent");
    assert_eq!(read(&state, "a", &page, "1"), "unchanged");
    check_warning(&state, "a", "1", "");
}

#[test]
fn a_write_while_a_file_is_read_is_noticed() {
    let state = FileState::new();
    let shown = Shown { stamp: stamp("1"), since: state.now(), lines: 1..=1, total: 1 };
    state.wrote("b", &file("/f"), Some(stamp("2")));
    state.shown("a", &page("/f", 1), shown);
    check_warning(&state, "a", "2", "another agent after");
}

#[test]
fn lines_that_were_seen_may_be_changed() {
    let state = FileState::new();
    let text = "1\n2\n3\n4\n5";
    let partial = |lines: &[RangeInclusive<usize>]| {
        let found = warning(&state, "t", "/f", Edit::Lines(lines), text);
        assert!(found.is_empty() || found.contains("only a part"), "{found}");
        !found.is_empty()
    };
    read_lines(&state, "t", &page("/f", 2), text, 2..=3);
    assert!(!partial(&[2..=2]));
    assert!(!partial(&[2..=2, 3..=3]));
    assert!(partial(&[1..=1]));
    assert!(partial(&[2..=2, 4..=4]));
    check_warning(&state, "t", text, "only a part");
    // An empty page past the end shows nothing.
    read_lines(&state, "t", &page("/f", 9), text, RangeInclusive::new(9, 8));
    assert!(partial(&[5..=5]));
    read_lines(&state, "t", &page("/f", 4), text, 4..=5);
    assert!(!partial(&[3..=4]));
    check_warning(&state, "t", text, "only a part");
    read_lines(&state, "t", &page("/f", 1), text, 1..=1);
    check_warning(&state, "t", text, "");
    // All was seen; a look at a part of it takes nothing away.
    state.compressed("t");
    read_lines(&state, "t", &page("/f", 4), text, 4..=4);
    check_warning(&state, "t", text, "");
    // Of another content nothing was.
    read_lines(&state, "t", &page("/f", 4), "1\n2\n3\n4\n6", 4..=4);
    check_warning(&state, "t", "1\n2\n3\n4\n6", "only a part");
}

#[test]
fn an_empty_file_is_seen_whole() {
    let state = FileState::new();
    read_lines(&state, "t", &page("/f", 1), "", RangeInclusive::new(1, 0));
    check_warning(&state, "t", "", "");
    read_lines(&state, "u", &page("/f", 2), "", RangeInclusive::new(2, 1));
    check_warning(&state, "u", "", "only a part");
}

#[test]
fn programs_read_without_a_trace_in_the_conversation() {
    let state = FileState::new();
    let shown = Shown { stamp: stamp("1"), since: state.now(), lines: 1..=1, total: 1 };
    state.read_by_program("t", &file("/f"), shown);
    assert_eq!(read(&state, "t", &page("/f", 1), "1"), "shown 1");
    check_warning(&state, "t", "2", "someone else");
}

#[test]
fn misses_are_counted_until_a_write() {
    let state = FileState::new();
    let missed = || state.missed("t", &file("/f"));
    assert_eq!([missed(), missed(), missed()], [1, 2, 3]);
    assert_eq!(state.missed("t", &file("/g")), 1);
    assert_eq!(state.missed("u", &file("/f")), 1);
    state.wrote("t", &file("/f"), None);
    assert_eq!(missed(), 1);
    for number in 0..64 {
        state.missed("t", &file(&format!("/{number}")));
    }
    assert_eq!(missed(), 1, "the oldest goes");
}

#[test]
fn whoever_waited_is_told_what_changed() {
    let state = FileState::new();
    for number in 0..12 {
        read(&state, "parent", &page(&format!("/{number:02}"), 1), "1");
    }
    read(&state, "child", &page("/x", 1), "1");
    let since = state.now();
    state.wrote("child", &file("/x"), Some(stamp("2")));
    assert_eq!(state.changed_note("parent", since), None);
    state.wrote("parent", &file("/00"), Some(stamp("2")));
    for number in 1..10 {
        state.wrote("child", &file(&format!("/{number:02}")), Some(stamp("2")));
    }
    state.removed("grandchild", &file("/10"));
    let note = state.changed_note("parent", since).unwrap();
    assert!(note.contains(": /01, /02, /03, /04, /05, /06, /07, /08 and 2 more."), "{note}");
    assert_eq!(state.changed_note("parent", state.now()), None);

    let known = state.known_reads("parent");
    assert_eq!((known.len(), &known[0]), (12, &file("/00")));
    let writes = state.writes_since("parent", since, &known);
    assert_eq!(writes["grandchild"], [file("/10")]);
    assert_eq!((writes.len(), writes["child"].len()), (2, 9));
    assert_eq!(state.known_reads("nobody"), []);
    assert_eq!(state.history("parent").len(), 12);
    assert_eq!(state.history("parent")[0], page("/11", 1));
}

#[test]
fn what_a_command_changed_is_known_as_its_work() {
    let state = FileState::new();
    let all = ["/same", "/sed", "/rm", "/old", "/race"];
    for path in all {
        read(&state, "t", &page(path, 1), "1");
    }
    state.wrote("t", &FileKey::new("ssh", Path::new("/far")), Some(stamp("1")));
    let before = |path: &Path, _: &Stamp| match path.to_str().unwrap() {
        "/old" => Some(stamp("0")),
        path => Some(stamp("1")).filter(|_| all.contains(&path)),
    };
    let after = |path: &Path, before: &Stamp| match path.to_str().unwrap() {
        "/sed" | "/race" => Some(stamp("2")),
        "/rm" => None,
        _ => Some(before.clone()),
    };
    let watch = state.command_begins("t", "", before);
    state.wrote("u", &file("/race"), Some(stamp("2")));
    let changed = state.command_ended(watch, after);
    assert_eq!(changed, [PathBuf::from("/rm"), PathBuf::from("/sed")]);
    let note = command_note(&changed).unwrap();
    assert!(note.starts_with("changed by your command: /rm, /sed."), "{note}");
    assert_eq!(command_note(&[]), None);

    let warned = |task, path, now| warning(&state, task, path, Edit::Whole, now);
    assert!(warned("t", "/sed", "2").contains("changed by your command"));
    assert!(warned("t", "/sed", "3").contains("someone else"));
    assert!(warned("t", "/old", "0").contains("someone else"));
    assert!(warned("t", "/race", "2").contains("another agent"));
    assert_eq!(warned("t", "/same", "1"), "");
    assert_eq!(warned("t", "/rm", "new"), "");
    assert!(warned("u", "/sed", "2").contains("another agent"));
    assert_eq!(read(&state, "t", &page("/sed", 1), "2"), "shown 1");
    assert_eq!(warned("t", "/sed", "2"), "");
}

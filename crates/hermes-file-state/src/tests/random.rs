//! Whatever is done in whatever order: nothing panics, and nothing grows without end.

use proptest::prelude::*;

use super::{page, stamp};
use crate::*;

const TASKS: [&str; 3] = ["", "a", "b"];

#[derive(Clone, Copy, Debug)]
enum Step {
    Read { offset: usize, lines: (usize, usize), total: usize },
    Program,
    Fail,
    Search(u8),
    SearchFail(u8),
    Write(bool),
    Warn { lines: (usize, usize), guard: bool, there: bool },
    Miss,
    Command { changed: u8 },
    Other,
    Compress,
    End,
}

fn steps() -> impl Strategy<Value = Step> {
    let line = || prop_oneof![0_usize..6, Just(usize::MAX)];
    let lines = || (line(), line());
    prop_oneof![
        8 => (line(), lines(), line())
            .prop_map(|(offset, lines, total)| Step::Read { offset, lines, total }),
        1 => Just(Step::Program),
        1 => Just(Step::Fail),
        3 => (0_u8..3).prop_map(Step::Search),
        1 => (0_u8..3).prop_map(Step::SearchFail),
        3 => any::<bool>().prop_map(Step::Write),
        3 => (lines(), any::<bool>(), any::<bool>())
            .prop_map(|(lines, guard, there)| Step::Warn { lines, guard, there }),
        1 => Just(Step::Miss),
        1 => (0_u8..4).prop_map(|changed| Step::Command { changed }),
        1 => Just(Step::Other),
        1 => Just(Step::Compress),
        1 => Just(Step::End),
    ]
}

/// Does a step with a file that holds `content`.
fn apply(state: &FileState, task: &str, path: &str, content: u8, step: Step) {
    let file = FileKey::new("", path.as_ref());
    let version = stamp(&content.to_string());
    match step {
        Step::Read { offset, lines, total } => {
            let page = page(path, offset);
            let since = state.now();
            if state.look(task, &page, &version, since).is_none() {
                let lines = lines.0..=lines.1;
                let shown = Shown { stamp: version, since, lines, total };
                let count = state.shown(task, &page, shown);
                assert!((1..=WARN_AFTER).contains(&count), "{count}");
            }
        }
        Step::Program => {
            let shown = Shown { stamp: version, since: state.now(), lines: 1..=1, total: 1 };
            state.read_by_program(task, &file, shown);
        }
        Step::Fail => state.read_failed(task, &page(path, 1)),
        Step::Search(what) => {
            let what = what.to_string();
            if state.search(task, &file, &what).is_none() {
                assert!(state.searched(task, &file, &what) <= WARN_AFTER);
            }
        }
        Step::SearchFail(what) => state.search_failed(task, &file, &what.to_string()),
        Step::Write(known) => {
            let written = known.then(|| version.clone());
            state.wrote(task, &file, written);
            let warned = state.warning(task, &file, Edit::Whole, true, || Some(version));
            assert_eq!(warned, None, "own writes need no warning");
        }
        Step::Warn { lines, guard, there } => {
            let lines = [lines.0..=lines.1];
            let now = || there.then_some(version);
            let warned = state.warning(task, &file, Edit::Lines(&lines), guard, now);
            assert!(there || warned.is_none());
        }
        Step::Miss => assert!(state.missed(task, &file) > 0),
        Step::Command { changed } => {
            let watch = state.command_begins(task, "", |_, known| Some(known.clone()));
            let now = stamp(&changed.to_string());
            let files = state.command_ended(watch, |_, _| (changed > 0).then(|| now.clone()));
            assert!(command_note(&files).is_some() || files.is_empty());
        }
        Step::Other => state.other_tool(task),
        Step::Compress => state.compressed(task),
        Step::End => state.ended(task),
    }
}

proptest! {
    #[test]
    fn any_sequence(
        steps in prop::collection::vec(
            (steps(), prop::sample::select(&TASKS[..]), 0_u8..3, 0_u8..3),
            0..200,
        )
    ) {
        let state = FileState::new();
        for (step, task, path, content) in steps {
            let path = format!("/{path}");
            apply(&state, task, &path, content, step);
        }
        for (size, cap) in state.sizes() {
            prop_assert!(size <= cap);
        }
        let since = state.now() / 2;
        for task in TASKS {
            let known = state.known_reads(task);
            let writes = state.writes_since(task, since, &known);
            prop_assert_eq!(state.changed_note(task, since).is_none(), writes.is_empty());
        }
    }

    /// A page is held only as it was shown last: what is said to be unchanged was seen.
    #[test]
    fn unchanged_is_never_said_of_what_was_not_shown(
        contents in prop::collection::vec((0_u8..3, 0_u8..6), 1..60)
    ) {
        let state = FileState::new();
        let page = page("/f", 1);
        let mut held = None;
        for (content, other) in contents {
            match other {
                0 => state.other_tool("t"),
                1 => {
                    state.read_failed("t", &page);
                    held = None;
                }
                2 => {
                    state.compressed("t");
                    held = None;
                }
                _ => {}
            }
            let version = stamp(&content.to_string());
            let since = state.now();
            match state.look("t", &page, &version, since) {
                Some(Repeated::Refused { changing: true, .. }) => {
                    prop_assert_ne!(held, Some(content));
                }
                Some(_) => prop_assert_eq!(held, Some(content)),
                None => {
                    prop_assert_ne!(held, Some(content));
                    state.shown("t", &page, Shown { stamp: version, since, lines: 1..=1, total: 1 });
                    held = Some(content);
                }
            }
        }
    }
}

#[test]
fn nothing_grows_without_end() {
    let state = FileState::new();
    for number in 0..5000_usize {
        let path = format!("/{number}");
        let page = page(&path, 1);
        for _ in 0..2 {
            let version = stamp("1");
            if state.look("t", &page, &version, 0).is_none() {
                state.shown("t", &page, Shown { stamp: version, since: 0, lines: 1..=1, total: 2 });
            }
        }
        let file = FileKey::new("", path.as_ref());
        state.missed("t", &file);
        state.wrote(&format!("w{number}"), &file, None);
    }
    let sizes = state.sizes();
    assert!(sizes.iter().all(|(size, cap)| size <= cap), "{sizes:?}");
    // The busiest maps are full.
    assert!(sizes.iter().filter(|(size, cap)| size == cap).count() >= 2, "{sizes:?}");
}

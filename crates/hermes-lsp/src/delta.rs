//! Which errors a change brought.

use std::collections::HashMap;
use std::ops::Range;

use hermes_edit::align;

use crate::lines;
use crate::problem::Problem;

/// The errors of `after` that weren't there before.
///
/// An error was there before if the old text had an equal one in the line that the new one's line
/// was, or in the lines that its line takes the place of.
pub(crate) fn brought(
    before: &[Problem],
    old: &str,
    after: Vec<Problem>,
    new: &str,
) -> Vec<Problem> {
    if before.is_empty() {
        return after;
    }
    let old_count = lines::split(old).len();
    let places = places(&aligned(old, new), old_count);
    let mut known: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
    for problem in before {
        known.entry(key(problem)).or_default().push(within(problem.line, old_count));
    }
    let mut news = Vec::with_capacity(after.len());
    for problem in &after {
        let line = within(problem.line, places.len());
        let known =
            known.get_mut(&key(problem)).zip(places.get(line)).and_then(|(known, place)| {
                let at = known.iter().position(|line| place.contains(line))?;
                Some(known.swap_remove(at))
            });
        news.push(known.is_none());
    }
    after.into_iter().zip(news).filter(|(_, is_new)| *is_new).map(|(problem, _)| problem).collect()
}

/// The errors in lines that are not the old text's: all that can be said of a change when nobody
/// knows what was wrong before.
pub(crate) fn in_changed_lines(old: &str, after: Vec<Problem>, new: &str) -> Vec<Problem> {
    let aligned = aligned(old, new);
    let is_changed = |problem: &Problem| {
        aligned.get(within(problem.line, aligned.len())).is_some_and(Option::is_none)
    };
    after.into_iter().filter(is_changed).collect()
}

/// What makes two errors equal, wherever they are.
type Key<'a> = (&'a str, &'a str, &'a str);

fn key(problem: &Problem) -> Key<'_> {
    (&problem.message, &problem.code, &problem.source)
}

/// A line of a text of `count` lines. Servers put some errors behind the end.
fn within(line: u32, count: usize) -> usize {
    (line as usize).min(count.saturating_sub(1))
}

fn aligned(old: &str, new: &str) -> Vec<Option<usize>> {
    align(lines::split(old).into_iter(), lines::split(new).into_iter())
}

/// For each new line the old lines in its place: its own, or those that were removed where it was
/// put in.
fn places(aligned: &[Option<usize>], old_count: usize) -> Vec<Range<usize>> {
    let mut places = Vec::with_capacity(aligned.len());
    let mut next = 0;
    for run in aligned.chunk_by(|a, b| a.is_none() && b.is_none()) {
        match run.first() {
            Some(Some(old)) => {
                places.push(*old..old + 1);
                next = old + 1;
            }
            _ => {
                let behind = aligned.get(places.len() + run.len()).copied().flatten();
                let end = behind.unwrap_or(old_count);
                places.extend(std::iter::repeat_n(next..end, run.len()));
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn at(line: u32, message: &str) -> Problem {
        Problem { line, message: message.to_owned(), ..Problem::default() }
    }

    fn check(before: &[Problem], old: &str, after: &[Problem], new: &str, expected: &[Problem]) {
        assert_eq!(brought(before, old, after.to_vec(), new), expected, "{old:?} {new:?}");
    }

    #[test]
    fn what_moved_was_there_before() {
        check(&[at(1, "x")], "a\nb\n", &[at(3, "x")], "n\nm\na\nb\n", &[]);
        check(&[at(1, "x")], "a\nb\n", &[at(0, "x")], "b\n", &[]);
        check(&[at(1, "x")], "a\nb", &[at(1, "x"), at(0, "x")], "a\nb", &[at(0, "x")]);
        check(&[at(0, "x")], "a\n", &[at(0, "y")], "a\n", &[at(0, "y")]);
        // Endings make no difference.
        check(&[at(1, "x")], "a\r\nb\r\n", &[at(2, "x")], "n\na\nb\n", &[]);
    }

    #[test]
    fn what_takes_the_place_of_a_wrong_line_is_no_news() {
        check(&[at(1, "x")], "a\nb\nc\n", &[at(2, "x")], "a\nn\nB\nc\n", &[]);
        // As many as there were.
        check(&[at(1, "x")], "a\nb\nc", &[at(1, "x"), at(2, "x")], "a\nB\nB\nc", &[at(2, "x")]);
        // Somewhere else it is.
        check(&[at(1, "x")], "a\nb\nc\n", &[at(3, "x")], "a\nB\nc\nn\n", &[at(3, "x")]);
        check(&[at(1, "x")], "a\nb\nc\n", &[at(1, "x")], "a\nn\nb\nc\n", &[at(1, "x")]);
    }

    #[test]
    fn errors_behind_the_end_are_in_the_last_line() {
        check(&[at(9, "x")], "a\nb", &[at(7, "x")], "n\na\nb", &[]);
        check(&[at(0, "x")], "", &[at(0, "x")], "", &[]);
    }

    #[test]
    fn changed_lines_alone() {
        let after = vec![at(0, "x"), at(1, "y"), at(5, "z")];
        assert_eq!(in_changed_lines("a\nb\n", after.clone(), "a\nB\n"), [at(1, "y")]);
        assert_eq!(in_changed_lines("", after.clone(), "q\nr"), after);
    }

    proptest! {
        #[test]
        fn nothing_comes_of_lines_put_in(
            old in proptest::collection::vec("[a-c]{0,2}", 1..12),
            put in 0usize..12, count in 0u32..4, wrong in 0usize..12,
        ) {
            let (put, wrong) = (put.min(old.len()), wrong % old.len());
            let mut new = old.clone();
            for _ in 0..count {
                new.insert(put, "something else".to_owned());
            }
            let moved = if wrong >= put { wrong as u32 + count } else { wrong as u32 };
            let found = brought(
                &[at(wrong as u32, "x")], &old.join("\n"), vec![at(moved, "x")], &new.join("\n"),
            );
            prop_assert!(found.is_empty(), "{found:?}");
        }

        #[test]
        fn any_lines_will_do(
            old in "[ab\n]{0,20}", new in "[ab\n]{0,20}", lines in proptest::collection::vec(0u32..30, 0..9),
        ) {
            let problems: Vec<Problem> = lines.iter().map(|line| at(*line, "x")).collect();
            prop_assert!(brought(&problems, &old, problems.clone(), &new).len() <= problems.len());
            in_changed_lines(&old, problems, &new);
        }
    }
}

//! What holds for any text.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic fails the test, which is what it is for"
)]

use hermes_edit::v4a::{self, Cause, Memory, ProblemKind};
use hermes_edit::{Refusal, Strategy as Way, closest_lines, diff, replace};
use proptest::collection::vec;
use proptest::prelude::*;

/// Lines of few words, so that much is alike, with what makes trouble.
fn lines(most: usize) -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        Just("a"),
        Just("b = 1"),
        Just("“q”"),
        Just("\"q\""),
        Just("x  y"),
        Just("x y"),
        Just("—"),
        Just("\\'"),
        Just("\\t"),
        Just("e\u{301}"),
        Just("\r"),
        Just("}"),
        Just(""),
    ];
    let indent = prop_oneof![Just(""), Just("  "), Just("    "), Just("\t"), Just("\t\t")];
    let line = (indent, word, prop_oneof![4 => Just(""), 1 => Just("  ")])
        .prop_map(|(indent, word, end)| format!("{indent}{word}{end}"));
    vec(line, 0..most)
}

fn text(most: usize) -> impl Strategy<Value = String> {
    let ending = prop_oneof![Just("\n"), Just("\r\n")];
    (lines(most), vec(ending, most), any::<bool>(), any::<bool>()).prop_map(
        |(lines, endings, mixed, ended)| {
            let mut text = String::new();
            let last = lines.len().saturating_sub(1);
            for (nth, (line, ending)) in lines.iter().zip(&endings).enumerate() {
                text.push_str(line);
                if nth < last || ended {
                    text.push_str(if mixed { ending } else { endings[0] });
                }
            }
            text
        },
    )
}

/// A text of lines that each occur once.
fn distinct(text: &str) -> String {
    text.lines().enumerate().map(|(nth, line)| format!("{line} #{}\n", nth * 7 % 101)).collect()
}

/// The hunks of a unified diff as an update of the file `f`.
fn patch_of(diff: &str) -> Option<String> {
    let hunks = diff.find("@@").map(|start| &diff[start..])?;
    Some(format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n"))
}

/// The text after the patch that leads from one text to the other; none when it can't be told
/// where it goes.
fn patched(from: &str, to: &str) -> Option<String> {
    let Some(patch) = patch_of(&diff::unified("f", from, to)) else { return Some(from.to_owned()) };
    let mut memory = Memory::from([("f".to_owned(), from.to_owned())]);
    match v4a::apply(&v4a::parse(&patch).unwrap(), &memory) {
        Ok(changes) => {
            memory.commit(&changes);
            memory.files["f"].clone()
        }
        Err(failures) => {
            for failure in failures {
                let Cause::Patch(problem) = failure.cause;
                assert_eq!(problem.kind, ProblemKind::Ambiguous, "{patch}\n{}", problem.message);
            }
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_exact_passage_is_replaced_as_by_the_standard_library(
        lines in lines(12), old in lines(3), new in lines(3), start in 0..12_usize, all: bool,
    ) {
        // Without CR LF nothing but the letters counts.
        let content = lines.join("\n").replace('\r', "");
        let (mut old, new) = (old.join("\n").replace('\r', ""), new.join("\n").replace('\r', ""));
        if let Some(line) = lines.get(start) {
            old = line.replace('\r', "");
        }
        prop_assume!(!old.is_empty() && old != new && content.contains(&old));
        let count = content.matches(&old).count();
        match replace(&content, &old, &new, all) {
            Ok(replaced) => {
                prop_assert!(all || count == 1);
                prop_assert_eq!(replaced.strategy, Way::Exact);
                prop_assert_eq!(replaced.count, count);
                prop_assert_eq!(replaced.content, content.replacen(&old, &new, count));
            }
            Err(refusal) => {
                prop_assert!(!all && count > 1);
                let is_ambiguous =
                    matches!(refusal, Refusal::Ambiguous { lines } if lines.len() == count);
                prop_assert!(is_ambiguous);
            }
        }
    }

    #[test]
    fn nothing_outside_the_spans_changes(
        content in text(12), old in text(4), new in text(4), part in 0..12_usize, all: bool,
    ) {
        // Parts of the text with slips, and texts that are there by chance.
        let near: String = content.lines().skip(part).take(3).collect::<Vec<_>>().join("\n");
        for old in [near.clone(), near.replace("  ", " "), near.replace('“', "\""), old] {
            let Ok(replaced) = replace(&content, &old, &new, all) else { continue };
            prop_assert_eq!(replaced.spans.len(), replaced.count);
            let mut rest = replaced.content.as_str();
            let mut done = 0;
            for (nth, span) in replaced.spans.iter().enumerate() {
                prop_assert!(span.start >= done && span.start < span.end);
                let kept = &content[done..span.start];
                // What stands before the first span is at the start, what follows comes after it.
                let at = if nth == 0 {
                    rest.starts_with(kept).then_some(0)
                } else {
                    rest.find(kept)
                };
                prop_assert!(at.is_some(), "{:?} isn't in {:?}", kept, rest);
                rest = &rest[at.unwrap() + kept.len()..];
                done = span.end;
            }
            prop_assert!(rest.ends_with(&content[done..]));
            let breaks = |text: &str| text.matches("\r\n").count();
            if breaks(&content) == 0 && !new.contains('\r') {
                prop_assert!(!replaced.content.contains("\r\n") || content.contains('\r'));
            }
        }
    }

    #[test]
    fn a_diff_applied_as_a_patch_gives_the_other_text(a in lines(40), b in lines(40)) {
        let joined = |lines: &[String]| -> String {
            lines.iter().map(|line| line.replace('\r', "") + "\n").collect()
        };
        let (a, b) = (joined(&a), joined(&b));
        for (from, to) in [(&a, &b), (&b, &a)] {
            if let Some(result) = patched(from, to) {
                prop_assert_eq!(&result, to);
            }
        }
        let (a, b) = (distinct(&a), distinct(&b));
        prop_assert_eq!(patched(&a, &b), Some(b.clone()));
        prop_assert_eq!(patched(&b, &a), Some(a));
    }

    #[test]
    fn any_text_is_a_patch_or_none(text in "(\\*\\*\\* (Begin Patch|End Patch|End of File|Update File: f|Add File: g|Delete File: f|Move File: f -> h|Move to: i)|@@ ?a?|[-+ ]?[a-c“\" ]{0,3}|\\PC{0,5}|\n|\r\n){0,40}") {
        let Ok(patch) = v4a::parse(&text) else { return Ok(()) };
        let mut memory = Memory::from([("f".to_owned(), "a\n“b”\nc\n".to_owned())]);
        if let Ok(changes) = v4a::apply(&patch, &memory) {
            prop_assert!(!changes.is_empty());
            memory.commit(&changes);
        }
    }

    #[test]
    fn a_snippet_shows_lines_of_the_text(old in text(3), content in text(30)) {
        let Some(snippet) = closest_lines(&old, &content) else { return Ok(()) };
        let content = content.replace("\r\n", "\n");
        let lines: Vec<&str> = content.split('\n').collect();
        for row in snippet.lines() {
            let Some((number, _)) = row.split_once('|') else { continue };
            let Ok(number) = number.parse::<usize>() else { continue };
            prop_assert!(number >= 1 && number <= lines.len());
        }
    }
}

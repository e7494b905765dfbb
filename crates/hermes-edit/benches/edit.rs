//! Edits in a file of 50,000 lines, by each way of finding the place, and a miss in 400 kB.

#![expect(clippy::unwrap_used, reason = "a bench of an edit that fails measures nothing")]

use std::fmt::Write as _;

use divan::Bencher;
use hermes_edit::v4a::{self, Memory};
use hermes_edit::{Strategy, closest_lines, replace};

fn main() {
    divan::main();
}

/// A program of that many lines; line 40 of 50 of each function is its own.
fn program(lines: usize) -> String {
    let mut out = String::new();
    for line in 0..lines {
        let _ = match line % 50 {
            0 => writeln!(out, "fn function_{}(input: &str) -> usize {{", line / 50),
            40 => writeln!(out, "    let value_{line} = compute(input, {line});"),
            49 => writeln!(out, "}}"),
            _ => writeln!(out, "    total += input.len() * {};  // “step”", line % 7),
        };
    }
    out
}

const PLACE: usize = 45_040;

fn request(strategy: Strategy) -> (String, String) {
    let near = |line: usize| format!("total += input.len() * {};", line % 7);
    let (above, below) = (near(PLACE - 1), near(PLACE + 1));
    let call = format!("let value_{PLACE} = compute(input, {PLACE});");
    let new = "let value = other();".to_owned();
    let old = match strategy {
        Strategy::Exact => call,
        Strategy::LineTrimmed => format!("  {call}  \n"),
        Strategy::WhitespaceNormalized => call.replace(' ', "  "),
        Strategy::EscapeNormalized => format!("    {call}\\n"),
        Strategy::UnicodeNormalized => format!("  // \"step\"\n    {call}"),
        Strategy::BlockAnchor => format!(
            "    {above}  // “step”\n    {}\n    {below}  // “step”",
            call.replace(", ", " , ")
        ),
    };
    (old, new)
}

#[divan::bench(args = [
    Strategy::Exact,
    Strategy::LineTrimmed,
    Strategy::WhitespaceNormalized,
    Strategy::EscapeNormalized,
    Strategy::UnicodeNormalized,
    Strategy::BlockAnchor,
])]
fn edit(bencher: Bencher<'_, '_>, strategy: Strategy) {
    let content = program(50_000);
    let (old, new) = request(strategy);
    assert_eq!(replace(&content, &old, &new, false).unwrap().strategy, strategy);
    bencher.bench(|| replace(&content, &old, &new, false));
}

#[divan::bench]
fn miss(bencher: Bencher<'_, '_>) {
    let content = program(10_000);
    assert!(content.len() > 400_000, "{}", content.len());
    let old = "fn nowhere() {\n    total -= 1;\n    let x = compute(input);\n}";
    bencher.bench(|| {
        let refusal = replace(&content, old, "x", false);
        (refusal, closest_lines(old, &content))
    });
}

#[divan::bench]
fn patch(bencher: Bencher<'_, '_>) {
    let mut text = "*** Begin Patch\n*** Update File: f\n".to_owned();
    for place in (40..50_000).step_by(500) {
        let call = format!("    let value_{place} = compute(input, {place});");
        let _ = writeln!(text, "@@\n-{call}\n+    let value = other({place});");
    }
    let patch = v4a::parse(&text).unwrap();
    let files = Memory::from([("f".to_owned(), program(50_000))]);
    bencher.bench(|| v4a::apply(&patch, &files).unwrap());
}

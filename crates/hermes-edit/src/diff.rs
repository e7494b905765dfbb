//! Unified diffs for results.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

use crate::lines::to_lf;

/// The most lines of a diff in a result.
const MAX_LINES: usize = 400;
/// About how many characters a diff in a result holds at most.
const MAX_CHARS: usize = 20_000;
/// The most characters of a line of a diff in a result.
const MAX_LINE: usize = 500;
/// Stands for the rest of such a line.
const CUT: &str = "... [line cut]";
/// From the first changed line to the last, how many lines of both texts are compared at most. The
/// time grows faster than the lines do; what is longer counts as changed as a whole.
const MAX_COMPARED: usize = 20_000;
/// How many unchanged lines are shown on each side of a change.
const CONTEXT: u32 = 3;

/// The change of one file from `old` to `new`, with three lines around it.
///
/// `label` is the path that is shown. Line endings aren't compared.
pub fn unified(label: &str, old: &str, new: &str) -> String {
    let mut diffs = Diffs::default();
    diffs.changed(label, old, new);
    diffs.finish()
}

/// The changes of several files as one text. Line endings aren't compared.
#[derive(Clone, Debug, Default)]
pub struct Diffs {
    out: String,
}

impl Diffs {
    /// Adds a file whose text changed.
    pub fn changed(&mut self, label: &str, old: &str, new: &str) {
        self.put(&format!("--- a/{label}\n+++ b/{label}\n"), old, new);
    }

    /// Adds a file that wasn't there before.
    pub fn created(&mut self, label: &str, new: &str) {
        let names = format!("--- /dev/null\n+++ b/{label}\n");
        if new.is_empty() {
            self.out.push_str(&names);
        }
        self.put(&names, "", new);
    }

    /// Adds a file that is gone; `old` is its text if it had any.
    pub fn deleted(&mut self, label: &str, old: Option<&str>) {
        let names = format!("--- a/{label}\n+++ /dev/null\n");
        match old {
            None | Some("") => self.out.push_str(&names),
            Some(old) => self.put(&names, old, ""),
        }
    }

    /// Adds a file with another path, and the change of its text if there is one.
    pub fn moved(&mut self, from: &str, to: &str, change: Option<(&str, &str)>) {
        // Writing to a string can't fail.
        let _ = writeln!(self.out, "rename from {from}\nrename to {to}");
        if let Some((old, new)) = change {
            self.put(&format!("--- a/{from}\n+++ b/{to}\n"), old, new);
        }
    }

    /// The text, cut where it gets too long to read, with a note of how much is missing.
    pub fn finish(self) -> String {
        shorten(self.out)
    }

    fn put(&mut self, names: &str, old: &str, new: &str) {
        let (old, new) = (to_lf(old), to_lf(new));
        let input = InternedInput::new(old.as_ref(), new.as_ref());
        let hunks = hunks(&input);
        if hunks.is_empty() {
            return;
        }
        self.out.push_str(names);
        // Changes with so few lines between them that the lines around them meet are shown as one.
        for group in hunks.chunk_by(|a, b| b.before.start - a.before.end <= 2 * CONTEXT) {
            put_group(&mut self.out, &input, group);
        }
    }
}

fn hunks(input: &InternedInput<&str>) -> Vec<Hunk> {
    let (before, after) = (&input.before, &input.after);
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - head;
    let pairs = before.iter().rev().zip(after.iter().rev());
    let tail = pairs.take(most).take_while(|(a, b)| a == b).count();
    if before.len() + after.len() - 2 * (head + tail) > MAX_COMPARED {
        let changed = |lines: &[Token]| head as u32..(lines.len() - tail) as u32;
        return vec![Hunk { before: changed(before), after: changed(after) }];
    }
    // The histogram algorithm takes quadratic time where many lines occur once; this one gives up
    // on the shortest diff in time.
    let mut diff = Diff::compute(Algorithm::Myers, input);
    diff.postprocess_lines(input);
    diff.hunks().collect()
}

fn put_group(out: &mut String, input: &InternedInput<&str>, group: &[Hunk]) {
    let ([first, ..], [.., last]) = (group, group) else { return };
    let lead = CONTEXT.min(first.before.start);
    let end = input.before.len().min((last.before.end + CONTEXT) as usize) as u32;
    let trail = end - last.before.end;
    let before = first.before.start - lead..end;
    let after = first.after.start - lead..last.after.end + trail;
    // Writing to a string can't fail.
    let _ = writeln!(out, "@@ -{} +{} @@", place(&before), place(&after));
    let mut next = before.start;
    for hunk in group {
        put_lines(out, input, ' ', &input.before, next..hunk.before.start);
        put_lines(out, input, '-', &input.before, hunk.before.clone());
        put_lines(out, input, '+', &input.after, hunk.after.clone());
        next = hunk.before.end;
    }
    put_lines(out, input, ' ', &input.before, next..end);
}

/// Lines by first number and count, as `diff -u` writes them.
fn place(lines: &Range<u32>) -> String {
    match lines.len() {
        // What is empty stands behind the line before.
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn put_lines(
    out: &mut String,
    input: &InternedInput<&str>,
    sign: char,
    tokens: &[Token],
    lines: Range<u32>,
) {
    let tokens = tokens.get(lines.start as usize..lines.end as usize).unwrap_or_default();
    for &token in tokens {
        let line = input.interner[token];
        out.push(sign);
        match line.char_indices().nth(MAX_LINE).and_then(|(end, _)| line.get(..end)) {
            Some(start) if line.trim_end_matches('\n').len() > start.len() => {
                out.push_str(start);
                out.push_str(CUT);
                if line.ends_with('\n') {
                    out.push('\n');
                }
            }
            _ => out.push_str(line),
        }
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn shorten(mut diff: String) -> String {
    let count = diff.lines().count();
    let mut chars = 0;
    let shown: Vec<usize> = diff
        .split_inclusive('\n')
        .take(MAX_LINES)
        .take_while(|line| {
            chars += line.chars().count();
            chars <= MAX_CHARS
        })
        .map(str::len)
        .collect();
    if shown.len() < count {
        diff.truncate(shown.iter().sum());
        let _ = writeln!(diff, "[{} more lines of the diff aren't shown]", count - shown.len());
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn check(old: &str, new: &str, hunks: &str) {
        assert_eq!(unified("d/f", old, new), format!("--- a/d/f\n+++ b/d/f\n{hunks}"));
    }

    #[test]
    fn diffs() {
        check(
            "a\r\nb\r\nc",
            "a\r\nx\r\nc",
            "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n\\ No newline at end of file\n",
        );
        check("", "a\n", "@@ -0,0 +1 @@\n+a\n");
        check("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
        check("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        assert_eq!(unified("d/f", "a\r\n", "a\n"), "");
    }

    #[test]
    fn changes_share_a_hunk_when_the_lines_around_them_meet() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        check(
            &old,
            &old.replace("5\n", "x\n").replace("12\n", "y\n"),
            "@@ -2,17 +2,17 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+y\n 13\n 14\n-15\n\
             +1x\n 16\n 17\n 18\n",
        );
        check(
            &old,
            &old.replacen("5\n", "", 1).replace("13\n", "y\nz\n"),
            "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n\
             @@ -10,7 +9,8 @@\n 10\n 11\n 12\n-13\n+y\n+z\n 14\n 15\n 16\n",
        );
    }

    #[test]
    fn files_come_and_go() {
        let mut diffs = Diffs::default();
        diffs.created("n", "a\n");
        diffs.created("empty", "");
        diffs.deleted("o", Some("b\n"));
        diffs.deleted("binary", None);
        diffs.moved("x", "y", None);
        diffs.moved("p", "q", Some(("c\n", "d\n")));
        assert_eq!(
            diffs.finish(),
            "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n--- /dev/null\n+++ b/empty\n\
             --- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n--- a/binary\n+++ /dev/null\n\
             rename from x\nrename to y\nrename from p\nrename to q\n\
             --- a/p\n+++ b/q\n@@ -1 +1 @@\n-c\n+d\n"
        );
    }

    #[test]
    fn a_long_diff_is_cut() {
        let long = unified("f", "", &"x\n".repeat(1000));
        assert_eq!(long.lines().count(), 401);
        assert!(long.ends_with("[603 more lines of the diff aren't shown]\n"));
        let wide = unified("f", "", &format!("{}\n", "ä".repeat(499)).repeat(100));
        assert!((19_000..20_100).contains(&wide.chars().count()));
        assert!(wide.ends_with("[61 more lines of the diff aren't shown]\n"), "{wide}");
    }

    #[test]
    fn long_lines_are_cut() {
        let (fits, long) = ("x".repeat(500), "ä".repeat(100_000));
        check(
            &format!("{fits}\n"),
            &format!("{fits}\n{long}"),
            &format!(
                "@@ -1 +1,2 @@\n {fits}\n+{}... [line cut]\n\\ No newline at end of file\n",
                "ä".repeat(500)
            ),
        );
    }

    #[test]
    fn large_texts_are_not_slow() {
        let start = std::time::Instant::now();
        for times in [1_600, 100_000] {
            let (old, new) = ("a\nb\n".repeat(times * 3), "b\nb\na\n".repeat(times * 2));
            assert_eq!(unified("f", &old, &new).lines().count(), MAX_LINES + 1);
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(20));
        let old = "a\n".repeat(50_000);
        let (all, last) = (old.replace('a', "b"), old.clone() + "b\n");
        assert_eq!(unified("f", &old, &all).lines().nth(2), Some("@@ -1,50000 +1,50000 @@"));
        check(&old, &last, "@@ -49998,3 +49998,4 @@\n a\n a\n a\n+b\n");
    }
}

//! Unified diffs for results.

use std::time::Duration;

use similar::TextDiff;

use crate::text::to_lf;

/// The most lines of a diff in a result.
const MAX_LINES: usize = 400;

/// The change from `old` to `new` with three lines around it. Line endings aren't compared.
pub(crate) fn unified(label: &str, old: &str, new: &str) -> String {
    let (old, new) = (to_lf(old), to_lf(new));
    let diff = TextDiff::configure()
        .timeout(Duration::from_secs(1))
        .diff_lines(old.as_ref(), new.as_ref());
    let whole = diff
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{label}"), &format!("b/{label}"))
        .to_string();
    let count = whole.lines().count();
    if count <= MAX_LINES {
        return whole;
    }
    let mut short: String = whole.split_inclusive('\n').take(MAX_LINES).collect();
    short.push_str(&format!("[{} more lines of the diff aren't shown]\n", count - MAX_LINES));
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn diffs() {
        assert_eq!(
            unified("d/f", "a\r\nb\r\nc", "a\r\nx\r\nc"),
            "--- a/d/f\n+++ b/d/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n\\ No newline at end of file\n"
        );
        let long = unified("f", "", &"x\n".repeat(1000));
        assert_eq!(long.lines().count(), 401);
        assert!(long.ends_with("[603 more lines of the diff aren't shown]\n"));
    }
}

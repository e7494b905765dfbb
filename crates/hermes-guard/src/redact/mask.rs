//! What is left of a secret.

use super::Mode;

/// Shortest secret, in characters, of which the ends are shown.
const SHORTEST_SHOWN: usize = 18;
/// How many characters are shown of its beginning and of its end.
const SHOWN: (usize, usize) = (6, 4);
/// What stands for a short secret.
pub(super) const HIDDEN: &str = "***";
/// What a marker for a token in a file begins with.
const MARKER: &str = "«redacted:";

/// Appends what stands for `secret`: a marker in the content of a file, so that a masked secret
/// isn't written back as one; else what is left of it.
pub(super) fn push_hidden(out: &mut String, secret: &str, mode: Mode) {
    if mode == Mode::FileRead && !secret.is_empty() && !secret.starts_with(MARKER) {
        push_marker(out, "");
    } else {
        push_masked(out, secret);
    }
}

/// Appends a marker, which names the beginning that tokens of this kind share.
pub(super) fn push_marker(out: &mut String, prefix: &str) {
    out.push_str(MARKER);
    out.push_str(prefix);
    out.push_str("…»");
}

/// Appends what is left of `secret`. What is masked already stays.
pub(super) fn push_masked(out: &mut String, secret: &str) {
    if secret.is_empty() || secret.starts_with(MARKER) {
        out.push_str(secret);
        return;
    }
    let chars = secret.chars().count();
    if chars < SHORTEST_SHOWN {
        out.push_str(HIDDEN);
        return;
    }
    let (head, tail) = SHOWN;
    out.extend(secret.chars().take(head));
    out.push_str("...");
    out.extend(secret.chars().skip(chars - tail));
}

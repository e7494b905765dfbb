//! Commands that lose what was there, worth a snapshot before they run.
//!
//! This decides about snapshots only; it is no security gate. A command counts if it deletes,
//! moves or overwrites files: by itself, through a wrapper such as `sudo` or `xargs`, in a
//! subshell, a substitution or the text given to `sh -c`, or by a redirect to a file. What is
//! quoted, commented out or in a here-document is data.

mod judge;
mod scan;
mod wrappers;

/// Most texts that are looked into because a command runs them, such as that of `sh -c`.
const MOST_TEXTS: usize = 32;

/// A text that a command runs.
struct Script {
    text: String,
    /// Whether only the substitutions in it run, as in a here-document.
    is_data: bool,
}

/// Whether the shell command loses what was there. When it hides too much to tell, it does.
///
/// The time is linear in the length.
#[must_use]
pub fn is_destructive(command: &str) -> bool {
    let mut scripts = Vec::new();
    if scan::scan(command, false, &mut scripts) {
        return true;
    }
    let mut looked_into = 0;
    while let Some(script) = scripts.pop() {
        looked_into += 1;
        if looked_into > MOST_TEXTS || scan::scan(&script.text, script.is_data, &mut scripts) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;

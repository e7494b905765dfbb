//! `sudo` in a command, and how it gets a password.

use hermes_command::outline::{Part, Word, outline};

use crate::program::{base_name, chain};

/// Longest command that is looked into, in bytes.
const MOST: usize = 256 * 1024;

/// How many programs of a command are `sudo`.
///
/// ```
/// use hermes_terminal::sudo_count;
///
/// assert_eq!(sudo_count("A=1 sudo ls && if sudo x; then echo sudo; fi # sudo"), 2);
/// ```
#[must_use]
pub fn sudo_count(command: &str) -> usize {
    sudos(command).len()
}

/// The text to hand to bash: every `sudo` that might ask for a password asks a helper for it
/// (`sudo -A`), the one that `SUDO_ASKPASS` names. All else stays as it is written, and what was
/// prepared once stays too.
///
/// The password is in neither the text nor the input of the command.
///
/// ```
/// use hermes_terminal::prepare_command;
///
/// assert_eq!(prepare_command("echo sudo | sudo tee f"), "echo sudo | sudo -A tee f");
/// assert_eq!(prepare_command("sudo -n true && a &"), "sudo -n true && a &");
/// ```
#[must_use]
pub fn prepare_command(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut from = 0;
    for sudo in sudos(command).into_iter().filter(|sudo| !sudo.has_own_way) {
        out.push_str(command.get(from..sudo.end).unwrap_or_default());
        out.push_str(" -A");
        from = sudo.end;
    }
    out.push_str(command.get(from..).unwrap_or_default());
    out
}

/// Whether output of `sudo` says that the password was wrong.
///
/// ```
/// assert!(hermes_terminal::sudo_auth_failed("sudo: 1 incorrect password attempt"));
/// ```
#[must_use]
pub fn sudo_auth_failed(output: &str) -> bool {
    let output = output.to_lowercase();
    ["incorrect password attempt", "authentication failed", "maximum 3 incorrect"]
        .iter()
        .any(|it| output.contains(it))
}

/// Whether output of `sudo` says that it needs a password and can't ask for it.
///
/// ```
/// assert!(hermes_terminal::sudo_needs_password("sudo: a password is required"));
/// ```
#[must_use]
pub fn sudo_needs_password(output: &str) -> bool {
    let output = output.to_lowercase();
    ["a password is required", "no tty present", "a terminal is required"]
        .iter()
        .any(|it| output.contains(it))
}

/// A `sudo` of a command.
struct Sudo {
    /// Where its name ends, in bytes.
    end: usize,
    /// Whether its options say already how it gets a password, or that it gets none.
    has_own_way: bool,
}

/// In the order of the text.
fn sudos(command: &str) -> Vec<Sudo> {
    if command.len() > MOST || !command.contains("do") {
        return Vec::new();
    }
    let outline = outline(command);
    let parts = outline.scripts.iter().flat_map(|script| &script.parts);
    // Of a text that has no end, quotes in a name may be all there is.
    let is_sound = |it: &Sudo| {
        let start = it.end.saturating_sub("sudo".len());
        outline.is_complete || command.get(start..it.end) == Some("sudo")
    };
    let mut found: Vec<_> = parts.filter_map(sudo).filter(is_sound).collect();
    found.sort_unstable_by_key(|sudo| sudo.end);
    found
}

fn sudo(part: &Part) -> Option<Sudo> {
    let Part::Command(command) = part else { return None };
    if command.is_test {
        return None;
    }
    let mut programs = chain(command).into_iter().filter_map(<[Word]>::split_first);
    let (first, args) = programs.find(|(first, _)| base_name(&first.text) == "sudo")?;
    Some(Sudo { end: first.span.end, has_own_way: has_own_way(args) })
}

/// Whether options say how it gets a password.
fn has_own_way(args: &[Word]) -> bool {
    for arg in args {
        let text = arg.text.as_str();
        match text.strip_prefix("--") {
            Some("") => return false,
            Some("askpass" | "stdin" | "non-interactive" | "help" | "version") => return true,
            Some(_) => {}
            None => match text.strip_prefix('-') {
                // A value may follow, whose letters are no options.
                Some(letters) if !letters.is_empty() => {
                    let own = letters.find(|c| "ugpCcDRrtTUh".contains(c));
                    let own = own.map_or(letters, |at| letters.split_at(at).0);
                    if own.contains(['A', 'S', 'n', 'V']) {
                        return true;
                    }
                }
                _ => return false,
            },
        }
    }
    false
}

#[cfg(test)]
#[path = "sudo_tests.rs"]
mod tests;

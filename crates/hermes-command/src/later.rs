//! Files that other programs run, or find in them what to run, without being told to.

use crate::names::{is_pattern, matches};

/// Whether what is written to a path runs later on: hooks and settings of git, units of a user's
/// services, programs of a session. `below_home` is the path below a person's home.
pub(crate) fn runs_later(path: &str, below_home: Option<&str>) -> bool {
    is_of_git(path) || below_home.is_some_and(starts_with_session)
}

/// A hook or a settings file of a git repository or of one of its modules, or what says where the
/// repository is. Some file systems don't tell upper from lower case.
fn is_of_git(path: &str) -> bool {
    if !path.as_bytes().windows(4).any(|it| it.eq_ignore_ascii_case(b".git")) {
        return false;
    }
    let path = path.to_ascii_lowercase();
    let mut parts = path.split('/').skip_while(|part| !part.ends_with(".git")).peekable();
    let is_pointer = parts.next() == Some(".git") && parts.peek().is_none();
    let mut found = is_pointer;
    while let Some(part) = parts.next() {
        let is = |name: &str| part == name || (is_pattern(part) && matches(part, name));
        let is_last = parts.peek().is_none();
        found |= is("hooks");
        found |= is_last && (is("config") || is("config.worktree"));
        // Names of branches may be anything.
        if matches!(part, "refs" | "logs" | "objects") {
            break;
        }
    }
    found
}

/// What programs of a user's session read at their start, below the home.
fn starts_with_session(rest: &str) -> bool {
    const FILES: [&str; 8] = [
        ".gitconfig",
        ".config/git/config",
        ".pam_environment",
        ".xprofile",
        ".xinitrc",
        ".xsession",
        ".xsessionrc",
        ".crontab",
    ];
    const FOLDERS: [&str; 7] = [
        ".config/systemd/user",
        ".local/share/systemd/user",
        ".config/autostart",
        ".config/environment.d",
        ".config/plasma-workspace/env",
        ".config/autostart-scripts",
        "Library/LaunchAgents",
    ];
    FILES.contains(&rest)
        || FOLDERS.iter().any(|folder| {
            let rest = rest.strip_prefix(folder);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

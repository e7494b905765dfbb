//! Files that are changed by their paths, without a command.

use crate::env::Env;
use crate::judge::Judge;
use crate::path::resolve_text;
use crate::report::{Ctx, Finding};
use crate::value::{plain, quoted};

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileChange {
    /// It is made, or its content is changed.
    Written,
    /// It is deleted, or moved elsewhere.
    Removed,
}

impl FileChange {
    /// A word for it, e.g. in keys of agreements.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Written => "write",
            Self::Removed => "delete",
        }
    }
}

/// Why a person must agree to a change of the file at `path`, which is absolute; none for most
/// files. A command with the same effect has the same rule.
///
/// Nothing is looked up: a caller that follows links asks about each name on the way.
#[must_use]
pub fn judge_file(path: &str, change: FileChange, ctx: &Ctx) -> Option<Finding> {
    // The path is no pattern, whatever its letters.
    let literal: String = path.chars().map(quoted).collect();
    let mut judge = Judge::new(ctx);
    judge.argv = vec![change.verb().to_owned(), path.to_owned()];
    let target = resolve_text(&literal, &Env::new(ctx));
    judge.judge_path(&target, change == FileChange::Removed);
    let mut finding = judge.into_findings().into_iter().next()?;
    finding.why = plain(&finding.why);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn rule(path: &str, change: FileChange) -> Option<&'static str> {
        let ctx = Ctx {
            cwd: "/home/alice/project".into(),
            home: "/home/alice".into(),
            hermes_home: "/home/alice/.hermes".into(),
            env: Vec::new(),
        };
        judge_file(path, change, &ctx).map(|finding| finding.rule_id)
    }

    #[test]
    fn a_path_is_judged_as_a_command_would_be() {
        for (path, expected) in [
            ("/home/alice/project/src/main.rs", None),
            ("/home/alice/project/config.yaml", None),
            ("/home/alice/project/.env.example", None),
            ("/home/alice/project/.env", Some("environment_file")),
            ("/home/alice/project/.env.local", Some("environment_file")),
            ("/home/alice/.bashrc", Some("shell_startup")),
            ("/home/alice/x/../.bashrc", Some("shell_startup")),
            ("/home/bob/.zshrc", Some("shell_startup")),
            ("/home/alice/.config/fish/config.fish", Some("shell_startup")),
            ("/home/alice/.ssh/authorized_keys", Some("credentials_written")),
            ("/home/alice/.npmrc", Some("credentials_written")),
            ("/home/alice/project/.npmrc", None),
            ("/home/alice/.hermes/config.yaml", Some("agent_state")),
            ("/home/alice/.hermes/skills/a/SKILL.md", None),
            ("/etc/cron.d/x", Some("system_file_written")),
            ("/var/spool/cron/crontabs/alice", Some("system_file_written")),
            ("/home/alice/project/.git/hooks/pre-commit", Some("runs_later")),
            ("/home/alice/project/.git/modules/a/hooks/post-merge", Some("runs_later")),
            ("/home/alice/project/.git/config", Some("runs_later")),
            ("/home/alice/project/.GIT/Hooks/pre-commit", Some("runs_later")),
            ("/srv/x.git/hooks/update", Some("runs_later")),
            ("/home/alice/tree/.git", Some("runs_later")),
            ("/home/alice/project/.github/hooks/x", None),
            ("/home/alice/project/.gitignore", None),
            ("/home/alice/project/.git/refs/heads/hooks/x", None),
            ("/home/alice/project/.git/HEAD", None),
            ("/home/alice/project/git/hooks/x", None),
            ("/home/alice/.gitconfig", Some("runs_later")),
            ("/home/alice/.config/systemd/user/a.service", Some("runs_later")),
            ("/home/alice/.config/nvim/init.lua", None),
            // Letters of a pattern are letters of the name here.
            ("/home/alice/project/.env*", None),
            ("/home/alice/*", None),
            ("/*", None),
        ] {
            assert_eq!(rule(path, FileChange::Written), expected, "{path}");
        }
    }

    #[test]
    fn what_is_removed_runs_no_more() {
        assert_eq!(rule("/w/.git/hooks/pre-commit", FileChange::Removed), None);
        assert_eq!(rule("/home/alice/.bashrc", FileChange::Removed), Some("shell_startup"));
        assert_eq!(rule("/usr/bin/x", FileChange::Removed), Some("system_file_removed"));
    }

    #[test]
    fn names_are_shown_as_they_are() {
        let ctx = Ctx {
            cwd: "/".into(),
            home: "/home/a".into(),
            hermes_home: "/h/x".into(),
            env: Vec::new(),
        };
        let found = judge_file("/w/[1]/.env", FileChange::Written, &ctx).unwrap();
        assert!(found.why.contains("/w/[1]/.env"), "{found:?}");
        assert_eq!(found.argv, ["write", "/w/[1]/.env"]);
    }
}

//! What an approval is remembered under, and what remembered entries cover.

use std::collections::BTreeSet;

use hermes_command::{Category, Finding, SimpleCommand};
use hermes_guard::redact::{Mode, redact};
use sha2::{Digest as _, Sha256};

/// Longest part of a key that is written out, in characters.
const MAX_HEAD: usize = 200;

/// The key of a finding: its rule and the command it is about, `recursive_delete:rm -rf build`.
///
/// Where the command can't be written down (a part of it is unknown, it is long or it holds a
/// secret), a digest of the whole text goes with it, so that the key covers that very text.
#[must_use]
pub fn key_of(finding: &Finding, command: &str) -> String {
    let head = head(&finding.argv);
    let shown = redact(&head, Mode::Log);
    let is_exact = !head.is_empty()
        && shown == head
        && head.chars().count() <= MAX_HEAD
        && !finding.argv.iter().any(|part| part.contains("$?"))
        && !head.chars().any(char::is_control);
    if is_exact {
        return format!("{}:{head}", finding.rule_id);
    }
    let shown: String = shown.chars().filter(|c| !c.is_control()).take(MAX_HEAD / 4).collect();
    format!("{}:{shown}#{}", finding.rule_id, digest(command))
}

/// The normalised argv, as [`SimpleCommand::head`] has it.
fn head(argv: &[String]) -> String {
    if argv.is_empty() {
        return String::new();
    }
    let command = SimpleCommand {
        argv: argv.to_vec(),
        span: 0..0,
        is_known: true,
        has_redirect: false,
        depth: 0,
    };
    command.head()
}

/// The beginning of a text's SHA-256.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// The whole SHA-256 of a text.
pub(crate) fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether one of the entries covers a finding: its very key, its rule, or what upstream would
/// have called it.
pub(crate) fn covers(entries: &BTreeSet<String>, key: &str, finding: &Finding) -> bool {
    entries.contains(key)
        || entries.contains(finding.rule_id)
        || entries.iter().any(|entry| is_upstream_name(entry, finding))
}

/// Whether an entry is the name of a rule of upstream, which keeps its lists by description.
#[must_use]
pub fn is_upstream_key(entry: &str) -> bool {
    let entry = entry.trim().to_lowercase();
    UPSTREAM.iter().any(|name| entry == name.text)
}

fn is_upstream_name(entry: &str, finding: &Finding) -> bool {
    let entry = entry.trim().to_lowercase();
    let program = finding.argv.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    UPSTREAM.iter().filter(|name| entry == name.text).any(|name| {
        name.category == finding.category
            && (name.programs.is_empty() || name.programs.contains(&program))
            && name.argument.is_none_or(|fits| finding.argv.iter().skip(1).any(|arg| fits(arg)))
    })
}

/// One of upstream's rules, by its description, and which of our findings it would have made.
struct Upstream {
    /// The description in lower case.
    text: &'static str,
    category: Category,
    /// The programs it is about; none is all.
    programs: &'static [&'static str],
    /// What one of the arguments must be.
    argument: Option<fn(&str) -> bool>,
}

const fn of(text: &'static str, category: Category, programs: &'static [&'static str]) -> Upstream {
    Upstream { text, category, programs, argument: None }
}

const fn with(
    text: &'static str,
    category: Category,
    programs: &'static [&'static str],
    argument: fn(&str) -> bool,
) -> Upstream {
    Upstream { text, category, programs, argument: Some(argument) }
}

use Category::{
    FilesystemFormat, HistoryRewrite, Kill, Other, Permission, RecursiveDelete, RemoteCode,
    SelfHarm, ServiceControl, SqlDestructive, SystemConfigOverwrite,
};

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];
const DOCKER: &[&str] = &["docker", "podman", "docker-compose"];

/// What imported lists may hold. Rules that upstream has for what never runs are not here: no
/// entry can lift those.
#[rustfmt::skip]
static UPSTREAM: &[Upstream] = &[
    with("delete in root path", RecursiveDelete, &["rm"], |arg| arg.starts_with('/')),
    of("recursive delete", RecursiveDelete, &["rm"]),
    of("recursive delete (long flag)", RecursiveDelete, &["rm"]),
    of("windows cmd destructive delete", RecursiveDelete, &["cmd", "cmd.exe", "del", "rd", "rmdir"]),
    of("windows powershell destructive delete", RecursiveDelete, &["powershell", "pwsh", "powershell.exe"]),
    of("powershell encoded command execution", RemoteCode, &["powershell", "pwsh", "powershell.exe"]),
    of("world/other-writable permissions", Permission, &["chmod"]),
    of("recursive world/other-writable (long flag)", Permission, &["chmod"]),
    of("recursive chown to root", Permission, &["chown"]),
    of("recursive chown to root (long flag)", Permission, &["chown"]),
    of("format filesystem", FilesystemFormat, &[]),
    of("sql drop", SqlDestructive, &[]),
    of("sql delete without where", SqlDestructive, &[]),
    of("sql truncate", SqlDestructive, &[]),
    of("overwrite system config", SystemConfigOverwrite, &[]),
    of("stop/restart system service", ServiceControl, &["systemctl"]),
    of("force kill processes", Kill, &["pkill", "killall"]),
    of("pipe remote content to shell", RemoteCode, &[]),
    of("execute remote script via process substitution", RemoteCode, &[]),
    of("execute remote content via command substitution", RemoteCode, &[]),
    of("pipe decoded content to shell", RemoteCode, &[]),
    of("overwrite system file via tee", SystemConfigOverwrite, &["tee"]),
    of("overwrite system file via redirection", SystemConfigOverwrite, &[]),
    of("overwrite project env/config via tee", SystemConfigOverwrite, &["tee"]),
    of("overwrite project env/config via redirection", SystemConfigOverwrite, &[]),
    of("overwrite project env/config file", SystemConfigOverwrite, &["cp", "mv", "install"]),
    of("xargs with rm", RecursiveDelete, &["rm", "xargs"]),
    of("find -exec rm", RecursiveDelete, &["find"]),
    of("find -exec/-execdir rm", RecursiveDelete, &["find"]),
    with("find -delete", RecursiveDelete, &["find"], |arg| arg == "-delete"),
    of("stop/restart hermes gateway (kills running agents)", SelfHarm, &["hermes"]),
    of("stop/restart hermes gateway", SelfHarm, &["hermes"]),
    with("hermes update", SelfHarm, &["hermes"], |arg| arg == "update"),
    with("hermes update (restarts gateway, kills running agents)", SelfHarm, &["hermes"], |arg| arg == "update"),
    of("docker compose restart/stop/kill/down", ServiceControl, DOCKER),
    of("docker compose restart/stop/kill/down (container lifecycle)", ServiceControl, DOCKER),
    of("docker restart/stop/kill", ServiceControl, DOCKER),
    of("docker restart/stop/kill (container lifecycle)", ServiceControl, DOCKER),
    of("kill hermes/gateway process", SelfHarm, &["pkill", "killall"]),
    of("kill hermes/gateway process (self-termination)", SelfHarm, &["pkill", "killall"]),
    of("kill process via pgrep/pidof expansion", SelfHarm, &["kill"]),
    of("stop/restart hermes launchd service", SelfHarm, &["launchctl"]),
    of("copy/move file into system config path", SystemConfigOverwrite, &["cp", "mv", "install"]),
    of("copy/move file into sensitive path", SystemConfigOverwrite, &["cp", "mv", "install"]),
    of("in-place edit of sensitive path", SystemConfigOverwrite, &["sed", "perl", "ruby"]),
    of("in-place edit of system config", SystemConfigOverwrite, &["sed", "perl", "ruby"]),
    of("in-place edit of system config (long flag)", SystemConfigOverwrite, &["sed"]),
    of("shell execution via heredoc", RemoteCode, SHELLS),
    of("shell command via -c/-lc flag", RemoteCode, SHELLS),
    with("git reset --hard (destroys uncommitted changes)", HistoryRewrite, &["git"], |arg| arg == "reset"),
    with("git reset --hard", HistoryRewrite, &["git"], |arg| arg == "reset"),
    with("git force push (rewrites remote history)", HistoryRewrite, &["git"], |arg| arg == "push"),
    with("git force push short flag (rewrites remote history)", HistoryRewrite, &["git"], |arg| arg == "push"),
    with("git force push", HistoryRewrite, &["git"], |arg| arg == "push"),
    with("git clean with force (deletes untracked files)", RecursiveDelete, &["git"], |arg| arg == "clean"),
    with("git clean with force", RecursiveDelete, &["git"], |arg| arg == "clean"),
    with("git branch force delete", HistoryRewrite, &["git"], |arg| arg == "branch"),
    of("sudo with privilege flag (stdin/askpass/shell/list)", Other, &["sudo"]),
    of("sudo privilege flags", Other, &["sudo"]),
];

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn finding(rule_id: &'static str, category: Category, argv: &[&str]) -> Finding {
        let argv = argv.iter().map(|&arg| arg.to_owned()).collect();
        Finding { rule_id, category, hardline: false, span: 0..0, argv, why: String::new() }
    }

    fn rm(argv: &[&str]) -> Finding {
        finding("recursive_delete", RecursiveDelete, argv)
    }

    #[test]
    fn a_key_is_about_one_command() {
        let key = |argv: &[&str]| key_of(&rm(argv), "the text");
        assert_eq!(key(&["rm", "-rf", "build"]), "recursive_delete:rm -rf build");
        assert_eq!(key(&["/bin/rm", "build", "-rf"]), "recursive_delete:rm -rf build");
        assert_ne!(key(&["rm", "-rf", "src"]), key(&["rm", "-rf", "build"]));
        // What can't be known or written down stands for one text only.
        for argv in
            [&["rm", "-rf", "$?"][..], &[], &["rm", "-r", "a\nb"], &["rm", &"x".repeat(500)]]
        {
            let key = key(argv);
            assert!(key.ends_with(&format!("#{}", digest("the text"))), "{key}");
            assert!(key.chars().count() < 100, "{key}");
        }
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        assert!(!key(&["rm", "-rf", token]).contains(token));
    }

    #[test]
    fn entries_cover_keys_rules_and_what_upstream_called_them() {
        let covered = |entry: &str, finding: &Finding| {
            let entries = BTreeSet::from([entry.to_owned()]);
            covers(&entries, &key_of(finding, ""), finding)
        };
        let build = rm(&["rm", "-rf", "build"]);
        for (entry, expected) in [
            ("recursive_delete:rm -rf build", true),
            ("recursive_delete:rm -rf src", false),
            ("recursive_delete", true),
            ("recursive delete", true),
            ("Recursive Delete (long flag)", true),
            ("delete in root path", false),
            ("find -delete", false),
            ("git reset --hard", false),
            ("", false),
        ] {
            assert_eq!(covered(entry, &build), expected, "{entry}");
        }
        assert!(covered("delete in root path", &rm(&["rm", "-r", "/opt/x/y"])));
        let push = finding("force_push", HistoryRewrite, &["git", "push", "-f"]);
        assert!(covered("git force push", &push) && !covered("git reset --hard", &push));
        assert!(is_upstream_key("SQL DROP") && !is_upstream_key("rm *"));
    }

    #[test]
    fn names_are_written_as_they_are_compared() {
        for name in UPSTREAM {
            assert_eq!(name.text, name.text.to_lowercase());
        }
    }
}

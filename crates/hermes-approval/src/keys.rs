//! What an approval is remembered under, and what remembered entries cover.

mod upstream;

use std::collections::BTreeSet;

use hermes_command::{Finding, Report, SimpleCommand};
use hermes_guard::redact::{Mode, redact};
use sha2::{Digest as _, Sha256};

pub use upstream::is_upstream_key;

/// Longest part of a key that is written out, in characters.
const MAX_HEAD: usize = 200;

/// The key of a finding: its rule and the command it is about, `recursive_delete:rm -rf build`.
///
/// Where its words don't tell all about the command, a digest of the whole text goes with them, so
/// that the key covers that very text: where a word is unknown or a secret, where it is run by
/// another program, reads from a pipe or a file, writes to a file, or starts in another folder.
#[must_use]
pub fn key_of(finding: &Finding, command: &str, report: &Report) -> String {
    let head = head(&finding.argv);
    let shown = redact(&head, Mode::Log);
    if shown == head
        && head.chars().count() <= MAX_HEAD
        && is_told_by_words(finding, command, report)
    {
        return format!("{}:{head}", finding.rule_id);
    }
    let shown: String = shown.chars().filter(|c| !c.is_control()).take(MAX_HEAD / 4).collect();
    format!("{}:{shown}#{}", finding.rule_id, digest(command))
}

fn is_told_by_words(finding: &Finding, command: &str, report: &Report) -> bool {
    let argv = &finding.argv;
    let is_plain = |word: &String| !word.contains("$?") && !word.chars().any(char::is_control);
    let before = command.get(..finding.span.start).unwrap_or_default().trim_end();
    let is_fed = before.ends_with("|&") || (before.ends_with('|') && !before.ends_with("||"));
    let moves = |it: &SimpleCommand| {
        it.argv.first().is_some_and(|it| matches!(it.as_str(), "cd" | "pushd" | "popd"))
    };
    !argv.is_empty()
        && argv.iter().all(is_plain)
        && !is_fed
        && !report.commands.iter().any(moves)
        && report.commands.iter().any(|it| {
            it.depth == 0
                && it.span == finding.span
                && !it.has_redirect
                && ends_with(&it.argv, argv)
        })
}

/// Whether a command is what another one runs in the end, or the same: `sudo /bin/rm x`, `rm x`.
fn ends_with(outer: &[String], inner: &[String]) -> bool {
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let end = outer.len().checked_sub(inner.len()).and_then(|start| outer.get(start..));
    match (end.and_then(<[String]>::split_first), inner.split_first()) {
        (Some((a, end)), Some((b, rest))) => name(a) == name(b) && end == rest,
        _ => false,
    }
}

/// The program without its folder and its arguments, quoted so that no two commands read the same.
/// Options of `rm`, which have no values, come first and in order.
fn head(argv: &[String]) -> String {
    let Some((program, args)) = argv.split_first() else { return String::new() };
    let program = program.rsplit('/').next().unwrap_or_default();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    if program == "rm" && !args.contains(&"--") {
        let is_option = |arg: &&str| arg.len() > 1 && arg.starts_with('-');
        let (mut options, operands): (Vec<&str>, Vec<&str>) = args.into_iter().partition(is_option);
        options.sort_unstable();
        args = options.into_iter().chain(operands).collect();
    }
    let words: Vec<String> = std::iter::once(program).chain(args).map(quoted).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "-_./:=@%+,~^*?[]{}$!#".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
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
    entries.iter().any(|entry| is_covered_by(entry, key, finding))
}

/// The same for one entry.
pub(crate) fn is_covered_by(entry: &str, key: &str, finding: &Finding) -> bool {
    entry == key || entry == finding.rule_id || upstream::covers(entry, finding)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use hermes_command::Category::{self, HistoryRewrite, RecursiveDelete};

    use super::*;

    fn finding(rule_id: &'static str, category: Category, argv: &[&str]) -> Finding {
        let argv = argv.iter().map(|&arg| arg.to_owned()).collect();
        Finding { rule_id, category, hardline: false, span: 0..0, argv, why: String::new() }
    }

    fn rm(argv: &[&str]) -> Finding {
        finding("recursive_delete", RecursiveDelete, argv)
    }

    fn key(command: &str) -> String {
        let cx = hermes_command::Ctx {
            cwd: "/home/alice/project".into(),
            home: "/home/alice".into(),
            hermes_home: "/home/alice/.hermes".into(),
            env: Vec::new(),
        };
        let report = hermes_command::classify(command, &cx);
        key_of(report.findings.first().unwrap(), command, &report)
    }

    #[test]
    fn a_key_is_about_one_command() {
        for (command, expected) in [
            ("rm -rf build", "recursive_delete:rm -rf build"),
            ("ls; /bin/rm build -rf", "recursive_delete:rm -rf build"),
            ("sudo rm -rf build", "recursive_delete:rm -rf build"),
            ("D=build; rm -rf $D && ls", "recursive_delete:rm -rf build"),
            ("true && rm -rf 'a b'", "recursive_delete:rm -rf 'a b'"),
            ("rm -rf a b", "recursive_delete:rm -rf a b"),
        ] {
            assert_eq!(key(command), expected, "{command}");
        }
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        // What words don't tell stands for one text only.
        for command in [
            "rm -rf \"$1\"",
            "cd build; rm -rf *",
            "rm -r $'a\\nb'",
            &format!("rm -r {}", "x".repeat(500)),
            &format!("rm -rf {token}"),
            "echo 'DROP TABLE x' | psql",
            "psql <<< 'DROP TABLE x'",
            "bash -c 'rm -rf x'",
            "echo x > ~/.bashrc",
            "ls | xargs rm -rf",
        ] {
            let key = key(command);
            assert!(key.ends_with(&format!("#{}", digest(command))), "{command}: {key}");
            assert!(key.chars().count() < 100 && !key.contains(token), "{key}");
        }
    }

    #[test]
    fn entries_cover_keys_rules_and_what_upstream_called_them() {
        let covered = |entry: &str, finding: &Finding| {
            let entries = BTreeSet::from([entry.to_owned()]);
            covers(&entries, "recursive_delete:rm -rf build", finding)
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
        let push = finding("git_force_push", HistoryRewrite, &["git", "push", "-f"]);
        assert!(covered("git force push", &push) && !covered("git reset --hard", &push));
        assert!(is_upstream_key("SQL DROP") && !is_upstream_key("rm *"));
    }
}

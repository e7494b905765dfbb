//! The part of a decision that needs nobody: everything before a scanner, a model or a person.

use hermes_command::{Category, Finding, Report};

use crate::allowlist::text_of;
use crate::decision::{By, Decision};
use crate::glob::Glob;
use crate::mailbox::QUEUE;
use crate::policy::{Mode, Policy};
use crate::refusal;
use crate::variants::variants;

/// Where an answer may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// From a person.
    Person,
    /// From nobody: a scheduled job.
    Cron,
    /// From nobody.
    Nobody,
}

/// Everything that the ruling depends on.
pub(crate) struct Facts<'f> {
    pub(crate) command: &'f str,
    /// Whether it is a command: texts on the allowlist mean nothing else.
    pub(crate) is_command: bool,
    pub(crate) report: &'f Report,
    pub(crate) policy: &'f Policy,
    pub(crate) reach: Reach,
    pub(crate) is_yolo: bool,
    pub(crate) is_forced: bool,
    pub(crate) has_sudo_password: bool,
    /// Folders and their short names, longest first.
    pub(crate) homes: &'f [(&'f str, &'f str)],
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Ruling {
    /// Nothing more.
    Settled(Decision),
    /// Look for findings, and refuse if there are any.
    Unattended,
    /// Look for findings, and ask about them.
    Attended,
}

/// Goes through the steps in their order.
pub(crate) fn rule(facts: &Facts<'_>) -> Ruling {
    let Facts { command, report, policy, .. } = *facts;
    if let Some(finding) = report.findings.iter().find(|finding| finding.hardline) {
        let mut decision = Decision::refused(By::Hardline, refusal::hardline(&finding.why));
        decision.description = Some(finding.why.clone());
        return Ruling::Settled(decision);
    }
    if !facts.has_sudo_password && report.commands.iter().any(|it| feeds_sudo(&it.argv)) {
        return Ruling::Settled(Decision::refused(By::PasswordGuess, refusal::password_guess()));
    }
    if let Some(rule) = denied_by(&policy.deny, command, report, facts.homes) {
        return Ruling::Settled(Decision::refused(By::DenyRule, refusal::deny_rule(&rule)));
    }
    let passed = |by: By| Ruling::Settled(Decision::approved(by));
    if facts.is_forced {
        return passed(By::Force);
    }
    if facts.is_yolo {
        return passed(By::Yolo);
    }
    if policy.mode == Mode::Off {
        return passed(By::ModeOff);
    }
    if facts.is_command && text_of(&policy.allowlist, command, report).is_some() {
        return passed(By::Allowlist);
    }
    match facts.reach {
        Reach::Person => Ruling::Attended,
        Reach::Cron if policy.cron_approves => passed(By::CronMode),
        Reach::Nobody if policy.noninteractive_approves => passed(By::Noninteractive),
        Reach::Cron | Reach::Nobody => Ruling::Unattended,
    }
}

/// The first of the rules that a command meets: by its text, by a spelling of it without
/// disguises, or by what one of its simple commands would run.
#[must_use]
pub fn denied_by(
    rules: &[String],
    command: &str,
    report: &Report,
    homes: &[(&str, &str)],
) -> Option<String> {
    if rules.is_empty() {
        return None;
    }
    let mut texts = variants(command, homes);
    for simple in &report.commands {
        let Some((program, args)) = simple.argv.split_first() else { continue };
        let args = args.join(" ");
        let joined = |program: &str| format!("{program} {args}").trim_end().to_owned();
        texts.push(joined(program));
        // What isn't known of a program's name is mostly nothing: `s${x}udo`.
        texts.push(joined(&program.replace("$?", "")));
        texts.push(joined(program.rsplit('/').next().unwrap_or_default()));
        texts.extend(command.get(simple.span.clone()).map(|text| text.trim().to_owned()));
    }
    let globs = rules.iter().map(|rule| Glob::new(rule, true));
    let met = |glob: &Glob| texts.iter().any(|text| glob.fits(text));
    globs.into_iter().find(met).map(|glob| glob.text().to_owned())
}

/// Options of sudo whose value is the next word.
const SUDO_VALUES: &str = "CDghpRrtTuU";

/// Long options of sudo whose value may be the next word.
const SUDO_LONG_VALUES: [&str; 10] = [
    "close-from",
    "chdir",
    "group",
    "host",
    "prompt",
    "chroot",
    "role",
    "type",
    "command-timeout",
    "user",
];

/// Whether it is sudo, told to take the password from its standard input.
fn feeds_sudo(argv: &[String]) -> bool {
    let mut words = argv.iter().map(String::as_str);
    let program = words.next().unwrap_or_default();
    if program.rsplit('/').next() != Some("sudo") {
        return false;
    }
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            // Unambiguous from three letters on: `--sh` and `--se` are others.
            if long.len() >= 2 && "stdin".starts_with(long) {
                return true;
            }
            if long.is_empty() {
                return false;
            }
            if SUDO_LONG_VALUES.contains(&long) || long == "other-user" {
                words.next();
            }
        } else if let Some(bundle) = word.strip_prefix('-').filter(|it| !it.is_empty()) {
            for (at, letter) in bundle.char_indices() {
                if letter == 'S' {
                    return true;
                }
                if SUDO_VALUES.contains(letter) {
                    if at + letter.len_utf8() == bundle.len() {
                        words.next();
                    }
                    break;
                }
            }
        } else if !is_assignment(word) {
            return false;
        }
    }
    false
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// What an agent would do to answer its own questions behind the back of `hermes approval`, which
/// the classifier knows.
pub(crate) fn self_approval(command: &str) -> Option<Finding> {
    let at = command.find(QUEUE)?;
    Some(Finding {
        rule_id: "self_approval",
        category: Category::SelfHarm,
        hardline: false,
        span: at..at + QUEUE.len(),
        argv: Vec::new(),
        why: "It touches the questions that wait for a person.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use hermes_command::SimpleCommand;
    use pretty_assertions::assert_eq;

    use super::*;

    fn report(commands: &[&str]) -> Report {
        let simple = |(depth, text): (usize, &&str)| SimpleCommand {
            argv: text.split(' ').map(str::to_owned).collect(),
            span: 0..0,
            is_known: true,
            has_redirect: false,
            depth,
        };
        Report {
            commands: commands.iter().enumerate().map(simple).collect(),
            complete: true,
            ..Report::default()
        }
    }

    #[test]
    fn the_option_itself_is_found() {
        for (command, expected) in [
            ("sudo -S id", true),
            ("/usr/bin/sudo -kS id", true),
            ("sudo -u root -S id", true),
            ("sudo -uroot -S id", true),
            ("sudo --stdin id", true),
            ("sudo --std id", true),
            ("sudo --user root --stdin id", true),
            ("sudo --user=root --stdin id", true),
            ("sudo A=1 -S id", true),
            ("sudo -s", false),
            ("sudo --shell", false),
            ("sudo --set-home id", false),
            ("sudo -u S id", false),
            ("sudo -uS id", false),
            ("sudo -p -S id", false),
            ("sudo sort -S 1M", false),
            ("sudo -- -S", false),
            ("sort -S 1M", false),
        ] {
            let argv: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(feeds_sudo(&argv), expected, "{command}");
        }
    }

    #[test]
    fn rules_meet_what_runs() {
        let denied = |rule: &str, command: &str, commands: &[&str]| {
            denied_by(&[rule.to_owned()], command, &report(commands), &[("/home/a", "~")]).is_some()
        };
        assert!(denied("sudo *", "/usr/bin/sudo id", &["/usr/bin/sudo id"]));
        assert!(denied("sudo *", r"sud\o id", &[]));
        assert!(denied("sudo *", "command sudo id", &["command sudo id", "sudo id"]));
        assert!(denied(
            "git push --force*",
            "true; git push --force",
            &["true", "git push --force"]
        ));
        assert!(denied("GIT push*", "Git PUSH x", &["Git PUSH x"]));
        assert!(denied("rm ~/x", "rm /home/a/x", &[]));
        assert!(!denied("sudo *", "echo sudo id", &["echo sudo id"]));
        assert!(!denied("sudo *", "sudoku x", &["sudoku x"]));
        assert!(denied("*secret*", "cat a_SECRET_b", &[]));
    }

    #[test]
    fn the_order_of_the_steps_is_kept() {
        let hard = Finding {
            rule_id: "r",
            category: Category::RecursiveDelete,
            hardline: true,
            span: 0..0,
            argv: Vec::new(),
            why: "x".into(),
        };
        let soft = Finding { hardline: false, ..hard.clone() };
        let by = |findings: &[&Finding], change: &dyn Fn(&mut Facts<'_>)| {
            let policy = Policy { mode: Mode::Off, ..Policy::default() };
            let report = Report {
                findings: findings.iter().map(|&it| it.clone()).collect(),
                ..report(&["rm x"])
            };
            let mut facts = Facts {
                command: "rm x",
                is_command: true,
                report: &report,
                policy: &policy,
                reach: Reach::Nobody,
                is_yolo: true,
                is_forced: true,
                has_sudo_password: false,
                homes: &[],
            };
            change(&mut facts);
            match rule(&facts) {
                Ruling::Settled(decision) => Some(decision.by),
                _ => None,
            }
        };
        assert_eq!(by(&[&hard], &|_| {}), Some(By::Hardline));
        assert_eq!(by(&[&soft], &|_| {}), Some(By::Force));
        assert_eq!(by(&[&soft], &|facts| facts.is_forced = false), Some(By::Yolo));
        let neither = |facts: &mut Facts<'_>| {
            facts.is_forced = false;
            facts.is_yolo = false;
        };
        assert_eq!(by(&[&soft], &neither), Some(By::ModeOff));
        let policy = Policy { deny: vec!["rm *".into()], ..Policy::default() };
        let mut denied = None;
        let report = report(&["rm x"]);
        for reach in [Reach::Person, Reach::Cron, Reach::Nobody] {
            let facts = Facts {
                command: "rm x",
                is_command: true,
                report: &report,
                policy: &policy,
                reach,
                is_yolo: true,
                is_forced: true,
                has_sudo_password: true,
                homes: &[],
            };
            denied = Some(rule(&facts));
        }
        assert!(matches!(denied, Some(Ruling::Settled(it)) if it.user_deny));
    }

    #[test]
    fn an_allowed_text_is_one_plain_command() {
        let allowed = |entry: &str, command: &str, report: &Report| {
            text_of(&[entry.to_owned()], command, report).is_some()
        };
        let one = report(&["podman rm x"]);
        assert!(
            allowed("podman *", "podman rm x", &one)
                && allowed("podman rm x", " podman rm x ", &one)
        );
        assert!(!allowed("Podman *", "podman rm x", &one));
        for command in
            ["podman rm x; y", "podman rm 'a|b'", "podman rm $(x)", "podman rm\nx", "podman > x"]
        {
            assert!(!allowed("*", command, &one), "{command}");
        }
        let hidden = Report { has_substitution: true, ..report(&["podman rm x"]) };
        let broken = Report { complete: false, ..report(&["podman rm x"]) };
        assert!(!allowed("*", "podman rm x", &hidden) && !allowed("*", "podman rm x", &broken));
        // What a wrapper runs is no second command.
        assert!(allowed(
            "sudo *",
            "sudo podman rm x",
            &report(&["sudo podman rm x", "podman rm x"])
        ));
    }
}

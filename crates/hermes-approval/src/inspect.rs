//! What the gate would see in a command, without deciding or asking.

use std::ops::Range;
use std::path::Path;

use hermes_command::{Report, classify};
use serde_json::{Value, json};

use crate::allowlist::text_of;
use crate::gate::{Approvals, CommandRequest};
use crate::keys::{is_covered_by, key_of};
use crate::ruling::{denied_by, self_approval};
use crate::shown::{Shown, line};

/// Most characters of a sentence.
const MAX_WHY: usize = 600;

/// What there is to say about a command.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The command with its secrets masked.
    pub shown: String,
    /// What was found, and where in [`shown`](Self::shown).
    pub findings: Vec<Inspected>,
    /// The rule of `approvals.deny` that it meets.
    pub denied_by: Option<String>,
    /// The entries of `command_allowlist` because of which nobody is asked; none if somebody is, or
    /// if there is nothing to ask about. They lift neither what is never run nor what is denied.
    pub agreed_by: Vec<String>,
    report: Report,
}

/// One finding for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// What an approval would be remembered under.
    pub key: String,
    /// A sentence, secrets masked.
    pub why: String,
    /// Whether it keeps the command from ever being run.
    pub hardline: bool,
    /// The part of the shown command that it is about, in bytes.
    pub span: Range<usize>,
}

impl Inspection {
    /// Whether somebody must agree.
    #[must_use]
    pub fn is_dangerous(&self) -> bool {
        self.report.is_dangerous()
    }

    /// Whether it is never run.
    #[must_use]
    pub fn is_hardline(&self) -> bool {
        self.report.is_hardline()
    }

    /// Whether it could run without anybody being asked.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        !self.is_dangerous() && self.denied_by.is_none()
    }

    /// For programs. Spans are those of the command as it was given.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let findings = self.report.findings.iter().zip(&self.findings).map(|(finding, shown)| {
            json!({
                "rule_id": finding.rule_id,
                "category": finding.category.name(),
                "hardline": finding.hardline,
                "key": shown.key,
                "span": [finding.span.start, finding.span.end],
                "why": shown.why,
            })
        });
        json!({
            "dangerous": self.is_dangerous(),
            "category": self.report.category().map_or("none", |category| category.name()),
            "hardline": self.is_hardline(),
            "denied_by": self.denied_by,
            "agreed_by": self.agreed_by,
            "complete": self.report.complete,
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}

impl Approvals {
    /// Looks at a command that would start in `cwd` on this host.
    #[must_use]
    pub fn inspect(&self, command: &str, cwd: &Path) -> Inspection {
        let request = CommandRequest::new("", command).in_folder(cwd);
        let mut report = classify(command, &self.place_of(&request, cwd));
        report.findings.extend(self_approval(command));
        let shown = Shown::new(command);
        let finding = |finding: &hermes_command::Finding| Inspected {
            key: key_of(finding, command, &report),
            why: line(&finding.why, MAX_WHY),
            hardline: finding.hardline,
            span: shown.span(&finding.span),
        };
        let findings: Vec<Inspected> = report.findings.iter().map(finding).collect();
        let (home, hermes) = self.homes();
        let homes = [(hermes.as_str(), "~/.hermes"), (home.as_str(), "~")];
        let policy = self.policy();
        let denied_by = denied_by(&policy.deny, command, &report, &homes);
        let may_be_agreed = denied_by.is_none() && report.is_dangerous() && !report.is_hardline();
        let agreed_by = if may_be_agreed {
            agreed_by(&policy.allowlist, command, &report, &findings)
        } else {
            Vec::new()
        };
        Inspection { findings, denied_by, agreed_by, report, shown: shown.text }
    }
}

/// The entries that cover a command: one its text, or others all that was found.
fn agreed_by(
    entries: &[String],
    command: &str,
    report: &Report,
    findings: &[Inspected],
) -> Vec<String> {
    if let Some(entry) = text_of(entries, command, report) {
        return vec![entry.clone()];
    }
    let mut used: Vec<String> = Vec::new();
    for (finding, inspected) in report.findings.iter().zip(findings) {
        let entry = entries.iter().find(|entry| is_covered_by(entry, &inspected.key, finding));
        let Some(entry) = entry else { return Vec::new() };
        if !used.contains(entry) {
            used.push(entry.clone());
        }
    }
    used
}

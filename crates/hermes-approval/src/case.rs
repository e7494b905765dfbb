//! What is asked about, with what is dangerous about it.

use std::ops::Range;

use hermes_command::{Category, Finding, Report};

use crate::keys::key_of;
use crate::shown::line;

/// Most characters of a description.
pub(crate) const MAX_DESCRIPTION: usize = 600;

/// The key under which whole scripts are agreed to.
pub(crate) const SCRIPT_KEY: &str = "execute_code";

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A command of a shell.
    Command,
    /// A script of another language.
    Script,
    /// Changes of files.
    Files,
}

/// A command with all that is known about it.
pub(crate) struct Case<'c> {
    pub(crate) tool: &'c str,
    /// What would run.
    pub(crate) text: &'c str,
    /// What people see of it, and what spans of findings point into.
    pub(crate) display: &'c str,
    pub(crate) report: Report,
    pub(crate) what: What,
}

/// A reason for asking.
pub(crate) struct Flag {
    pub(crate) key: String,
    pub(crate) why: String,
    pub(crate) span: Range<usize>,
    /// What it is remembered for; none for the scanner's, which hold for a session at most.
    pub(crate) finding: Option<Finding>,
}

impl Case<'_> {
    /// What the classifier found, one reason for each key.
    pub(crate) fn flags(&self) -> Vec<Flag> {
        let mut flags: Vec<Flag> = Vec::new();
        for finding in &self.report.findings {
            let key = key_of(finding, self.display, &self.report);
            if flags.iter().all(|flag| flag.key != key) {
                flags.push(Flag {
                    key,
                    why: finding.why.clone(),
                    span: finding.span.clone(),
                    finding: Some(finding.clone()),
                });
            }
        }
        flags
    }
}

impl Flag {
    pub(crate) fn copy(&self) -> Self {
        Self {
            key: self.key.clone(),
            why: self.why.clone(),
            span: self.span.clone(),
            finding: self.finding.clone(),
        }
    }
}

/// All reasons in one text.
pub(crate) fn describe(flags: &[Flag]) -> String {
    let whys: Vec<&str> = flags.iter().map(|flag| flag.why.trim_end_matches('.')).collect();
    line(&whys.join("; "), MAX_DESCRIPTION)
}

pub(crate) fn script_flag() -> Flag {
    let finding = Finding {
        rule_id: SCRIPT_KEY,
        category: Category::Other,
        hardline: false,
        span: 0..0,
        argv: Vec::new(),
        why: "It runs a whole script.".to_owned(),
    };
    Flag {
        key: SCRIPT_KEY.to_owned(),
        why: finding.why.clone(),
        span: 0..0,
        finding: Some(finding),
    }
}

/// A script as the shell would be given it.
pub(crate) fn as_here_document(interpreter: &str, code: &str) -> String {
    let mut end = "END".to_owned();
    while code.lines().any(|line| line == end) {
        end.push('_');
    }
    let interpreter = if interpreter.trim().is_empty() { "python3" } else { interpreter.trim() };
    let line_end = if code.ends_with('\n') || code.is_empty() { "" } else { "\n" };
    format!("{interpreter} - <<'{end}'\n{code}{line_end}{end}\n")
}

/// A new name for a question.
pub(crate) fn new_id() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    // Seeded by the system at random; a question's name is no secret.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let id = hasher.finish() & 0xffff_ffff_ffff;
    format!("{id:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_cannot_end_its_here_document() {
        let shell = as_here_document("", "print(1)\nEND\nrm");
        assert_eq!(shell, "python3 - <<'END_'\nprint(1)\nEND\nrm\nEND_\n");
    }

    #[test]
    fn ids_differ_and_have_their_form() {
        let ids: std::collections::BTreeSet<String> = (0..100).map(|_| new_id()).collect();
        assert!(ids.len() > 90 && ids.iter().all(|id| id.len() == 12));
    }
}

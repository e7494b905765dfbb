//! What the scanner prints. It only enriches: the exit code is the verdict.

use std::fmt;

use serde_json::Value;

use crate::shown::line;

/// Most findings that are looked at.
const MAX_FINDINGS: usize = 50;

/// Longest summary, in characters.
const MAX_SUMMARY: usize = 500;

/// Longest text of a finding, in characters.
const MAX_TEXT: usize = 300;

/// One thing that a scanner objects to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanFinding {
    /// The scanner's rule.
    pub rule_id: String,
    /// How bad it is, in the scanner's words.
    pub severity: String,
    /// What it is.
    pub title: String,
    /// More about it.
    pub description: String,
}

impl fmt::Display for ScanFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.severity.is_empty() {
            write!(f, "[{}] ", self.severity)?;
        }
        let title = if self.title.is_empty() { &self.rule_id } else { &self.title };
        f.write_str(title)?;
        if !self.description.is_empty() {
            write!(f, ": {}", self.description)?;
        }
        Ok(())
    }
}

/// The findings and the summary of a report; nothing of one that can't be read.
pub(super) fn parse(stdout: &[u8]) -> (Vec<ScanFinding>, String) {
    let Ok(report) = serde_json::from_slice::<Value>(stdout) else { return Default::default() };
    let text = |value: &Value, key: &str, max: usize| match value.get(key) {
        Some(Value::String(text)) => line(text.trim(), max),
        _ => String::new(),
    };
    let finding = |value: &Value| ScanFinding {
        rule_id: text(value, "rule_id", MAX_TEXT),
        severity: text(value, "severity", MAX_TEXT),
        title: text(value, "title", MAX_TEXT),
        description: text(value, "description", MAX_TEXT),
    };
    let findings = report.get("findings").and_then(Value::as_array);
    let findings = findings.into_iter().flatten().filter(|it| it.is_object());
    (findings.take(MAX_FINDINGS).map(finding).collect(), text(&report, "summary", MAX_SUMMARY))
}

/// Whether all that is found is that `.app`, an ordinary domain, looks like a program's name.
pub(super) fn is_about_app_domains(findings: &[ScanFinding]) -> bool {
    let is_app = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.match_indices(".app").any(|(at, found)| {
            let after = text.get(at + found.len()..).unwrap_or_default();
            !after.starts_with(|c: char| c.is_alphanumeric())
        })
    };
    !findings.is_empty()
        && findings.iter().all(|finding| {
            finding.rule_id == "lookalike_tld"
                && (is_app(&finding.title) || is_app(&finding.description))
        })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn reports_are_read_as_far_as_they_can_be() {
        let report = json!({
            "findings": [
                {"rule_id": "r", "severity": "high", "title": "T\x1b[2J", "description": "d", "more": 1},
                "junk",
                {"rule_id": 7},
            ],
            "summary": "é".repeat(600),
        });
        let (findings, summary) = parse(report.to_string().as_bytes());
        assert_eq!(findings.len(), 2);
        assert_eq!(findings[0].to_string(), "[high] T [2J: d");
        assert_eq!(summary.chars().count(), MAX_SUMMARY + 1);
        let many = json!({"findings": vec![json!({"rule_id": "r"}); 80]});
        assert_eq!(parse(many.to_string().as_bytes()).0.len(), MAX_FINDINGS);
        for bad in ["", "{", "[]", r#"{"findings": 3, "summary": []}"#] {
            assert_eq!(parse(bad.as_bytes()), Default::default());
        }
    }

    #[test]
    fn an_app_domain_alone_is_no_lookalike() {
        let finding = |rule_id: &str, title: &str| ScanFinding {
            rule_id: rule_id.to_owned(),
            title: title.to_owned(),
            ..ScanFinding::default()
        };
        assert!(is_about_app_domains(&[finding("lookalike_tld", "TLD .app looks like a file")]));
        assert!(!is_about_app_domains(&[finding("lookalike_tld", "TLD .apple")]));
        assert!(!is_about_app_domains(&[finding("lookalike_tld", "TLD .zip")]));
        assert!(!is_about_app_domains(&[finding("lookalike_tld", ".app"), finding("x", ".app")]));
        assert!(!is_about_app_domains(&[]));
    }
}

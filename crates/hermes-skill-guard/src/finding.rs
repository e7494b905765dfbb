//! What a scan finds.

use serde_json::{Value, json};

/// Most characters of a line that are told of.
const MAX_MATCH: usize = 120;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth a look.
    Medium,
    /// Rarely harmless.
    High,
    /// Never harmless.
    Critical,
}

impl Severity {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Data that leaves the machine.
    Exfiltration,
    /// Text that gives orders to the model.
    Injection,
    /// Data that is lost.
    Destructive,
    /// What stays and runs later.
    Persistence,
    /// Connections that nobody expects.
    Network,
    /// What hides what it does.
    Obfuscation,
    /// Text that is run.
    Execution,
    /// Paths that leave their folder.
    Traversal,
    /// Computing for somebody else.
    Mining,
    /// Software from elsewhere.
    SupplyChain,
    /// More rights than needed.
    PrivilegeEscalation,
    /// Keys in the open.
    CredentialExposure,
    /// The form of the folder.
    Structure,
}

impl Category {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exfiltration => "exfiltration",
            Self::Injection => "injection",
            Self::Destructive => "destructive",
            Self::Persistence => "persistence",
            Self::Network => "network",
            Self::Obfuscation => "obfuscation",
            Self::Execution => "execution",
            Self::Traversal => "traversal",
            Self::Mining => "mining",
            Self::SupplyChain => "supply_chain",
            Self::PrivilegeEscalation => "privilege_escalation",
            Self::CredentialExposure => "credential_exposure",
            Self::Structure => "structure",
        }
    }
}

/// Something in a skill that somebody should know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, by its stable name.
    pub pattern_id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub category: Category,
    /// The file, by its path in the skill.
    pub file: String,
    /// The line, from 1 on; 0 if it is about the file.
    pub line: usize,
    /// The line, or as much of it as is told of: 120 characters, without control characters.
    pub matched: String,
    /// A sentence for people.
    pub description: String,
}

impl Finding {
    pub(crate) fn new(
        rule: (&str, Severity, Category),
        file: &str,
        line: usize,
        matched: &str,
        description: impl Into<String>,
    ) -> Self {
        let (pattern_id, severity, category) = rule;
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        Self {
            pattern_id: pattern_id.to_owned(),
            severity,
            category,
            file: file.to_owned(),
            line,
            matched: matched.trim().chars().take(MAX_MATCH).map(visible).collect(),
            description: description.into(),
        }
    }

    /// For programs.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "pattern_id": self.pattern_id,
            "severity": self.severity.name(),
            "category": self.category.name(),
            "file": self.file,
            "line": self.line,
            "match": self.matched,
            "description": self.description,
        })
    }
}

/// What all findings come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing that matters.
    Safe,
    /// Something that is rarely harmless.
    Caution,
    /// Something that never is.
    Dangerous,
}

impl Verdict {
    /// The verdict on findings.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        match findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Critical) => Self::Dangerous,
            Some(Severity::High) => Self::Caution,
            _ => Self::Safe,
        }
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Dangerous => "dangerous",
        }
    }
}

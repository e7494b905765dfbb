//! The external scanner: a program that is shown each command before it runs.

mod breaker;
mod report;
mod tirith;

use std::future::Future;
use std::pin::Pin;

pub use report::ScanFinding;
pub use tirith::{ScannerConfig, Tirith};

/// What a scanner says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanAction {
    /// It may run.
    #[default]
    Allow,
    /// A person should look at it.
    Warn,
    /// It shouldn't run. A person may still agree.
    Block,
}

/// What a scanner says about one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanVerdict {
    /// The verdict.
    pub action: ScanAction,
    /// Why, as far as the scanner tells.
    pub findings: Vec<ScanFinding>,
    /// All of it in few words.
    pub summary: String,
}

impl ScanVerdict {
    /// A verdict without a word.
    #[must_use]
    pub fn new(action: ScanAction) -> Self {
        Self { action, ..Self::default() }
    }

    /// What an approval is remembered under, for a session at most.
    #[must_use]
    pub fn key(&self) -> String {
        let rule = self.findings.first().map(|finding| finding.rule_id.as_str());
        format!("tirith:{}", rule.filter(|rule| !rule.is_empty()).unwrap_or("unknown"))
    }

    /// The reasons in one text.
    #[must_use]
    pub fn description(&self) -> String {
        let lines: Vec<String> = self.findings.iter().map(ScanFinding::to_string).collect();
        match (lines.is_empty(), self.summary.is_empty()) {
            (false, _) => lines.join("; "),
            (true, false) => self.summary.clone(),
            (true, true) => "the security scanner objects".to_owned(),
        }
    }
}

/// A verdict to come.
pub type ScanFuture<'a> = Pin<Box<dyn Future<Output = ScanVerdict> + Send + 'a>>;

/// Something that looks at commands before they run.
pub trait Scanner: Send + Sync {
    /// Looks at a command. What goes wrong is the scanner's own business: it decides whether that
    /// lets commands through.
    fn scan<'a>(&'a self, command: &'a str, config: &'a ScannerConfig) -> ScanFuture<'a>;
}

//! What a person should look at in the configuration; for `hermes config check` and the doctor.

use std::fmt::Display;
use std::io;

use hermes_config::keys::{self, Severity};
use hermes_hooks::shell::parse_hooks_config;
use hermes_tools::approvals::{Mode, Policy};
use hermes_tools::toolset::{CustomToolsets, validate_denials, validate_platform_toolsets};
use serde_json::{Value, json};

use crate::host::{Host, mcp_servers};
use crate::output::Output;
use crate::style::{BAD, WARN};

/// Something to look at.
pub(crate) struct Problem {
    /// Whether something doesn't work, or works otherwise than was meant.
    pub(crate) is_error: bool,
    /// What it is about, in one line.
    pub(crate) message: String,
}

impl Problem {
    /// Something that doesn't work.
    pub(crate) fn error(message: &(impl Display + ?Sized)) -> Self {
        Self { is_error: true, message: message.to_string() }
    }

    /// Something that may be a mistake.
    pub(crate) fn warning(message: &(impl Display + ?Sized)) -> Self {
        Self { is_error: false, message: message.to_string() }
    }

    /// For programs.
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "severity": if self.is_error { "error" } else { "warning" },
            "message": self.message,
        })
    }

    /// For people.
    pub(crate) fn write(&self, out: &mut Output) -> io::Result<()> {
        use std::io::Write as _;
        let (style, word) = if self.is_error { (BAD, "error") } else { (WARN, "warning") };
        writeln!(out, "{style}{word}{style:#}: {}", self.message)
    }
}

/// All problems of the configuration and the tools, worst first.
pub(crate) fn find(host: &Host) -> Vec<Problem> {
    let config = host.settings().config();
    let mut problems: Vec<Problem> = host.refused.iter().map(Problem::error).collect();
    if let Err(errors) = validate_denials(&host.world, config, &[]) {
        problems.extend(errors.iter().map(Problem::error));
    }
    problems.extend(keys::check(config).iter().map(|problem| match problem.severity {
        Severity::Error => Problem::error(problem),
        Severity::Warning => Problem::warning(problem),
    }));
    let hooks = config.get("hooks").unwrap_or(&Value::Null);
    problems.extend(parse_hooks_config(hooks).warnings.iter().map(Problem::warning));
    problems.extend(CustomToolsets::parse(config, &host.world).1.iter().map(Problem::error));
    let lists = config.get("platform_toolsets").unwrap_or(&Value::Null);
    let report = validate_platform_toolsets(&host.world, lists, &mcp_servers(config));
    problems.extend(report.unknown.iter().map(Problem::warning));
    problems.extend(report.without_tools.iter().map(|platform| {
        Problem::warning(&format!("platform_toolsets.{platform} names no toolset: no tools there"))
    }));
    problems.extend(host.loaded.warnings.iter().map(Problem::warning));
    let policy = Policy::of(config, host.settings());
    problems.extend(policy.warnings.iter().map(Problem::warning));
    if policy.mode == Mode::Smart {
        problems.extend(crate::review::problem(host.settings()).iter().map(Problem::warning));
    }
    #[cfg(not(feature = "otel"))]
    problems.extend(crate::traces::asked_for_by(host.settings()).map(|variable| {
        Problem::warning(&format!(
            "{variable} is set, but this program exports no traces: it has no feature `otel`"
        ))
    }));
    // Stable: within a severity the order above stays.
    problems.sort_by_key(|problem| !problem.is_error);
    problems
}

//! Commands in scripts and in fenced blocks, by what they would do.

use hermes_command::{Category as Effect, Ctx, classify};

use crate::finding::{Category, Finding, Severity};

/// Most blocks of a file that are looked into.
const MAX_BLOCKS: usize = 200;

/// What the words after a fence say of a shell.
const SHELLS: [&str; 8] = ["sh", "bash", "shell", "zsh", "console", "shell-session", "ksh", "fish"];

/// What the classifier has against a whole script.
pub(crate) fn of_script(file: &str, text: &str) -> Vec<Finding> {
    judged(file, text, 1)
}

/// What it has against the blocks of shell in a text.
pub(crate) fn of_blocks(file: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut open: Option<(&str, bool, usize, String)> = None;
    let mut blocks = 0;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence));
        match (&mut open, fence) {
            (None, Some(fence)) => {
                let info = trimmed.trim_start_matches(['`', '~']).trim();
                let word = info.split([' ', '{', ',']).next().unwrap_or_default();
                let is_shell = SHELLS.iter().any(|it| word.eq_ignore_ascii_case(it));
                open = Some((fence, is_shell, number + 2, String::new()));
            }
            (Some((begun, ..)), Some(fence)) if *begun == fence => {
                if let Some((_, true, at, body)) = open.take()
                    && blocks < MAX_BLOCKS
                {
                    blocks += 1;
                    found.extend(judged(file, &body, at));
                }
                open = None;
            }
            (Some((_, true, _, body)), _) => {
                // A session shows its prompts.
                body.push_str(trimmed.strip_prefix("$ ").unwrap_or(line));
                body.push('\n');
            }
            (Some(_), _) | (None, None) => {}
        }
    }
    if let Some((_, true, at, body)) = open {
        found.extend(judged(file, &body, at));
    }
    found
}

fn judged(file: &str, text: &str, first_line: usize) -> Vec<Finding> {
    let ctx = Ctx {
        cwd: "/home/user/skill".to_owned(),
        home: "/home/user".to_owned(),
        hermes_home: "/home/user/.hermes".to_owned(),
        env: Vec::new(),
    };
    let report = classify(text, &ctx);
    let findings = report.findings.iter().map(|finding| {
        let before = text.get(..finding.span.start).unwrap_or_default();
        let line = first_line + before.matches('\n').count();
        let part = text.get(finding.span.clone()).unwrap_or_default();
        let severity = match finding.category {
            _ if finding.hardline => Severity::Critical,
            Effect::RemoteCode | Effect::SelfHarm | Effect::SystemConfigOverwrite => Severity::High,
            _ => Severity::Medium,
        };
        let rule = format!("command_{}", finding.rule_id);
        let category = category(finding.category);
        Finding::new((&rule, severity, category), file, line, part, finding.why.clone())
    });
    findings.collect()
}

const fn category(effect: Effect) -> Category {
    match effect {
        Effect::SystemConfigOverwrite | Effect::SelfHarm => Category::Persistence,
        Effect::RemoteCode => Category::SupplyChain,
        Effect::Permission => Category::PrivilegeEscalation,
        Effect::Other => Category::Execution,
        _ => Category::Destructive,
    }
}

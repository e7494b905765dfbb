//! Placeholder of the command classifier: splits at blanks and knows `rm -r` only.

mod report;

pub use report::{Category, Ctx, Finding, Report, SimpleCommand};

/// Placeholder.
#[must_use]
pub fn classify(command: &str, _cx: &Ctx) -> Report {
    let mut report = Report { complete: true, ..Report::default() };
    for part in command.split([';', '\n', '&', '|']) {
        let argv: Vec<String> = part.split_whitespace().map(str::to_owned).collect();
        let start = part.as_ptr() as usize - command.as_ptr() as usize;
        let trimmed = part.len() - part.trim_start().len();
        let span = start + trimmed..start + trimmed + part.trim().len();
        let mut argv = argv.as_slice();
        let mut depth = 0;
        while let Some(name) = argv.first() {
            report.commands.push(SimpleCommand {
                argv: argv.to_vec(),
                span: span.clone(),
                is_known: true,
                has_redirect: false,
                depth,
            });
            depth += 1;
            if name.ends_with("rm") && argv.iter().any(|it| it.starts_with("-r")) {
                let hardline = argv.iter().any(|it| it == "/");
                report.findings.push(Finding {
                    rule_id: "recursive_delete",
                    category: Category::RecursiveDelete,
                    hardline,
                    span: span.clone(),
                    argv: argv.to_vec(),
                    why: "It deletes folders with all that is in them.".to_owned(),
                });
            }
            if !matches!(name.as_str(), "sudo" | "command") {
                break;
            }
            argv = argv.get(1..).unwrap_or_default();
        }
    }
    report
}

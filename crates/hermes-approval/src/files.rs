//! Changes of files that somebody must agree to.

use hermes_command::{Finding, Report, SimpleCommand};
use hermes_registry::ToolContext;

use crate::case::{Case, What};
use crate::decision::{By, Decision};
use crate::gate::{Approvals, DecisionFuture};
use crate::keys::sha256;

/// Most characters of a content that are shown.
const MAX_SHOWN: usize = 4000;

/// A file that a tool wants to change, and why that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// What [`hermes_command::judge_file`] found. Its `argv` is what an agreement covers: a verb
    /// and the path.
    pub finding: Finding,
    /// Whether the content is a secret, which isn't shown or written to a log.
    pub is_secret: bool,
}

impl ChangedFile {
    /// A file by what was found.
    #[must_use]
    pub fn new(finding: Finding) -> Self {
        const SECRET: [&str; 3] = ["credentials_written", "environment_file", "agent_state"];
        Self { is_secret: SECRET.contains(&finding.rule_id), finding }
    }
}

/// Changes of files that a tool wants to make, as far as they are dangerous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRequest {
    /// The tool.
    pub tool: String,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// What would be written: a content or a patch.
    pub content: String,
}

/// Decides about changes of files: `cx.service::<dyn FileGate>()`. A tool that changes files asks it
/// about those that [`hermes_command::judge_file`] has a reason for, and about no others. Where a
/// host lends none, such files aren't changed.
pub trait FileGate: Send + Sync {
    /// Whether the files may be changed. Waits for a person where one is to be asked.
    fn decide_files<'a>(
        &'a self,
        request: &'a FileRequest,
        cx: &'a ToolContext,
    ) -> DecisionFuture<'a>;
}

impl FileGate for Approvals {
    fn decide_files<'a>(
        &'a self,
        request: &'a FileRequest,
        cx: &'a ToolContext,
    ) -> DecisionFuture<'a> {
        Box::pin(async {
            if request.files.is_empty() {
                return Decision::approved(By::Nothing);
            }
            let (display, report) = described(request);
            // What is agreed to beforehand is agreed to with its content.
            let text = format!("{display}\n{}", sha256(&request.content));
            let case = Case {
                tool: &request.tool,
                text: &text,
                display: &display,
                report,
                what: What::Files,
            };
            self.run(&case, cx).await
        })
    }
}

/// The changes as people see them, a line each and then the content, and as the gate knows them.
fn described(request: &FileRequest) -> (String, Report) {
    let mut display = String::new();
    let mut report = Report { complete: true, ..Report::default() };
    for file in &request.files {
        let mut finding = file.finding.clone();
        let start = display.len();
        let words: Vec<String> = finding.argv.iter().map(|word| visible(word)).collect();
        display.push_str(&words.join(" "));
        finding.span = start..display.len();
        display.push('\n');
        report.commands.push(SimpleCommand {
            argv: finding.argv.clone(),
            span: finding.span.clone(),
            is_known: true,
            has_redirect: false,
            depth: 0,
        });
        report.findings.push(finding);
    }
    if request.files.iter().any(|file| file.is_secret) {
        display.push_str("(its content isn't shown: it may hold secrets)\n");
    } else if !request.content.is_empty() {
        display.push('\n');
        let mut chars = request.content.chars();
        display.extend(chars.by_ref().take(MAX_SHOWN));
        if chars.next().is_some() {
            display.push_str("\n(the rest isn't shown)\n");
        }
    }
    (display, report)
}

/// A word on one line.
fn visible(word: &str) -> String {
    word.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use hermes_command::{Ctx, FileChange, judge_file};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::keys::key_of;

    fn request(paths: &[&str], content: &str) -> FileRequest {
        let ctx = Ctx {
            cwd: "/w".into(),
            home: "/home/a".into(),
            hermes_home: "/home/a/.hermes".into(),
            env: Vec::new(),
        };
        let found = |path: &&str| judge_file(path, FileChange::Written, &ctx).unwrap();
        FileRequest {
            tool: "write_file".into(),
            files: paths.iter().map(found).map(ChangedFile::new).collect(),
            content: content.into(),
        }
    }

    #[test]
    fn an_agreement_is_about_one_file_whatever_is_written() {
        let keys = |paths: &[&str], content: &str| -> Vec<String> {
            let (display, report) = described(&request(paths, content));
            report.findings.iter().map(|finding| key_of(finding, &display, &report)).collect()
        };
        let key = "shell_startup:write /home/a/.bashrc";
        assert_eq!(keys(&["/home/a/.bashrc"], "a"), [key]);
        assert_eq!(keys(&["/home/a/.bashrc"], "b\ncd x; rm -r y"), [key]);
        assert_eq!(
            keys(&["/w/.git/config", "/home/a/.bashrc"], ""),
            ["runs_later:write /w/.git/config", key]
        );
        let odd = keys(&["/w/a\n/.git/config"], "");
        assert!(odd[0].contains('#') && !odd[0].contains('\n'), "{odd:?}");
    }

    #[test]
    fn contents_are_shown_unless_they_are_secrets() {
        let shown = |paths: &[&str], content: &str| described(&request(paths, content)).0;
        let text = shown(&["/home/a/.bashrc"], "alias x=y\n");
        assert_eq!(text, "write /home/a/.bashrc\n\nalias x=y\n");
        let text = shown(&["/home/a/.bashrc", "/w/.env"], "hunter2");
        assert!(text.contains("write /w/.env\n") && !text.contains("hunter2"), "{text}");
        let long = "x".repeat(MAX_SHOWN + 1);
        assert!(shown(&["/home/a/.bashrc"], &long).ends_with("(the rest isn't shown)\n"));
    }
}

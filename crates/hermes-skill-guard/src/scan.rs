//! Looking through a skill.

use std::collections::BTreeSet;

use hermes_guard::threats::{self, Scope};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::finding::{Category, Finding, Severity, Verdict};
use crate::ignored::Ignored;
use crate::rules;
use crate::shape::{self, Kind, SkillFile};
use crate::shell;
use crate::trust::{Decision, Trust};

/// Changes with the rules, so that older results don't count.
pub const SCANNER_VERSION: u32 = 1;

/// Most findings of one rule in one file.
const MAX_ALIKE: usize = 5;
/// How much is scanned for injected text at a time, in bytes, and how much of it again.
const WINDOW: usize = 60_000;
const OVERLAP: usize = 2000;
/// Most findings that are kept.
const MAX_FINDINGS: usize = 500;

/// What a look through a skill came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// How far the source is trusted.
    pub trust: Trust,
    /// What all findings come to.
    pub verdict: Verdict,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
    /// The files that were scanned and may be installed, in order. Others are left out.
    pub files: Vec<String>,
    digest: String,
    source: String,
}

/// Looks through the files of a skill from `source`.
#[must_use]
pub fn scan(files: &[SkillFile<'_>], source: &str) -> Scan {
    let kept = kept(files);
    let mut findings = shape::findings(&kept);
    for file in &kept {
        if let Some(content) = file.content() {
            findings.extend(of_content(file, content));
        }
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings.truncate(MAX_FINDINGS);
    Scan {
        trust: Trust::of(source),
        verdict: Verdict::of(&findings),
        findings,
        files: kept.iter().map(|file| file.path.to_owned()).collect(),
        digest: digest(&kept),
        source: source.to_owned(),
    }
}

/// The files that count, in order.
fn kept<'a>(files: &[SkillFile<'a>]) -> Vec<SkillFile<'a>> {
    let ignored = Ignored::of(files);
    let mut kept: Vec<_> = files.iter().filter(|file| !ignored.has(file)).copied().collect();
    kept.sort_by_key(|file| file.path);
    kept
}

fn of_content(file: &SkillFile<'_>, content: &[u8]) -> Vec<Finding> {
    if content.contains(&0) && !is_wide(content) {
        let rule = ("binary_content", Severity::Medium, Category::Structure);
        let why = "It isn't text and wasn't looked into.";
        return vec![Finding::new(rule, file.path, 0, "", why)];
    }
    let text = text_of(content);
    let mut found = Vec::new();
    for ready in rules::of_text(&text) {
        let rule = ready.rule;
        let what = (rule.id, rule.severity, rule.category);
        let lines = text.lines().enumerate().filter(|(_, line)| ready.is_met_by(line));
        let met = lines.take(MAX_ALIKE);
        found.extend(met.map(|(n, line)| Finding::new(what, file.path, n + 1, line, rule.why)));
    }
    let ids: BTreeSet<String> =
        windows(&text).flat_map(|part| threats::scan(part, Scope::Strict)).collect();
    for id in ids {
        let rule = (&*id, Severity::High, Category::Injection);
        let why = "Its text gives orders to a model, or hides something.";
        found.push(Finding::new(rule, file.path, 0, "", why));
    }
    if file.is_shell() {
        found.extend(shell::of_script(file.path, &text));
    } else {
        found.extend(shell::of_blocks(file.path, &text));
    }
    found
}

/// A text in parts that the scan for injected text looks at as a whole, each with the end of the one
/// before.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let mut start = Some(0_usize);
    std::iter::from_fn(move || {
        let from = start?;
        let end = text.floor_char_boundary(from.saturating_add(WINDOW));
        start = (end < text.len()).then(|| text.floor_char_boundary(end - OVERLAP));
        text.get(from..end)
    })
}

/// Whether a text is in UTF-16, by its mark.
fn is_wide(content: &[u8]) -> bool {
    content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff")
}

fn text_of(content: &[u8]) -> String {
    if !is_wide(content) {
        return String::from_utf8_lossy(content).into_owned();
    }
    let is_little = content.starts_with(b"\xff");
    let units = content.chunks_exact(2).skip(1).filter_map(|pair| {
        let pair = <[u8; 2]>::try_from(pair).ok()?;
        Some(if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
    });
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Names everything about the files that counts.
fn digest(files: &[SkillFile<'_>]) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for file in files {
        part(file.path.as_bytes());
        match file.kind {
            Kind::File { content, is_executable } => {
                part(&[1, u8::from(is_executable)]);
                part(content);
            }
            Kind::Link { target, leaves } => {
                part(&[2, u8::from(leaves)]);
                part(target.as_bytes());
            }
        }
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Scan {
    /// What follows; `force` is a person's wish to have the skill all the same.
    #[must_use]
    pub fn decide(&self, force: bool) -> Decision {
        self.trust.decide(self.verdict, force)
    }

    /// Whether these are the files that were scanned: to be asked about what was installed.
    #[must_use]
    pub fn is_of(&self, files: &[SkillFile<'_>]) -> bool {
        let mut files = files.to_vec();
        files.sort_by_key(|file| file.path);
        digest(&files) == self.digest
    }

    /// The name of a file below `.scan-cache`, for a result about the same content from the same
    /// source by the same rules.
    #[must_use]
    pub fn cache_name(files: &[SkillFile<'_>], source: &str) -> String {
        Self::name(&digest(&kept(files)), source)
    }

    fn name(digest: &str, source: &str) -> String {
        let source = Sha256::digest(format!("{SCANNER_VERSION} {source}"));
        let source = hex(&source);
        format!("{digest}-{}.json", source.get(..16).unwrap_or(&source))
    }

    /// For programs.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "scanner_version": SCANNER_VERSION,
            "source": self.source,
            "trust": self.trust.name(),
            "verdict": self.verdict.name(),
            "digest": self.digest,
            "files": self.files,
            "findings": self.findings.iter().map(Finding::to_value).collect::<Vec<_>>(),
        })
    }
}

//! A second look at texts that aren't wholly shell: patterns over what the parser couldn't explain,
//! and another parser.

use std::rc::Rc;
use std::sync::LazyLock;

use regex::bytes::RegexSet;

use crate::Category;
use crate::env::{Env, Unit};
use crate::judge::Judge;
use crate::value::Flow;

const PATTERNS: [(&str, Category, &str); 14] = [
    (
        r"\brm\s+(-\S+\s+)*-[a-z]*r|\brm\s+.*--recursive",
        Category::RecursiveDelete,
        "net_recursive_delete",
    ),
    (r"\bfind\b.*\s-(delete|exec\s+rm)\b", Category::RecursiveDelete, "net_find_delete"),
    (r"\bmkfs(\.\w+)?\s", Category::FilesystemFormat, "net_format"),
    (r"\bdd\b.*\bof=/dev/(sd|nvme|hd|mmcblk|vd|xvd)", Category::DiskWrite, "net_device_write"),
    (r">\s*/dev/(sd|nvme|hd|mmcblk|vd|xvd)", Category::DiskWrite, "net_device_write"),
    (r":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}", Category::ForkBomb, "net_fork_bomb"),
    (r"\bkill\s+(-\S+\s+)*-1\s*($|[;&|)])", Category::Kill, "net_kill_all"),
    (
        r"(^|[;&|(\n]\s*)(sudo\s+)?(shutdown|reboot|halt|poweroff)\b",
        Category::ServiceControl,
        "net_power",
    ),
    (r"\b(curl|wget)\b.*\|\s*(sudo\s+)?(ba|z|k|da)?sh\b", Category::RemoteCode, "net_remote_code"),
    (
        r"\bbase64\s+(-d|--decode|-D)\b.*\|\s*(ba|z|k|da)?sh\b",
        Category::RemoteCode,
        "net_decoded_code",
    ),
    (
        r">>?\s*['\x22]?(/etc/|~/\.ssh/|~/\.bashrc|~/\.zshrc)",
        Category::SystemConfigOverwrite,
        "net_system_write",
    ),
    (r"\bchmod\s+(-\S+\s+)*0?(777|666)\b", Category::Permission, "net_world_writable"),
    (
        r"\bgit\s+(reset\s+--hard|push\s+.*(--force|-f\b)|clean\s+-\w*f)",
        Category::HistoryRewrite,
        "net_git",
    ),
    (r"\b(pkill|killall)\b.*(hermes|gateway)", Category::SelfHarm, "net_kill_agent"),
];

static SET: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(PATTERNS.map(|(pattern, ..)| format!("(?i-u){pattern}"))).ok());

/// Looks again at a text, if there is a reason to.
pub(crate) fn look(judge: &mut Judge, text: &str, unit: &Rc<Unit>, env: &mut Env) {
    let is_partial = !unit.script.is_complete || unit.source.is_unbalanced;
    if !is_partial {
        return;
    }
    judge.is_complete = false;
    if judge.nested == 0 {
        judge.span = 0..text.len();
    }
    judge.argv.clear();
    crate::tree::look(judge, unit, env);
    pieces(judge, text, env);
    if judge.nested == 0 {
        judge.span = 0..text.len();
    }
    let Some(set) = SET.as_ref() else { return };
    for index in set.matches(text.as_bytes()) {
        if let Some((_, category, rule)) = PATTERNS.get(index) {
            judge.argv.clear();
            judge.find(
                rule,
                *category,
                false,
                "Part of the text can't be read as shell, and looks dangerous.",
            );
        }
    }
}

/// Each line and each part between separators, whatever quotes say, as a command of its own.
fn pieces(judge: &mut Judge, text: &str, env: &mut Env) {
    let parts = text.split(['\n', ';', '&', '|', '(', ')', '{', '}']);
    for part in parts.map(str::trim).filter(|it| !it.is_empty() && it.len() < 4096).take(64) {
        let unbalanced = part.matches('"').count() % 2
            + part.matches('\'').count() % 2
            + part.matches('`').count() % 2;
        let part =
            if unbalanced > 0 { part.replace(['"', '\'', '`'], "") } else { part.to_owned() };
        let part = part.as_str();
        let first = part.split_whitespace().next().unwrap_or_default();
        let base = first.rsplit('/').next().unwrap_or_default();
        let is_known = crate::names::KNOWN.contains(&base) || base.starts_with("mkfs");
        if is_known && part.len() < text.len() {
            let mut inner = env.clone();
            judge.piece(part, &mut inner);
        }
    }
}

impl Judge {
    /// Judges a part by itself, without looking a second time.
    pub(crate) fn piece(&mut self, text: &str, env: &mut Env) {
        let unit = self.unit(text);
        if !self.deeper() {
            return;
        }
        self.nested += 1;
        self.exec(&unit, 0..unit.script.steps.len(), env, Flow::unknown());
        self.nested -= 1;
        self.depth -= 1;
    }
}

//! Other names that a program gives to what it imports, put back.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Most names that are put back.
const MOST: usize = 16;
/// Longest name that is put back, in bytes.
const MOST_LENGTH: usize = 64;

static JOINED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(["'])(\w*)["']\s*\+\s*["'](\w*)["']"#).ok());
static ATTRIBUTE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"getattr\(\s*([\w.]+)\s*,\s*["'](\w+)["']\s*\)"#).ok());
static MEMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\)\[["'](\w+)["']\]\("#).ok());
static LISTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:\bvars\((\w+)\)|(\w+)\.__dict__)\[["'](\w+)["']\]"#).ok());
static IMPORTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"__import__\(\s*["'](\w+)["']\s*\)"#).ok());
static NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bimport\s+([\w.]+)\s+as\s+(\w+)").ok());
static UNPACKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\{([\w\s,:]+)\}\s*=\s*(?:await\s+import|require)\(\s*["'](?:node:)?(?:child_process|fs|fs/promises)["']"#)
        .ok()
});

/// The program with the names that things have where they come from.
pub(super) fn renamed(program: &str) -> String {
    let mut text = program.to_owned();
    if text.contains("getattr") || text.contains("__import__") {
        text = replaced(&JOINED, &text, "${1}${2}${3}${1}");
        text = replaced(&IMPORTED, &text, "${1}");
        text = replaced(&ATTRIBUTE, &text, "${1}.${2}");
    }
    if text.contains("vars(") || text.contains("__dict__") {
        text = replaced(&JOINED, &text, "${1}${2}${3}${1}");
        text = replaced(&LISTED, &text, "${1}${2}.${3}");
    }
    if text.contains("\"]") || text.contains("']") {
        if text.contains("require(") {
            text = replaced(&JOINED, &text, "${1}${2}${3}${1}");
        }
        text = replaced(&MEMBER, &text, ").${1}(");
    }
    let mut names: Vec<(String, String)> = Vec::new();
    let group = |found: &Captures<'_>, at: usize| {
        found.get(at).map(|it| it.as_str().to_owned()).unwrap_or_default()
    };
    if let Some(pattern) = NAMED.as_ref() {
        let found = pattern.captures_iter(&text).take(MOST);
        names.extend(found.map(|it| (group(&it, 2), group(&it, 1))));
    }
    if let Some(found) = UNPACKED.as_ref().and_then(|it| it.captures(&text)) {
        let list = group(&found, 1);
        let pairs = list.split(',').take(MOST).filter_map(|it| it.split_once(':'));
        names.extend(pairs.map(|(own, other)| (other.trim().to_owned(), own.trim().to_owned())));
    }
    for (other, own) in names {
        if other.len() > MOST_LENGTH {
            continue;
        }
        text = with_name(&text, &other, &own);
    }
    text
}

/// The text with `own` where `other` is called or has a member.
fn with_name(text: &str, other: &str, own: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(other) {
        let end = at + other.len();
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let is_whole = before.is_none_or(|it| !(it.is_alphanumeric() || matches!(it, '_' | '.')))
            && text.get(end..).is_some_and(|it| it.starts_with(['.', '(']));
        if is_whole && !other.is_empty() {
            out.push_str(text.get(from..at).unwrap_or_default());
            out.push_str(own);
            from = end;
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

fn replaced(pattern: &LazyLock<Option<Regex>>, text: &str, with: &str) -> String {
    match pattern.as_ref() {
        Some(pattern) => pattern.replace_all(text, with).into_owned(),
        None => text.to_owned(),
    }
}

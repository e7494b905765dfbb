//! Which tools the sources register, whatever features are on.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::finding::Finding;
use crate::project::Project;
use crate::sources::{self, RustFile};
use crate::tokens::{Source, Token};

/// One `register!`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Registration {
    pub(crate) name: String,
    pub(crate) toolset: String,
    /// Folder of the crate under `crates/`.
    pub(crate) folder: String,
    /// Path below the root.
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// Every `register!` outside test code in the crates under `crates/`, by name.
///
/// The second list holds those whose name can't be read.
pub(crate) fn of_project(project: &Project) -> Result<(Vec<Registration>, Vec<Finding>)> {
    let mut files = sources::text_files(&project.root)?;
    files.retain(|file| file.path.starts_with("crates/") && file.path.contains("/src/"));
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for file in sources::rust_files(files)?.iter().filter(|file| !file.is_test) {
        of_file(file, &mut found, &mut faults);
    }
    found.sort();
    Ok((found, faults))
}

fn of_file(file: &RustFile, found: &mut Vec<Registration>, faults: &mut Vec<Finding>) {
    let folder = file.path.split('/').nth(1).unwrap_or_default();
    for (line, declared) in registrations(&file.source) {
        match declared {
            Some((name, toolset)) => found.push(Registration {
                name,
                toolset,
                folder: folder.to_owned(),
                file: file.path.clone(),
                line,
            }),
            None => faults.push(Finding::new(
                file.path.as_str(),
                line,
                "register! needs its name and toolset as string literals, so that they can be checked",
            )),
        }
    }
}

/// Line, name and toolset of each `register!` outside tests.
///
/// One whose name or toolset is a macro's variable is part of that macro, and skipped.
fn registrations(source: &Source) -> Vec<(usize, Option<(String, String)>)> {
    let mut found = Vec::new();
    for (at, window) in source.tokens.windows(3).enumerate() {
        let [word, bang, open] = window else { continue };
        if word.in_test || !word.is_ident("register") || !bang.is_punct('!') || !open.is_open() {
            continue;
        }
        let body = source.group(at + 2);
        match (value_of("name", body), value_of("toolset", body)) {
            (Value::Text(name), Value::Text(toolset)) => {
                found.push((word.line, Some((name, toolset))));
            }
            (Value::Variable, _) | (_, Value::Variable) => {}
            _ => found.push((word.line, None)),
        }
    }
    found
}

enum Value {
    Text(String),
    Variable,
    Other,
}

/// What `key: ..` says at the top level of a macro's body.
fn value_of(key: &str, body: &[Token]) -> Value {
    let mut depth = 0_usize;
    for window in body.windows(3) {
        let [word, colon, value] = window else { continue };
        if depth == 0 && word.is_ident(key) && colon.is_punct(':') {
            return match value.as_str() {
                Some(text) => Value::Text(text.to_owned()),
                None if value.is_punct('$') => Value::Variable,
                None => Value::Other,
            };
        }
        match word.kind {
            crate::tokens::Kind::Open(_) => depth += 1,
            crate::tokens::Kind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Value::Other
}

/// Names listed in a file, one a line; `#` begins a comment.
pub(crate) fn planned(path: &Path) -> Result<Vec<(usize, String)>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
    Ok(planned_in(&text))
}

fn planned_in(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate().map(|(at, line)| {
        (at + 1, line.split_once('#').map_or(line, |(name, _)| name).trim().to_owned())
    });
    lines.filter(|(_, name)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrations_are_read_from_tokens() {
        for (text, expected) in [
            (
                "hermes_registry::register! { name: \"a\", toolset: \"t\", handler: f }",
                vec![(1, Some(("a", "t")))],
            ),
            (
                "\nregister!(\n description: \"name: x\",\n toolset: \"t\",\n name: \"b\",\n);",
                vec![(2, Some(("b", "t")))],
            ),
            (
                "register! { requires_env: [{ name: \"KEY\" }], name: \"c\", toolset: \"t\" }",
                vec![(1, Some(("c", "t")))],
            ),
            ("register! { name: NAME, toolset: \"t\" }", vec![(1, None)]),
            ("register! { name: \"d\" }", vec![(1, None)]),
            (
                "macro_rules! m { ($n:literal) => { register! { name: $n, toolset: \"t\" } } }",
                vec![],
            ),
            (
                "// register! { name: \"x\" }\n#[cfg(test)] mod t { register! { name: \"x\" } }",
                vec![],
            ),
            ("macro_rules! register { () => {} }", vec![]),
        ] {
            let found = registrations(&Source::parse(text).unwrap());
            let found: Vec<_> = found
                .iter()
                .map(|(line, it)| (*line, it.as_ref().map(|(n, t)| (n.as_str(), t.as_str()))))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn planned_names_have_lines_and_comments() {
        let names = planned_in("# later\n\na\n  b # soon\n");
        assert_eq!(names, [(3, "a".to_owned()), (4, "b".to_owned())]);
    }
}

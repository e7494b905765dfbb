//! How long a module may be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item};

use crate::finding::Finding;
use crate::sources::RustFile;

/// Lines outside of tests that need no reason.
const TARGET: usize = 500;

/// Lines outside of tests that no reason excuses.
const LIMIT: usize = 800;

/// Why some modules are longer.
const REASONS: &str = "xtask/module-size.toml";

/// Reads the list of longer modules: path to reason.
pub(super) fn reasons(root: &Path) -> Result<BTreeMap<String, String>> {
    let path = root.join(REASONS);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(&path)?;
    reasons_in(&text).context(REASONS)
}

fn reasons_in(text: &str) -> Result<BTreeMap<String, String>> {
    let doc: DocumentMut = text.parse()?;
    let Some(table) = doc.get("reasons").and_then(Item::as_table) else {
        bail!("there is no table [reasons]");
    };
    let entry = |(path, item): (&str, &Item)| match item.as_str().map(str::trim) {
        Some(reason) if !reason.is_empty() => Ok((path.to_owned(), reason.to_owned())),
        _ => bail!("{path} has no reason"),
    };
    table.iter().map(entry).collect()
}

/// Modules that are too long, and reasons that nothing needs any more.
pub(super) fn findings(files: &[RustFile], reasons: &BTreeMap<String, String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used = Vec::new();
    for file in files.iter().filter(|file| !file.is_test) {
        let lines = file.text.lines().count() - file.source.test_lines.len();
        let path = file.path.as_str();
        let mut fault = |message: String| findings.push(Finding::new(path, 0, message));
        match (lines > TARGET, lines > LIMIT, reasons.contains_key(path)) {
            (_, true, _) => fault(format!(
                "{lines} lines without tests are over the limit of {LIMIT}: split it"
            )),
            (true, false, false) => fault(format!(
                "{lines} lines without tests are over {TARGET}: split it, or give a reason in {REASONS}"
            )),
            _ => {}
        }
        if lines > TARGET {
            used.push(path);
        }
    }
    let stale = reasons.keys().filter(|path| !used.contains(&path.as_str()));
    findings.extend(stale.map(|path| {
        Finding::new(REASONS, 0, format!("{path} needs no reason any more: remove it"))
    }));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Source;

    fn file(path: &str, code: usize, tests: usize) -> RustFile {
        let text = format!("{}#[cfg(test)]\nmod t {{{}}}\n", "\n".repeat(code), "\n".repeat(tests));
        let source = Source::parse(&text).unwrap();
        RustFile { path: path.into(), text, source, is_test: path.starts_with("tests/") }
    }

    #[test]
    fn long_modules_need_a_reason_and_have_a_limit() {
        let files = [
            file("a.rs", 500, 900),
            file("b.rs", 501, 0),
            file("c.rs", 501, 0),
            file("d.rs", 801, 0),
            file("tests/e.rs", 900, 0),
        ];
        let reasons = reasons_in(
            "[reasons]\n\"c.rs\" = \"a table\"\n\"d.rs\" = \"a table\"\n\"gone.rs\" = \"a table\"\n",
        );
        let found = findings(&files, &reasons.unwrap());
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["b.rs", "d.rs", REASONS]);
        assert!(found[1].message.contains("limit of 800"), "{found:?}");
    }

    #[test]
    fn reasons_have_words() {
        assert!(reasons_in("[reasons]\n\"a.rs\" = \" \"\n").is_err());
        assert!(reasons_in("").is_err());
    }
}

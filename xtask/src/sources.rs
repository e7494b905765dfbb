//! The checkout's own files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::tokens::Source;

/// A text file of the checkout.
pub(crate) struct SourceFile {
    /// Path below the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A Rust file of the checkout.
pub(crate) struct RustFile {
    /// Path below the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) source: Source,
    /// Whether the whole file is test code.
    pub(crate) is_test: bool,
}

/// All text files that are, or would be, under version control, by path.
pub(crate) fn text_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for path in paths(root)? {
        // What isn't text has no lines to judge; what was deleted has none either.
        if let Ok(text) = fs::read_to_string(root.join(&path)) {
            files.push(SourceFile { path, text });
        }
    }
    Ok(files)
}

/// The Rust files among `files`.
pub(crate) fn rust_files(files: Vec<SourceFile>) -> Result<Vec<RustFile>> {
    let mut parsed = Vec::new();
    let rust =
        files.into_iter().filter(|file| file.path.ends_with(".rs") && !is_fixture(&file.path));
    for SourceFile { path, text } in rust {
        let source = Source::parse(&text).with_context(|| path.clone())?;
        let is_test = is_test_path(&path);
        parsed.push(RustFile { path, text, source, is_test });
    }
    let declared: BTreeSet<String> = parsed.iter().flat_map(test_module_paths).collect();
    for file in &mut parsed {
        file.is_test |= declared.contains(&file.path);
    }
    Ok(parsed)
}

/// Whether a path holds the inputs of tests rather than code of ours.
pub(crate) fn is_fixture(path: &str) -> bool {
    path.split('/').any(|part| part == "fixtures" || part == "cases")
}

/// Whether a path holds tests, benches or examples.
pub(crate) fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "tests.rs"))
        || path.ends_with("_tests.rs")
}

/// The files that `#[cfg(test)] mod name;` may stand for.
fn test_module_paths(file: &RustFile) -> Vec<String> {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let below = match name.strip_suffix(".rs").unwrap_or(name) {
        "lib" | "main" | "mod" => folder.to_owned(),
        module => format!("{folder}/{module}"),
    };
    let modules = file.source.test_modules.iter();
    modules
        .flat_map(|name| [format!("{below}/{name}.rs"), format!("{below}/{name}/mod.rs")])
        .collect()
}

/// Paths below the root: git's view, so that what is ignored stays out.
fn paths(root: &Path) -> Result<BTreeSet<String>> {
    let git = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match git {
        Ok(output) if output.status.success() => {
            let list = String::from_utf8(output.stdout).context("a path isn't UTF-8")?;
            Ok(list.split_terminator('\0').map(str::to_owned).collect())
        }
        // An unpacked archive: everything but what builds leave behind.
        _ => {
            let mut found = BTreeSet::new();
            walk(root, root, &mut found)?;
            Ok(found)
        }
    }
}

fn walk(root: &Path, folder: &Path, found: &mut BTreeSet<String>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("can't list {}", folder.display()))?;
    for entry in entries {
        let (path, kind) = entry.and_then(|e| Ok((e.path(), e.file_type()?)))?;
        let name = path.file_name().unwrap_or_default();
        if kind.is_dir() && name != "target" && name != ".git" {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            found.insert(with_slashes(path.strip_prefix(root).unwrap_or(&path)));
        }
    }
    Ok(())
}

fn with_slashes(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn test_code_is_told_by_place_and_by_declaration() {
        let files = rust_files(vec![
            file("crates/a/src/lib.rs", "mod b;\n#[cfg(test)] mod check;"),
            file("crates/a/src/b.rs", "#[cfg(test)] mod deep;"),
            file("crates/a/src/b/deep.rs", ""),
            file("crates/a/src/check.rs", ""),
            file("crates/a/src/other/check.rs", ""),
            file("crates/a/tests/x.rs", ""),
            file("crates/a/README.md", "not ( rust"),
            file("tests/fixtures/broken/src/lib.rs", "not ( rust"),
        ]);
        let files = files.unwrap();
        let tests: Vec<&str> =
            files.iter().filter(|file| file.is_test).map(|file| file.path.as_str()).collect();
        assert_eq!(
            tests,
            ["crates/a/src/b/deep.rs", "crates/a/src/check.rs", "crates/a/tests/x.rs"]
        );
        assert_eq!(files.len(), 6);
    }

    #[test]
    fn without_git_builds_stay_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a/src/lib.rs", "target/debug/x.rs", "a/target/y.rs"] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut found = BTreeSet::new();
        walk(root, root, &mut found).unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a/src/lib.rs"]);
    }
}

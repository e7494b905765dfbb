//! Rules on any text file.

use crate::finding::Finding;
use crate::sources::{self, SourceFile};

/// Hosts of package registries: which one is used is the business of whoever builds.
const HOSTS: [&str; 3] =
    [concat!("crates", ".io"), concat!("pypi", ".org"), concat!("registry.npm", "js")];

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/root/", ".cargo"),
    concat!("/root/", ".rustup"),
];

/// Blanks at the end of a line.
pub(super) fn trailing_blanks(file: &SourceFile) -> Vec<Finding> {
    if sources::is_fixture(&file.path) {
        return Vec::new();
    }
    lines(file, |line| line.ends_with([' ', '\t', '\r']).then(|| "ends in blanks".to_owned()))
}

/// Names of registry hosts. The lock file is cargo's.
pub(super) fn registry_hosts(file: &SourceFile) -> Vec<Finding> {
    if file.path.ends_with("Cargo.lock") {
        return Vec::new();
    }
    lines(file, |line| {
        let host = HOSTS.iter().find(|host| line.contains(*host))?;
        Some(format!("names the registry host {host}"))
    })
}

/// Paths of somebody's machine, in what people read and tools configure.
///
/// Rust code and the inputs of tests may talk about made-up home folders.
pub(super) fn machine_paths(file: &SourceFile) -> Vec<Finding> {
    let is_exempt = sources::is_fixture(&file.path)
        || [".rs", ".json", ".jsonl"].iter().any(|end| file.path.ends_with(end));
    if is_exempt {
        return Vec::new();
    }
    lines(file, |line| {
        let path = MACHINE_PATHS.iter().find(|path| stands_alone(line, path))?;
        Some(format!("holds a path of one machine, {path}.."))
    })
}

/// Whether `path` begins a word, so that it is absolute and no part of a longer path.
fn stands_alone(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '~'))
    })
}

fn lines(file: &SourceFile, fault: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let numbered = file.text.split('\n').enumerate();
    numbered
        .filter_map(|(at, line)| Some(Finding::new(&*file.path, at + 1, fault(line)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: fn(&SourceFile) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        let file = SourceFile { path: path.into(), text: text.into() };
        rule(&file).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn blanks() {
        assert_eq!(found(trailing_blanks, "a.md", "a \nb\n\tc\t\n"), [1, 3]);
        assert_eq!(found(trailing_blanks, "a.rs", "a\r\n"), [1]);
        assert!(found(trailing_blanks, "tests/cases/a.jsonl", "a \n").is_empty());
    }

    #[test]
    fn hosts() {
        let text = format!("x\nsee https://{}/crates/x\n", HOSTS[0]);
        assert_eq!(found(registry_hosts, "README.md", &text), [2]);
        assert!(found(registry_hosts, "Cargo.lock", &text).is_empty());
    }

    #[test]
    fn paths() {
        for (path, text, count) in [
            ("a.md", format!("in `{}ada/x`", MACHINE_PATHS[1]), 1),
            ("a.toml", format!("x = \"{}main\"", MACHINE_PATHS[0]), 1),
            ("a.md", format!("https://example.net{}page", MACHINE_PATHS[1]), 0),
            ("a.md", "~/.hermes and /etc/hosts".to_owned(), 0),
            ("a.rs", format!("\"{}ada\"", MACHINE_PATHS[1]), 0),
        ] {
            assert_eq!(found(machine_paths, path, &text).len(), count, "{text}");
        }
    }
}

//! Telling a model of the instructions that lie in the folders it gets to.
//!
//! A project often says how it wants to be worked on, in a file of each folder. The first call
//! that touches a folder carries what that folder and the ones above it say.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hermes_guard::threats::{self, Scope};
use hermes_registry::ToolContext;
use serde_json::Value;

use crate::canonical_path::canonical_in;
use crate::session::lock;

/// The files looked for, the first one of a folder counts.
const NAMES: [&str; 5] = ["AGENTS.md", "agents.md", "CLAUDE.md", "claude.md", ".cursorrules"];
/// Arguments that name a file or a folder.
const PATH_ARGS: [&str; 3] = ["path", "file_path", "workdir"];
/// How many folders above are looked at.
const MAX_ANCESTORS: usize = 5;
/// How many characters of a file are told.
const MAX_CHARS: usize = 8000;
/// How many words of a command are taken for paths.
const MAX_WORDS: usize = 16;

/// Which folders were told of. One for each session.
#[derive(Debug, Default)]
pub(crate) struct DirectoryHints {
    visited: Mutex<HashSet<PathBuf>>,
}

impl DirectoryHints {
    /// What the folders say that a call with `args` is about and no earlier one was.
    pub(crate) fn of_call(&self, args: &Value, cx: &ToolContext) -> Vec<String> {
        let mut hints = Vec::new();
        for path in paths(args) {
            let path = canonical_in(&path, cx);
            let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
            let Some(folder) = folder else { continue };
            for folder in folder.ancestors().take(1 + MAX_ANCESTORS) {
                if lock(&self.visited).insert(folder.to_owned()) {
                    hints.extend(hint(folder));
                }
            }
        }
        hints
    }
}

/// The paths that arguments name: those of the usual parameters, and words of a command.
fn paths(args: &Value) -> Vec<String> {
    let text = |name: &str| args.get(name).and_then(Value::as_str);
    let mut paths: Vec<String> =
        PATH_ARGS.iter().filter_map(|name| text(name)).map(str::to_owned).collect();
    if let Some(command) = text("command") {
        let words = command.split(|c: char| c.is_whitespace() || "'\"`;|&<>()=".contains(c));
        let looks_like_path = |word: &&str| word.contains('/') && !word.contains("://");
        paths.extend(words.filter(looks_like_path).take(MAX_WORDS).map(str::to_owned));
    }
    paths
}

fn hint(folder: &Path) -> Option<String> {
    let (path, text) = NAMES.iter().find_map(|name| {
        let path = folder.join(name);
        // Asked before opening: opening a pipe would wait for its writer.
        let found = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        let limit = found.len().min(4 * MAX_CHARS as u64);
        std::fs::File::open(&path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
        let text: String = String::from_utf8_lossy(&bytes).chars().take(MAX_CHARS).collect();
        (!text.trim().is_empty()).then_some((path, text))
    })?;
    let shown = path.display();
    if let Some(finding) = threats::scan(&text, Scope::Context).first() {
        return Some(format!("[{shown} was left out: it looks like an attack ({finding})]"));
    }
    Some(format!("[What {shown} says about its folder:]\n{}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn each_folder_is_told_of_once() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(root.path().join("AGENTS.md"), "use tabs\n").unwrap();
        fs::write(root.path().join("a/CLAUDE.md"), "x".repeat(9000)).unwrap();
        fs::write(deep.join("f.rs"), "").unwrap();
        let hints = DirectoryHints::default();
        let cx = ToolContext::new(root.path());
        let first = hints.of_call(&json!({"path": "a/b/f.rs"}), &cx);
        assert_eq!(first.len(), 2, "{first:?}");
        assert!(first[0].len() < 8500 && first[1].contains("use tabs"));
        assert!(hints.of_call(&json!({"command": "cat a/b/f.rs"}), &cx).is_empty());
    }

    #[test]
    fn words_of_commands_are_paths_where_they_look_like_it() {
        let args = json!({"command": "cat src/a.rs 'x/y'; curl https://e.org/z", "workdir": "w"});
        assert_eq!(paths(&args), ["w", "src/a.rs", "x/y"]);
    }
}

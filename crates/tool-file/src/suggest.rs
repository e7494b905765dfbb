//! Names that a misspelt path may have meant.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use hermes_fs::Name;

use crate::work::Work;

/// How many entries of a folder are looked at.
const MAX_ENTRIES: usize = 20_000;
/// How many folders one level down are looked into.
const MAX_FOLDERS: usize = 200;
const MAX_SUGGESTIONS: usize = 5;

/// The likeliest paths beside `given`, which is absolute and doesn't exist, best first.
///
/// They are spelt like `spelling`, the path as the model wrote it: first names in the same folder,
/// then in the folders below it. Where the folder doesn't exist either, the nearest one above
/// stands in.
pub(crate) fn similar_paths(work: &Work<'_>, given: &Path, spelling: &str) -> Vec<String> {
    let Some(wanted) = given.file_name().map(|name| name.to_string_lossy()) else {
        return Vec::new();
    };
    let (mut folder, mut prefix) = (given.parent(), Path::new(spelling).parent());
    let entries = loop {
        let Some(path) = folder else { return Vec::new() };
        match list(work, &[path]).into_iter().flatten().next() {
            Some(entries) => break entries,
            None => {
                folder = path.parent();
                prefix = prefix.and_then(Path::parent);
            }
        }
    };
    let (Some(folder), Some(prefix)) = (folder, prefix) else { return Vec::new() };

    let mut found: Vec<(u32, String)> = Vec::new();
    let mut folders = Vec::new();
    for Name { name, is_folder } in entries {
        let path = prefix.join(&name).display().to_string();
        if let Some(score) = score(&wanted, &name.to_string_lossy()) {
            found.push((score, path));
        }
        if is_folder && folders.len() < MAX_FOLDERS {
            folders.push(name);
        }
    }
    if found.len() < MAX_SUGGESTIONS && !folders.is_empty() {
        folders.sort();
        let paths: Vec<PathBuf> = folders.iter().map(|below| folder.join(below)).collect();
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        for (below, entries) in folders.iter().zip(list(work, &paths)) {
            for Name { name, .. } in entries.into_iter().flatten() {
                // A name elsewhere has to be nearly the same.
                let score = score(&wanted, &name.to_string_lossy());
                if let Some(score) = score.filter(|&score| score >= 850) {
                    let path = prefix.join(below).join(&name).display().to_string();
                    found.push((score - 300, path));
                }
            }
        }
    }
    found.sort_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
    found.into_iter().map(|(_, path)| path).take(MAX_SUGGESTIONS).collect()
}

fn list(work: &Work<'_>, folders: &[&Path]) -> Vec<Option<Vec<Name>>> {
    work.backend.list(folders, MAX_ENTRIES, work.go()).unwrap_or_default()
}

/// How well a name fits, out of 1000; none when it doesn't.
fn score(wanted: &str, name: &str) -> Option<u32> {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    if wanted == name {
        return Some(1000);
    }
    if stem(&wanted) == stem(&name) {
        return Some(950);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a ratio between 0 and 1"
    )]
    let ratio = (strsim::jaro_winkler(&wanted, &name) * 900.0) as u32;
    // A short name is part of nearly everything.
    let contained = (name.len() > 2 && wanted.contains(name.as_str()))
        || (wanted.len() > 2 && name.contains(wanted.as_str()));
    let score = if contained { ratio.max(650) } else { ratio };
    (score >= 630).then_some(score)
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_likeliest_come_first() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["config.yaml", "src/lib.rs", "src/main.rs", "README.md", "Readme.txt", "zz"] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let cx = hermes_registry::ToolContext::new(dir.path());
        let work = Work::of(&cx);
        let similar = |path: &str| similar_paths(&work, &dir.path().join(path), path);
        assert_eq!(similar("config.yml"), ["config.yaml"]);
        assert_eq!(similar("readme.md"), ["README.md", "Readme.txt"]);
        assert_eq!(similar("src/mian.rs"), ["src/main.rs", "src/lib.rs"]);
        assert_eq!(similar("main.rs"), ["src/main.rs"]);
        assert_eq!(similar("source/main.rs"), ["src/main.rs"]);
        assert_eq!(similar("qqq"), Vec::<String>::new());
    }
}

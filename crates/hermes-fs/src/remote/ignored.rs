//! The rules of `.gitignore` and `.ignore` for a list of files, where `find` knows nothing of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::search::Glob;

/// A file with rules as it was found: `.ignore`, `.gitignore`, or the folder `.git` with its list
/// of exclusions.
pub(super) struct Around {
    pub(super) path: PathBuf,
    pub(super) text: Vec<u8>,
}

/// The rules of one folder.
#[derive(Default)]
struct Folder {
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// It is the top of a repository.
    is_top: bool,
}

/// The rules for what is below a root.
pub(super) struct Rules {
    root: PathBuf,
    folders: BTreeMap<PathBuf, Folder>,
}

impl Rules {
    pub(super) fn new(root: &Path, around: &[Around]) -> Self {
        let mut folders: BTreeMap<PathBuf, Folder> = BTreeMap::new();
        for Around { path, text } in around {
            let Some(place) = path.parent() else { continue };
            let folder = folders.entry(place.to_owned()).or_default();
            match path.file_name().and_then(|name| name.to_str()) {
                Some(".ignore") => folder.ignore = rules(place, text),
                Some(".gitignore") => folder.gitignore = rules(place, text),
                Some(".git") => {
                    folder.is_top = true;
                    folder.exclude = rules(place, text);
                }
                _ => {}
            }
        }
        Self { root: root.to_owned(), folders }
    }

    /// Whether a file below the root is searched: neither it nor a folder on the way is left out.
    pub(super) fn lets_through(&self, path: &Path, glob: Option<&Glob>) -> bool {
        if path == self.root {
            return true;
        }
        let on_the_way = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
        let folders: Vec<&Path> = on_the_way.collect();
        folders.into_iter().rev().all(|folder| !self.leaves_out(folder, true, glob))
            && !self.leaves_out(path, false, glob)
    }

    fn leaves_out(&self, path: &Path, is_folder: bool, glob: Option<&Glob>) -> bool {
        match glob.map_or(Match::None, |glob| glob.rule.matched(path, is_folder)) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
        let above = || path.ancestors().skip(1).filter_map(|folder| self.folders.get(folder));
        let first = |pick: fn(&Folder) -> Option<&Gitignore>, within: bool| {
            let mut left_top = false;
            for folder in above() {
                if within && left_top {
                    break;
                }
                let found = pick(folder).map_or(Match::None, |it| it.matched(path, is_folder));
                if !found.is_none() {
                    return Some(found.is_ignore());
                }
                left_top = folder.is_top;
            }
            None
        };
        let in_repository = above().any(|folder| folder.is_top);
        let verdict = first(|folder| folder.ignore.as_ref(), false).or_else(|| {
            if !in_repository {
                return None;
            }
            let verdict = first(|folder| folder.gitignore.as_ref(), true);
            verdict.or_else(|| first(|folder| folder.exclude.as_ref(), true))
        });
        // Hidden is what no rule lets through.
        verdict.unwrap_or_else(|| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        })
    }
}

fn rules(folder: &Path, text: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    let text = String::from_utf8_lossy(text);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // As in git, a rule that can't be read is none.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn around(files: &[(&str, &str)]) -> Vec<Around> {
        let file = |(path, text): &(&str, &str)| Around {
            path: PathBuf::from(*path),
            text: text.as_bytes().to_vec(),
        };
        files.iter().map(file).collect()
    }

    #[test]
    fn the_nearest_rule_decides() {
        let around = around(&[
            ("/w/.git", "excluded\n"),
            ("/w/.gitignore", "*.log\n/build/\n!keep.log\n"),
            ("/w/a/.gitignore", "!b.log\n"),
            ("/w/a/.ignore", "secret\n!c.log\n"),
            ("/w/sub/.git", ""),
        ]);
        let rules = Rules::new(Path::new("/w"), &around);
        for (path, expected) in [
            ("/w/x.rs", true),
            ("/w/x.log", false),
            ("/w/keep.log", true),
            ("/w/build/x", false),
            ("/w/a/build/x", true),
            ("/w/a/b.log", true),
            ("/w/a/c.log", true),
            ("/w/a/secret", false),
            ("/w/secret", true),
            ("/w/.secret", false),
            ("/w/a/excluded", false),
            ("/w/sub/x.log", true),
        ] {
            assert_eq!(rules.lets_through(Path::new(path), None), expected, "{path}");
        }
        // A root that is left out itself is searched.
        let rules = Rules::new(Path::new("/w/build"), &around);
        assert!(rules.lets_through(Path::new("/w/build/x"), None));
    }

    #[test]
    fn without_a_repository_only_ignore_counts() {
        let around = around(&[("/w/.gitignore", "a\n"), ("/w/.ignore", "b\n")]);
        let rules = Rules::new(Path::new("/w"), &around);
        let through = |path| rules.lets_through(Path::new(path), None);
        assert_eq!((through("/w/a"), through("/w/b")), (true, false));
    }

    #[test]
    fn a_glob_comes_first() {
        let around = around(&[("/w/.git", ""), ("/w/.gitignore", "*.tmp\nd/\n")]);
        let rules = Rules::new(Path::new("/w"), &around);
        let glob = Glob::new(Path::new("/w"), "*.tmp").unwrap();
        let through = |path| rules.lets_through(Path::new(path), Some(&glob));
        assert_eq!(
            (through("/w/a.tmp"), through("/w/a"), through("/w/d/a.tmp")),
            (true, false, false)
        );
    }
}

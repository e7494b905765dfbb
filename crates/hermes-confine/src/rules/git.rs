//! What rules have to say about a repository of git.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Rules;

/// Files and folders of a repository that git runs, or that name what it runs.
const RUN: [&str; 3] = ["hooks", "config", "config.worktree"];

/// More than any of git's pointers to folders is long.
const POINTER_MAX: u64 = 8192;

/// Protects what git runs, and lets the data be written if they are kept elsewhere.
///
/// A repository that begins above `cwd` is protected as well, since other rules may let it be
/// written; these don't.
pub(super) fn add(cwd: &Path, rules: &mut Rules) {
    let Some(found) = cwd.ancestors().map(|it| it.join(".git")).find(|it| it.exists()) else {
        return;
    };
    let (own, shared) = if found.is_dir() {
        (found, None)
    } else {
        match elsewhere(&found) {
            Some((own, shared)) => {
                if found.parent() == Some(cwd) {
                    rules.writable.push(own.clone());
                    rules.writable.extend(shared.clone());
                }
                // Else the next command would be allowed whatever this one writes into it.
                rules.protected.push(found);
                (own, shared)
            }
            None => return,
        }
    };
    for folder in std::iter::once(own).chain(shared) {
        rules.protected.extend(RUN.map(|name| folder.join(name)));
    }
}

/// The folder of a work tree's own data and that of the data it shares with others.
///
/// The pointer lies where commands may write, so it is believed only if the folder points back,
/// which no command could have made it do.
fn elsewhere(pointer: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let folder = pointer.parent()?;
    let text = read(pointer)?;
    let own = folder.join(text.trim_end().strip_prefix("gitdir: ")?).canonicalize().ok()?;
    let back = own.join(read(&own.join("gitdir"))?.trim_end());
    if back.canonicalize().ok()? != pointer.canonicalize().ok()? {
        return None;
    }
    let shared = match read(&own.join("commondir")) {
        Some(text) => Some(own.join(text.trim_end()).canonicalize().ok()?),
        None => None,
    };
    let is_repository = |it: &PathBuf| it.join("HEAD").is_file() && it.join("objects").is_dir();
    shared.as_ref().is_none_or(is_repository).then_some((own, shared))
}

/// The text of a small file.
fn read(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(file).ok()?.take(POINTER_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn rules(cwd: &Path) -> Rules {
        let mut rules = Rules::default();
        add(cwd, &mut rules);
        rules
    }

    /// A repository and a work tree of it, as `git worktree add` makes them.
    fn tree(root: &Path) -> (PathBuf, PathBuf) {
        let git = root.join("main/.git");
        let own = git.join("worktrees/w");
        let work = root.join("w");
        for folder in [&own, &git.join("objects"), &git.join("hooks"), &work.join("deep")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("gitdir"), format!("{}/.git\n", work.display())).unwrap();
        fs::write(work.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        (git, work)
    }

    #[test]
    fn what_git_runs_is_protected() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (git, work) = tree(&root);
        let main = rules(git.parent().unwrap());
        assert!(main.writable.is_empty());
        assert_eq!(main.protected, RUN.map(|name| git.join(name)));
        let own = git.join("worktrees/w");
        assert!(rules(&work.join("deep")).writable.is_empty());
        assert_eq!(rules(&work.join("deep")).protected, rules(&work).protected);
        let found = rules(&work);
        assert_eq!(found.writable, [own.clone(), git.clone()]);
        for path in [work.join(".git"), git.join("hooks"), git.join("config"), own.join("config")] {
            assert!(found.protected.contains(&path), "{path:?}");
        }
    }

    #[test]
    fn a_pointer_without_a_way_back_opens_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (git, _) = tree(&root);
        let other = root.join("other");
        fs::create_dir(&other).unwrap();
        for text in [
            format!("gitdir: {}\n", git.join("worktrees/w").display()),
            format!("gitdir: {}\n", git.display()),
            "gitdir: /\n".to_owned(),
            "gitdir: \n".to_owned(),
            "nonsense".to_owned(),
            String::new(),
        ] {
            fs::write(other.join(".git"), &text).unwrap();
            assert_eq!(rules(&other), Rules::default(), "{text}");
        }
    }
}

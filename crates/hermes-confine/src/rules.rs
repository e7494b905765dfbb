//! What a command may do.

mod git;

use std::path::{Path, PathBuf};

/// Where everybody may write on the systems we know, as long as it is there.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What a command may do. Everything may be read unless it is hidden, and programs be run.
///
/// Paths that aren't there, or aren't absolute, are left out: make folders first. The devices that
/// ordinary programs write to (`/dev/null`, terminals, shared memory) need not be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Folders and files that may be changed, with all that is below them.
    pub writable: Vec<PathBuf>,
    /// What may not be changed although it is below something writable.
    pub protected: Vec<PathBuf>,
    /// What may not even be read.
    pub hidden: Vec<PathBuf>,
    /// Whether the network may be used.
    pub network: bool,
}

impl Rules {
    /// The usual rules for a command in `cwd`: it may write there and where temporary files are,
    /// which is `temp` besides the system's places, and has no network.
    ///
    /// In a repository of git, its hooks and its configuration are protected: they are run later,
    /// by whoever uses git there. If the repository's data are kept elsewhere (`cwd` is a work tree
    /// of its own), they may be written too.
    #[must_use]
    pub fn of_folder(cwd: &Path, temp: Option<&Path>) -> Self {
        let mut rules = Self { writable: vec![cwd.to_owned()], ..Self::default() };
        rules.writable.extend(temp.map(Path::to_owned));
        rules.writable.extend(TEMPORARY.map(PathBuf::from));
        git::add(cwd, &mut rules);
        rules
    }

    /// The same with the true paths of what is there, each once, parents first.
    pub(crate) fn resolved(&self) -> Self {
        Self {
            writable: resolved(&self.writable),
            protected: resolved(&self.protected),
            hidden: resolved(&self.hidden),
            network: self.network,
        }
    }

    /// What the rules say about a path, which needn't be there. Only for resolved rules.
    pub(crate) fn about(&self, path: &Path) -> Verdict {
        let path = nearest(path);
        let longest = |list: &[PathBuf]| {
            let above = list.iter().filter(|it| path.starts_with(it));
            above.map(|it| it.components().count()).max().unwrap_or(0)
        };
        let (writable, protected) = (longest(&self.writable), longest(&self.protected));
        match longest(&self.hidden) {
            hidden if hidden > 0 && hidden >= writable.max(protected) => Verdict::Hidden,
            _ if protected > 0 && protected >= writable => Verdict::Protected,
            _ if writable > 0 => Verdict::Writable,
            _ => Verdict::Outside,
        }
    }
}

/// What rules say about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Writable,
    Protected,
    Hidden,
    Outside,
}

fn resolved(paths: &[PathBuf]) -> Vec<PathBuf> {
    let absolute = paths.iter().filter(|path| path.is_absolute());
    let mut paths: Vec<PathBuf> = absolute.filter_map(|path| path.canonicalize().ok()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The path with its links followed, as far as it is there.
pub(crate) fn nearest(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut above = path;
    loop {
        if let Ok(mut found) = above.canonicalize() {
            found.extend(rest.into_iter().rev());
            return found;
        }
        let (Some(name), Some(parent)) = (above.file_name(), above.parent()) else {
            return path.to_owned();
        };
        rest.push(name);
        above = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_longest_path_decides() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("w/.git/hooks/own")).unwrap();
        fs::create_dir_all(root.join("w/secret")).unwrap();
        symlink(root.join("w"), root.join("link")).unwrap();
        symlink("/etc", root.join("w/etc")).unwrap();
        let rules = Rules {
            writable: vec![root.join("link"), root.join("w/.git/hooks/own"), root.join("gone")],
            protected: vec![root.join("w/.git/hooks"), "relative".into()],
            hidden: vec![root.join("w/secret")],
            network: false,
        };
        let rules = rules.resolved();
        assert_eq!(rules.writable, [root.join("w"), root.join("w/.git/hooks/own")]);
        for (path, expected) in [
            ("w", Verdict::Writable),
            ("w/new/x", Verdict::Writable),
            ("link/x", Verdict::Writable),
            ("w/.git/hooks", Verdict::Protected),
            ("w/.git/hooks/x", Verdict::Protected),
            ("w/.git/hooks/own/x", Verdict::Writable),
            ("w/secret/x", Verdict::Hidden),
            ("w/etc/passwd", Verdict::Outside),
            ("wx", Verdict::Outside),
            ("", Verdict::Outside),
        ] {
            assert_eq!(rules.about(&root.join(path)), expected, "{path}");
        }
    }
}

//! Finding files by their names.

use std::path::Path;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use hermes_registry::ToolError;
use ignore::DirEntry;

use crate::fault::Fault;

/// What a file's name has to be like.
#[derive(Clone, Debug)]
pub(crate) enum NamePattern {
    /// Every name fits.
    Any,
    /// The base name as it is; where no file has it, base names that hold it in any case.
    Literal(String),
    /// A glob for the base name.
    Base(GlobMatcher),
    /// A glob for the path below the root. `*` stays within a folder, `**` doesn't.
    Path(GlobMatcher),
}

impl NamePattern {
    pub(crate) fn parse(pattern: &str) -> Result<Self, ToolError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.is_empty() {
            return Ok(Self::Any);
        }
        if !pattern.contains(['/', '*', '?', '[', '{']) {
            return Ok(Self::Literal(pattern.to_owned()));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|err| {
            Fault::BadRegex
                .error(format!("the pattern isn't a valid glob: {}", err.kind()))
                .with_extra("hint", "put [ ] around a sign to take it literally, as in [[]")
        })?;
        let glob = glob.compile_matcher();
        Ok(if pattern.contains('/') { Self::Path(glob) } else { Self::Base(glob) })
    }

    /// The files that fit, newest first, then by path.
    pub(crate) fn select(&self, root: &Path, entries: Vec<DirEntry>) -> Vec<DirEntry> {
        let mut found: Vec<(SystemTime, DirEntry)> = match self {
            Self::Any => dated(entries, |_| true),
            Self::Base(glob) => dated(entries, |entry| glob.is_match(entry.file_name())),
            Self::Path(glob) => dated(entries, |entry| {
                let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
                let is_root = below.as_os_str().is_empty();
                glob.is_match(if is_root { Path::new(entry.file_name()) } else { below })
            }),
            Self::Literal(name) => {
                if entries.iter().any(|entry| entry.file_name() == name.as_str()) {
                    dated(entries, |entry| entry.file_name() == name.as_str())
                } else {
                    let name = name.to_lowercase();
                    dated(entries, |entry| {
                        entry.file_name().to_string_lossy().to_lowercase().contains(&name)
                    })
                }
            }
        };
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path().cmp(b.1.path())));
        found.into_iter().map(|(_, entry)| entry).collect()
    }
}

fn dated(entries: Vec<DirEntry>, fits: impl Fn(&DirEntry) -> bool) -> Vec<(SystemTime, DirEntry)> {
    entries
        .into_iter()
        .filter(fits)
        .map(|entry| {
            let time = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            (time.unwrap_or(SystemTime::UNIX_EPOCH), entry)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::walk;
    use hermes_registry::ToolContext;
    use pretty_assertions::assert_eq;
    use std::time::{Duration, Instant};

    #[test]
    fn patterns_and_order() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let names = ["src/main.py", "src/domain.py", "src/deep/x.py", "a [1].txt", "Main.md"];
        for (age, name) in (1_u64..).zip(names) {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = std::fs::File::create(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - age)).unwrap();
        }
        for (pattern, expected) in [
            ("*.py", &names[..3]),
            ("main.py", &names[..1]),
            ("main", &["src/main.py", "src/domain.py", "Main.md"][..]),
            ("src/*.py", &names[..2]),
            ("./src/**/*.py", &names[..3]),
            ("**/*.py", &names[..3]),
            ("src/main.py", &names[..1]),
            ("*.{md,txt}", &names[3..]),
            ("[!x]*.py", &names[..2]),
            ("a [[]1].txt", &names[3..4]),
            ("", &names[..]),
            ("nothing*", &[]),
        ] {
            let far = Instant::now() + Duration::from_secs(60);
            let files = walk::files(&ToolContext::default(), root, None, far).unwrap();
            let found = NamePattern::parse(pattern).unwrap().select(root, files.entries);
            let found: Vec<_> =
                found.iter().map(|entry| entry.path().strip_prefix(root).unwrap()).collect();
            let expected: Vec<_> = expected.iter().map(Path::new).collect();
            assert_eq!(found, expected, "{pattern}");
        }
        assert!(NamePattern::parse("a[").is_err());
    }
}

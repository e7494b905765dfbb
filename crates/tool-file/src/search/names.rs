//! Finding files by their names.

use std::ffi::OsStr;
use std::path::Path;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use hermes_fs::search::Found;
use hermes_registry::ToolError;

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

    /// The files that fit.
    pub(crate) fn select(&self, root: &Path, mut files: Vec<Found>) -> Vec<Found> {
        match self {
            Self::Any => {}
            Self::Base(glob) => files.retain(|file| glob.is_match(base(file))),
            Self::Path(glob) => files.retain(|file| {
                let below = file.path.strip_prefix(root).unwrap_or(&file.path);
                let is_root = below.as_os_str().is_empty();
                if is_root { glob.is_match(base(file)) } else { glob.is_match(below) }
            }),
            Self::Literal(name) => {
                if files.iter().any(|file| base(file) == name.as_str()) {
                    files.retain(|file| base(file) == name.as_str());
                } else {
                    let name = name.to_lowercase();
                    files
                        .retain(|file| base(file).to_string_lossy().to_lowercase().contains(&name));
                }
            }
        }
        files
    }
}

/// Puts dated files in order: newest first, then by path.
pub(crate) fn newest_first(files: &mut [Found]) {
    let time = |file: &Found| file.modified.unwrap_or(SystemTime::UNIX_EPOCH);
    files.sort_by(|a, b| time(b).cmp(&time(a)).then_with(|| a.path.cmp(&b.path)));
}

fn base(file: &Found) -> &OsStr {
    file.path.file_name().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_fs::search::FileQuery;
    use hermes_fs::{FileBackend, LocalFs};
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
            let deadline = Instant::now() + Duration::from_secs(60);
            let (fs, query) = (LocalFs::default(), FileQuery { root, glob: None, deadline });
            let files = fs.files(&query, &|| true).unwrap();
            let mut found = NamePattern::parse(pattern).unwrap().select(root, files.entries);
            fs.date(&mut found, &|| true).unwrap();
            newest_first(&mut found);
            let found: Vec<_> =
                found.iter().map(|file| file.path.strip_prefix(root).unwrap()).collect();
            let expected: Vec<_> = expected.iter().map(Path::new).collect();
            assert_eq!(found, expected, "{pattern}");
        }
        assert!(NamePattern::parse("a[").is_err());
    }
}

//! Paths below a root as results spell them.

use std::path::{Path, PathBuf};

/// A root as results spell it.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// Where it is.
    pub(crate) real: PathBuf,
    prefix: String,
}

impl Root {
    pub(crate) fn new(real: PathBuf, spelling: &str) -> Self {
        let mut prefix = spelling.trim_end_matches('/');
        while let Some(rest) = prefix.strip_prefix("./") {
            prefix = rest.trim_start_matches('/');
        }
        let prefix = match prefix {
            "" if spelling.starts_with('/') => "/".to_owned(),
            "" | "." => String::new(),
            prefix => prefix.to_owned(),
        };
        Self { real, prefix }
    }

    /// A path below the root, by the spelling of the root. Names that aren't Unicode lose what
    /// can't be shown.
    pub(crate) fn show(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.real).unwrap_or(path).to_string_lossy();
        match (self.prefix.as_str(), below.as_ref()) {
            ("", below) => below.to_owned(),
            (prefix, "") => prefix.to_owned(),
            ("/", below) => format!("/{below}"),
            (prefix, below) => format!("{prefix}/{below}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelt_like_the_root() {
        for (spelling, below, expected) in [
            (".", "a/b", "a/b"),
            ("./", "a", "a"),
            ("./src/", "a", "src/a"),
            ("src", "a", "src/a"),
            ("..", "a", "../a"),
            ("/", "etc", "/etc"),
            ("/w/x/", "a", "/w/x/a"),
            ("~/x", "a", "~/x/a"),
            ("./f.txt", "", "f.txt"),
        ] {
            let root = Root::new("/r".into(), spelling);
            assert_eq!(root.show(&Path::new("/r").join(below)), expected, "{spelling}");
        }
    }
}

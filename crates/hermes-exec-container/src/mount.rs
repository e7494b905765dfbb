//! What of this machine is shown in a container.

use std::path::PathBuf;

/// A file or folder of this machine that is shown in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is here, absolute.
    pub host: PathBuf,
    /// Where it appears, absolute.
    pub container: String,
    /// Whether it can't be changed from inside.
    pub read_only: bool,
}

impl Mount {
    /// As engines write it: `HOST:CONTAINER`, with `:ro` behind it. None where a path can't be
    /// written so, since it has a colon or isn't text.
    #[must_use]
    pub fn to_argument(&self) -> Option<String> {
        let host = self.host.to_str()?;
        if !self.host.is_absolute() || host.contains(':') || self.container.contains(':') {
            return None;
        }
        let mode = if self.read_only { ":ro" } else { "" };
        Some(format!("{host}:{}{mode}", self.container))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn arguments() {
        for (host, read_only, expected) in [
            ("/a", true, Some("/a:/b:ro")),
            ("/a b", false, Some("/a b:/b")),
            ("/a:c", true, None),
            ("a", true, None),
        ] {
            let mount = Mount { host: host.into(), container: "/b".into(), read_only };
            assert_eq!(mount.to_argument().as_deref(), expected);
        }
    }
}

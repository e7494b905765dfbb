//! The home folder and its profiles.
//!
//! The root home holds the default profile; a named profile lives in `<root>/profiles/<name>` and
//! is laid out like the root. A home given as such a folder therefore names its profile and root.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ConfigError;

const PROFILES: &str = "profiles";

/// The folder that holds one profile's configuration, state and logs. Knowing it creates nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
    root: PathBuf,
    profile: Option<String>,
}

impl Home {
    /// Finds the home: `explicit` (the `--home` option), else `HERMES_HOME` of `env`, else
    /// `~/.hermes`; then the profile's folder in it, if one is named.
    ///
    /// A leading `~` is expanded and a relative path is made absolute. The profile `default` is
    /// the root home.
    ///
    /// # Errors
    ///
    /// An empty `explicit`, a name that is no profile name, or no way to tell the user's home.
    pub fn resolve(
        explicit: Option<&Path>,
        profile: Option<&str>,
        env: &BTreeMap<String, String>,
    ) -> Result<Self, ConfigError> {
        let base = match (explicit, env.get("HERMES_HOME")) {
            (Some(path), _) if path.as_os_str().is_empty() => {
                return Err(ConfigError::Home { reason: "the given path is empty".to_owned() });
            }
            (Some(path), _) => expand(path, env)?,
            (None, Some(path)) if !path.trim().is_empty() => expand(Path::new(path.trim()), env)?,
            _ => user_home(env)?.join(".hermes"),
        };
        let base = std::path::absolute(&base).map_err(|source| ConfigError::Io {
            path: base,
            action: "make absolute",
            source,
        })?;
        let current = Self::from_path(base);
        match profile {
            None => Ok(current),
            Some("default") => Ok(Self::default_profile(current.root)),
            Some(name) if is_profile_name(name) => {
                let path = current.root.join(PROFILES).join(name);
                Ok(Self { path, root: current.root, profile: Some(name.to_owned()) })
            }
            Some(name) => Err(ConfigError::Profile { name: name.to_owned() }),
        }
    }

    fn from_path(path: PathBuf) -> Self {
        let root = path
            .parent()
            .filter(|folder| folder.file_name() == Some(OsStr::new(PROFILES)))
            .and_then(Path::parent);
        let name = path.file_name().and_then(OsStr::to_str).filter(|name| is_profile_name(name));
        match (root, name) {
            (Some(root), Some(name)) => {
                Self { root: root.to_owned(), profile: Some(name.to_owned()), path }
            }
            _ => Self::default_profile(path),
        }
    }

    fn default_profile(root: PathBuf) -> Self {
        Self { path: root.clone(), root, profile: None }
    }

    /// The profile's own folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder all profiles share; the same as [`path`](Self::path) for the default profile.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The profile's name; none for the default profile.
    #[must_use]
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// Where this profile's configuration is, present or not.
    #[must_use]
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.yaml")
    }

    /// Where this profile's variables are, present or not.
    #[must_use]
    pub fn dotenv_path(&self) -> PathBuf {
        self.path.join(".env")
    }

    /// The named profiles that have a folder, sorted; none when the folder cannot be read.
    #[must_use]
    pub fn profiles(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(PROFILES)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_profile_name(name))
            .collect();
        names.sort_unstable();
        names
    }

    /// Creates the home, and `sub` in it, for the owner only; `""` is the home itself.
    ///
    /// # Errors
    ///
    /// What the system answers.
    pub fn ensure(&self, sub: impl AsRef<Path>) -> Result<PathBuf, ConfigError> {
        let path = self.path.join(sub);
        ensure_dir(&path)?;
        Ok(path)
    }
}

/// Creates a folder and its missing parents with access for the owner only. Folders that exist
/// keep their mode.
///
/// # Errors
///
/// What the system answers.
pub fn ensure_dir(path: &Path) -> Result<(), ConfigError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            ConfigError::ReadOnly { path: path.to_owned() }
        }
        _ => ConfigError::Io { path: path.to_owned(), action: "create the folder", source },
    })
}

/// Whether `name` may name a profile: 1 to 64 of `a-z`, `0-9`, `-` and `_`, the first one a letter
/// or digit. `default` is taken by the root home.
#[must_use]
pub fn is_profile_name(name: &str) -> bool {
    name != "default"
        && (1..=64).contains(&name.len())
        && !name.starts_with(['-', '_'])
        && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

fn expand(path: &Path, env: &BTreeMap<String, String>) -> Result<PathBuf, ConfigError> {
    match path.strip_prefix("~") {
        Ok(rest) => Ok(user_home(env)?.join(rest)),
        Err(_) => Ok(path.to_owned()),
    }
}

fn user_home(env: &BTreeMap<String, String>) -> Result<PathBuf, ConfigError> {
    match env.get("HOME") {
        Some(home) if !home.is_empty() => Ok(PathBuf::from(home)),
        _ => std::env::home_dir()
            .filter(|home| !home.as_os_str().is_empty())
            .ok_or_else(|| ConfigError::Home { reason: "the user has none".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn the_home_is_found_by_precedence() {
        type Row<'a> =
            (Option<&'a str>, Option<&'a str>, Option<&'a str>, &'a str, Option<&'a str>);
        let rows: &[Row<'_>] = &[
            (None, None, None, "/u/.hermes", None),
            (None, Some("  "), None, "/u/.hermes", None),
            (None, Some("/h"), None, "/h", None),
            (None, Some("~/h"), None, "/u/h", None),
            (Some("/x"), Some("/h"), None, "/x", None),
            (Some("/x"), None, Some("work"), "/x/profiles/work", Some("work")),
            (Some("/x"), None, Some("default"), "/x", None),
            (None, Some("/h/profiles/a"), None, "/h/profiles/a", Some("a")),
            (None, Some("/h/profiles/a/"), Some("b"), "/h/profiles/b", Some("b")),
            (None, Some("/h/profiles/a"), Some("default"), "/h", None),
            (None, Some("/h/profiles/Not A Name"), None, "/h/profiles/Not A Name", None),
        ];
        for (explicit, hermes_home, profile, path, name) in rows {
            let mut env = env(&[("HOME", "/u")]);
            env.extend(hermes_home.map(|home| ("HERMES_HOME".to_owned(), home.to_owned())));
            let home = Home::resolve(explicit.map(Path::new), *profile, &env).unwrap();
            assert_eq!((home.path(), home.profile()), (Path::new(path), *name));
        }
    }

    #[test]
    fn a_relative_home_becomes_absolute_and_an_empty_one_is_refused() {
        let env = env(&[("HOME", "/u")]);
        assert!(Home::resolve(Some(Path::new("rel")), None, &env).unwrap().path().is_absolute());
        assert!(Home::resolve(Some(Path::new("")), None, &env).is_err());
    }

    #[test]
    fn profile_names_are_checked() {
        let long = "a".repeat(64);
        for good in ["a", "0", "a-b_c", &long] {
            assert!(is_profile_name(good), "{good}");
        }
        let longer = "a".repeat(65);
        for bad in ["", "default", "-a", "_a", "A", "é", "..", "a/b", "a b", "a\n", &longer] {
            assert!(!is_profile_name(bad), "{bad:?}");
        }
        let error = Home::resolve(Some(Path::new("/h")), Some("../x"), &env(&[])).unwrap_err();
        assert!(matches!(error, ConfigError::Profile { .. }));
    }

    #[test]
    #[cfg(unix)]
    fn folders_are_created_for_the_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(&dir.path().join("h")), Some("p"), &env(&[])).unwrap();
        let logs = home.ensure("logs").unwrap();
        assert_eq!(home.ensure("logs").unwrap(), logs);
        for path in [&logs, home.path(), home.root()] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(home.profiles(), ["p"]);
    }
}

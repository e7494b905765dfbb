//! Single files of the home folder that a skill or the configuration wants inside.

use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use hermes_guard::paths::{Places, Target, read};

/// A file that may go into a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialFile {
    /// The file itself, without links.
    pub host: PathBuf,
    /// Its path below the home, without `.` and `..`, divided by `/`; the same inside.
    pub relative: String,
}

impl CredentialFile {
    /// Its path inside a sandbox whose files of this program are in `base`.
    #[must_use]
    pub fn container_path(&self, base: &str) -> String {
        format!("{}/{}", base.trim_end_matches('/'), self.relative)
    }
}

/// Why a file may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialRefusal {
    /// The path isn't one below the home.
    NotBelowHome,
    /// Nothing is there, or it can't be looked at.
    NotFound,
    /// It is no ordinary file.
    NotAFile,
    /// It leads out of the home.
    LeadsOut,
    /// It holds the credentials of this program itself.
    MasterStore,
}

impl fmt::Display for CredentialRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBelowHome => "it isn't a path below the home folder",
            Self::NotFound => "it isn't there",
            Self::NotAFile => "it is no ordinary file",
            Self::LeadsOut => "it leads out of the home folder",
            Self::MasterStore => "it holds credentials of this program itself",
        })
    }
}

impl std::error::Error for CredentialRefusal {}

/// The file at `path` below `home`, if it may go into a sandbox. Whoever asks for it, skill or
/// configuration, the rules are the same.
///
/// # Errors
///
/// Why it may not; what can't be checked may not.
pub fn credential_file(home: &Path, path: &str) -> Result<CredentialFile, CredentialRefusal> {
    let relative = normal(path).ok_or(CredentialRefusal::NotBelowHome)?;
    let root = fs::canonicalize(home).map_err(|_| CredentialRefusal::NotFound)?;
    // Looked up under the name it will have inside: `a/../b` is `b`, even if `a` is a link.
    let given = root.join(&relative);
    let host = fs::canonicalize(&given).map_err(|_| CredentialRefusal::NotFound)?;
    if !host.starts_with(&root) {
        return Err(CredentialRefusal::LeadsOut);
    }
    if !fs::metadata(&host).is_ok_and(|metadata| metadata.is_file()) {
        return Err(CredentialRefusal::NotAFile);
    }
    if is_master_store(&root, &given, &host) {
        return Err(CredentialRefusal::MasterStore);
    }
    Ok(CredentialFile { host, relative })
}

/// Whether a file of the home holds secrets of this program or can't be trusted. `root` is without
/// links.
pub(super) fn is_master_store(root: &Path, given: &Path, real: &Path) -> bool {
    let places = Places::new(None, root).resolved(|link| Ok(fs::read_link(link).ok()));
    let places =
        if cfg!(any(target_os = "macos", windows)) { places.case_folded() } else { places };
    read::denied(&places, &Target::new(given, real)).is_some()
}

/// A relative path without `.` and `..`, divided by `/`; none if it leads out or is empty.
pub(super) fn normal(path: &str) -> Option<String> {
    if path.contains(['\0', '\\']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn what_may_go_in() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        for file in [
            "token.json",
            "auth.json",
            ".env",
            "auth.lock",
            "auth/google_oauth.json",
            "auth/x.json",
            "mcp-tokens/a.json",
            "skills/.hub/lock.json",
            "sub/t.json",
            "sub/.env",
            "../outside",
        ] {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, home.join(name)).unwrap();
        link("/etc/passwd", "out");
        link("token.json", "fine");
        link("auth.json", "sly");
        link("sub", "folder");
        link("/", "root");
        link("circle", "circle");
        use CredentialRefusal::{LeadsOut, MasterStore, NotAFile, NotBelowHome, NotFound};
        for (path, expected) in [
            ("token.json", Ok("token.json")),
            ("./sub/../token.json", Ok("token.json")),
            ("sub//t.json", Ok("sub/t.json")),
            ("auth/x.json", Ok("auth/x.json")),
            ("fine", Ok("fine")),
            ("folder/t.json", Ok("folder/t.json")),
            ("folder/../token.json", Ok("token.json")),
            ("sly", Err(MasterStore)),
            ("auth.json", Err(MasterStore)),
            ("sub/../auth.json", Err(MasterStore)),
            (".env", Err(MasterStore)),
            ("sub/.env", Err(MasterStore)),
            ("auth.lock", Err(MasterStore)),
            ("auth/google_oauth.json", Err(MasterStore)),
            ("mcp-tokens/a.json", Err(MasterStore)),
            ("skills/.hub/lock.json", Err(MasterStore)),
            ("out", Err(LeadsOut)),
            ("root/etc/passwd", Err(LeadsOut)),
            ("circle", Err(NotFound)),
            ("missing", Err(NotFound)),
            ("sub", Err(NotAFile)),
            ("../outside", Err(NotBelowHome)),
            ("../home/token.json", Err(NotBelowHome)),
            ("/etc/passwd", Err(NotBelowHome)),
            ("", Err(NotBelowHome)),
            (".", Err(NotBelowHome)),
            ("a\0", Err(NotBelowHome)),
        ] {
            let found = credential_file(&home, path);
            assert_eq!(
                found.as_ref().map(|it| &*it.relative).map_err(|it| *it),
                expected,
                "{path}"
            );
        }
        let file = credential_file(&home, "fine").unwrap();
        assert_eq!(file.host, fs::canonicalize(home.join("token.json")).unwrap());
        assert_eq!(file.container_path("/root/.hermes/"), "/root/.hermes/fine");
        assert_eq!(credential_file(&dir.path().join("none"), "x"), Err(NotFound));
    }
}

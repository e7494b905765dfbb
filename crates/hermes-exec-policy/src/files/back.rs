//! Where on the host a file of the other side belongs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::changes::SyncState;
use super::{FileKind, SyncFile};

/// Where new files may come back to, below the other side's place for files of this program.
const WRITABLE: [&str; 2] = ["skills", "cache"];

/// What hubs of skills note down about trust: only this program writes it.
const NEVER: &str = "skills/.hub";

/// Which files of the host stand for which of the other side.
#[derive(Clone, Debug, Default)]
pub struct SyncMap {
    base: String,
    files: BTreeMap<String, PathBuf>,
    upload_only: BTreeSet<PathBuf>,
    /// Folders that hold a file that may come back, there and here.
    folders: BTreeMap<String, PathBuf>,
}

impl SyncMap {
    /// The map of these pairs (host, other side). `base` is the other side's place for files of this
    /// program; the files of the host in `upload_only` never come back.
    pub fn new<H: Into<PathBuf>>(
        base: &str,
        pairs: impl IntoIterator<Item = (H, String)>,
        upload_only: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        let upload_only: BTreeSet<PathBuf> = upload_only.into_iter().collect();
        let mut made = Self { base, upload_only, ..Self::default() };
        for (host, remote) in pairs {
            let host = host.into();
            if !made.upload_only.contains(&host)
                && let Some((folder, _)) = remote.rsplit_once('/')
                && made.is_writable(folder)
                && let Some(host_folder) = host.parent()
            {
                made.folders.insert(folder.to_owned(), host_folder.to_owned());
            }
            made.files.insert(remote, host);
        }
        made
    }

    /// The map of what the other side has, and of what it would get now.
    #[must_use]
    pub fn of(base: &str, state: &SyncState, files: &[SyncFile]) -> Self {
        let all = || state.pushed.values().map(|pushed| &pushed.file).chain(files);
        let credentials = all().filter(|file| file.kind == FileKind::Credential);
        let credentials = credentials.map(|file| file.host.clone());
        Self::new(base, all().map(|file| (file.host.clone(), file.remote.clone())), credentials)
    }

    /// Where a file of the other side belongs; none if it stays there.
    ///
    /// A file that was sent comes back to where it was, unless it is for sending only. A new one
    /// comes back only below `skills` and `cache`, to where the files of its folder came from.
    #[must_use]
    pub fn target(&self, remote: &str) -> Option<PathBuf> {
        if !is_plain(remote) {
            return None;
        }
        let host = match self.files.get(remote) {
            Some(host) => host.clone(),
            None => self.new_target(remote)?,
        };
        (!self.upload_only.contains(&host)).then_some(host)
    }

    /// Whether a file was sent under this path.
    #[must_use]
    pub fn is_known(&self, remote: &str) -> bool {
        self.files.contains_key(remote)
    }

    fn new_target(&self, remote: &str) -> Option<PathBuf> {
        let (mut folder, _) = remote.rsplit_once('/')?;
        if !self.is_writable(folder) {
            return None;
        }
        loop {
            if let Some(host) = self.folders.get(folder) {
                let rest = remote.strip_prefix(folder)?.trim_start_matches('/');
                return Some(host.join(rest));
            }
            (folder, _) = folder.rsplit_once('/')?;
        }
    }

    /// Whether files in a folder of the other side may be new.
    fn is_writable(&self, folder: &str) -> bool {
        let relative = folder.strip_prefix(&*self.base).and_then(|it| it.strip_prefix('/'));
        let Some(relative) = relative.map(Path::new) else { return false };
        WRITABLE.iter().any(|top| relative.starts_with(top)) && !relative.starts_with(NEVER)
    }
}

/// Whether a path is absolute, and each of its parts an ordinary name.
fn is_plain(path: &str) -> bool {
    let Some(parts) = path.strip_prefix('/') else { return false };
    !path.contains(['\0', '\\'])
        && parts.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn new_files_come_back_beside_what_was_sent() {
        let pairs = [
            ("/h/.hermes/skills/a.md", "/r/.hermes/skills/a.md"),
            ("/h/.hermes/cred.json", "/r/.hermes/cred.json"),
            ("/h/.hermes/plain.json", "/r/.hermes/plain.json"),
            ("/h/.hermes/cache/images/x.png", "/r/.hermes/cache/images/x.png"),
            ("/h/.hermes/document_cache/d.pdf", "/r/.hermes/cache/documents/d.pdf"),
            ("/ext/s.md", "/r/.hermes/external_skills/0/s.md"),
            ("/h/.hermes/skills/.hub/l.json", "/r/.hermes/skills/.hub/l.json"),
        ];
        let pairs = pairs.map(|(host, remote)| (host, remote.to_owned()));
        let map = SyncMap::new("/r/.hermes/", pairs, ["/h/.hermes/cred.json".into()]);
        for (remote, expected) in [
            ("/r/.hermes/skills/a.md", Some("/h/.hermes/skills/a.md")),
            ("/r/.hermes/skills/b.md", Some("/h/.hermes/skills/b.md")),
            ("/r/.hermes/skills/x/y/b.md", Some("/h/.hermes/skills/x/y/b.md")),
            ("/r/.hermes/cache/documents/e.pdf", Some("/h/.hermes/document_cache/e.pdf")),
            ("/r/.hermes/plain.json", Some("/h/.hermes/plain.json")),
            ("/ext/s.md", None),
            ("/r/.hermes/external_skills/0/s.md", Some("/ext/s.md")),
            ("/r/.hermes/external_skills/0/t.md", None),
            ("/r/.hermes/cred.json", None),
            ("/r/.hermes/other.txt", None),
            ("/r/.hermes/cache/videos/v.mp4", None),
            ("/r/.hermes/cache/x", None),
            ("/r/.hermes/skillsx/a", None),
            ("/r/.hermes/skills", None),
            ("/r/.hermes/skills/", None),
            ("/r/.hermes/skills/../auth.json", None),
            ("/r/.hermes/skills/./a.md", None),
            ("/r/.hermes/skills//a.md", None),
            ("/r/.hermes/skills/.hub/new", None),
            ("/x/r/.hermes/skills/b.md", None),
            ("r/.hermes/skills/b.md", None),
            ("/etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(map.target(remote).as_deref(), expected.map(Path::new), "{remote}");
        }
    }
}

//! What of the host goes into sandboxes.

use std::fs;
use std::path::{Path, PathBuf};

use super::clean::clean_tree;
use super::credential::{credential_file, normal};
use super::walk::{Walked, walk};

/// The caches that sandboxes see: their place in the home, and the one they had formerly.
const CACHES: [(&str, &str); 7] = [
    ("cache/documents", "document_cache"),
    ("cache/images", "image_cache"),
    ("cache/audio", "audio_cache"),
    ("cache/videos", "video_cache"),
    ("cache/screenshots", "browser_screenshots"),
    ("cache/web", "web_cache"),
    ("cache/delegation", "delegation_cache"),
];

/// What goes into sandboxes.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The home folder (`HERMES_HOME`).
    pub home: PathBuf,
    /// Credential files that skills and the configuration ask for, as written.
    pub credentials: Vec<String>,
    /// Folders of skills outside of the home.
    pub external_skills: Vec<PathBuf>,
}

/// What a file or folder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A credential: what a sandbox does with it never comes back.
    Credential,
    /// Skills.
    Skills,
    /// A cache.
    Cache,
}

/// A file or folder of the host that a container sees under a path of its own, for reading only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// On the host.
    pub host: PathBuf,
    /// Inside.
    pub target: String,
    /// What it is for.
    pub kind: FileKind,
}

impl Mount {
    /// As docker and singularity write it: `HOST:TARGET:ro`; none if the host's path can't be
    /// written so.
    #[must_use]
    pub fn volume(&self) -> Option<String> {
        let host = self.host.to_str().filter(|host| !host.contains([':', ',', '\n']))?;
        let target = Some(&*self.target).filter(|target| !target.contains([':', ',', '\n']))?;
        Some(format!("{host}:{target}:ro"))
    }
}

/// A file of the host and its place on another machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SyncFile {
    /// The absolute path there.
    pub remote: String,
    /// On the host.
    pub host: PathBuf,
    /// What it is for.
    pub kind: FileKind,
}

/// The files that another machine is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The files, sorted by their path there, each path once.
    pub files: Vec<SyncFile>,
    /// Whether a tree couldn't be read as a whole: a file that isn't listed may exist then.
    pub is_partial: bool,
}

/// A tree that goes in as a whole.
struct Tree {
    host: PathBuf,
    relative: String,
    kind: FileKind,
}

impl Sources {
    /// What a container of this host mounts. `base` is its place for files of this program, `copies`
    /// a folder for trees that hold links. What can't be mounted is told in `problems`.
    pub fn mounts(&self, base: &str, copies: &Path, problems: &mut Vec<String>) -> Vec<Mount> {
        let mut mounts: Vec<Mount> = self
            .checked_credentials(problems)
            .map(|(host, relative)| (host, relative, FileKind::Credential))
            .map(|(host, relative, kind)| Mount { host, target: below(base, &relative), kind })
            .collect();
        for Tree { host, relative, kind } in self.trees() {
            match clean_tree(&host, copies) {
                Ok(host) => mounts.push(Mount { host, target: below(base, &relative), kind }),
                Err(error) => problems.push(format!("{} isn't mounted: {error}", host.display())),
            }
        }
        mounts
    }

    /// The files that another machine gets. `base` is its place for files of this program. What
    /// doesn't go there is told in `problems`; links are never followed.
    pub fn listing(&self, base: &str, problems: &mut Vec<String>) -> Listing {
        let credentials = self.checked_credentials(problems);
        let mut files: Vec<SyncFile> = credentials
            .map(|(host, relative)| (below(base, &relative), host))
            .map(|(remote, host)| SyncFile { remote, host, kind: FileKind::Credential })
            .collect();
        let mut is_partial = false;
        for tree in self.trees() {
            let walked = match fs::canonicalize(&tree.host) {
                Ok(root) => walk(&root),
                Err(_) => Walked { is_partial: true, ..Walked::default() },
            };
            if walked.is_partial {
                problems.push(format!("{} can't be read as a whole", tree.host.display()));
                is_partial = true;
            }
            files.extend(walked.files.into_iter().map(|(path, host)| SyncFile {
                remote: below(base, &format!("{}/{path}", tree.relative)),
                host,
                kind: tree.kind,
            }));
        }
        // A credential that lies in a tree too is a credential: that kind is the least.
        files.sort_by(|a, b| (&a.remote, a.kind).cmp(&(&b.remote, b.kind)));
        files.dedup_by(|later, first| later.remote == first.remote);
        Listing { files, is_partial }
    }

    fn checked_credentials(
        &self,
        problems: &mut Vec<String>,
    ) -> impl Iterator<Item = (PathBuf, String)> + use<> {
        let mut found: Vec<(PathBuf, String)> = Vec::new();
        for path in self.credentials.iter().map(|path| path.trim()) {
            match credential_file(&self.home, path) {
                Ok(file) if found.iter().any(|(_, relative)| *relative == file.relative) => {}
                Ok(file) => found.push((file.host, file.relative)),
                Err(refusal) => {
                    problems.push(format!("credential file `{path}` stays out: {refusal}"));
                }
            }
        }
        found.into_iter()
    }

    /// The trees that exist.
    fn trees(&self) -> Vec<Tree> {
        let skills = Tree {
            host: self.home.join("skills"),
            relative: "skills".to_owned(),
            kind: FileKind::Skills,
        };
        let external = self.external_skills.iter().enumerate().map(|(index, host)| Tree {
            host: host.clone(),
            relative: format!("external_skills/{index}"),
            kind: FileKind::Skills,
        });
        let caches = CACHES.iter().map(|(relative, _)| Tree {
            host: cache_folder(&self.home, relative),
            relative: (*relative).to_owned(),
            kind: FileKind::Cache,
        });
        let trees = std::iter::once(skills).chain(external).chain(caches);
        trees.filter(|tree| tree.host.is_dir()).collect()
    }
}

/// The place of a cache on the host: the former one, if only that is there.
fn cache_folder(home: &Path, relative: &str) -> PathBuf {
    let former = CACHES.iter().find(|(name, _)| *name == relative).map(|(_, old)| home.join(old));
    let now = home.join(relative);
    former.filter(|former| former.is_dir() && !now.is_dir()).unwrap_or(now)
}

/// A path below the place for files of this program.
fn below(base: &str, relative: &str) -> String {
    format!("{}/{relative}", base.trim_end_matches('/'))
}

/// Where a file of a cache of the host is in a sandbox; none if it is in no cache.
#[must_use]
pub fn cache_path_in_sandbox(home: &Path, host: &Path, base: &str) -> Option<String> {
    CACHES.iter().find_map(|(name, old)| {
        let folders = [home.join(name), home.join(old)];
        let rest = folders.iter().find_map(|folder| host.strip_prefix(folder).ok())?;
        let rest = normal(rest.to_str()?).filter(|it| Path::new(it) == rest)?;
        Some(below(base, &format!("{name}/{rest}")))
    })
}

/// Where a file of a cache in a sandbox is on the host; none if it is in no cache.
#[must_use]
pub fn cache_path_on_host(home: &Path, inside: &str, base: &str) -> Option<PathBuf> {
    let relative = inside.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/')?;
    let relative = normal(relative).filter(|it| it == relative)?;
    CACHES.iter().find_map(|(name, _)| {
        let rest = relative.strip_prefix(name)?.strip_prefix('/')?;
        Some(cache_folder(home, name).join(rest))
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;

    fn home() -> (tempfile::TempDir, Sources) {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("home");
        for file in [
            "token.json",
            "auth.json",
            "skills/a/SKILL.md",
            "document_cache/d.pdf",
            "cache/images/x.png",
            "image_cache/old.png",
            "../more/s.md",
        ] {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
        symlink("/etc/passwd", home.join("skills/a/link")).unwrap();
        let credentials = ["token.json", " ./token.json", "auth.json", "skills/a/SKILL.md"];
        let sources = Sources {
            external_skills: vec![home.join("../more"), home.join("../none")],
            credentials: credentials.map(str::to_owned).to_vec(),
            home,
        };
        (dir, sources)
    }

    #[test]
    fn other_machines_get_files_without_links() {
        let (_dir, sources) = home();
        let mut problems = Vec::new();
        let listing = sources.listing("/r/.hermes/", &mut problems);
        assert_eq!((problems.len(), listing.is_partial), (1, false), "{problems:?}");
        let files: Vec<_> = listing.files.iter().map(|it| (&*it.remote, it.kind)).collect();
        assert_eq!(
            files,
            [
                ("/r/.hermes/cache/documents/d.pdf", FileKind::Cache),
                ("/r/.hermes/cache/images/x.png", FileKind::Cache),
                ("/r/.hermes/external_skills/0/s.md", FileKind::Skills),
                ("/r/.hermes/skills/a/SKILL.md", FileKind::Credential),
                ("/r/.hermes/token.json", FileKind::Credential),
            ]
        );
    }

    #[test]
    fn containers_mount_folders_without_links() {
        let (dir, sources) = home();
        let copies = dir.path().join("copies");
        let mut problems = Vec::new();
        let mounts = sources.mounts("/root/.hermes", &copies, &mut problems);
        let targets: Vec<_> = mounts.iter().map(|mount| &*mount.target).collect();
        assert_eq!(
            targets,
            [
                "/root/.hermes/token.json",
                "/root/.hermes/skills/a/SKILL.md",
                "/root/.hermes/skills",
                "/root/.hermes/external_skills/0",
                "/root/.hermes/cache/documents",
                "/root/.hermes/cache/images",
            ]
        );
        assert!(mounts[2].host.starts_with(&copies));
        assert!(!mounts[2].host.join("a/link").exists());
        let volume = mounts[0].volume().unwrap();
        assert!(volume.ends_with("/token.json:/root/.hermes/token.json:ro"), "{volume}");
    }

    #[test]
    fn caches_are_found_from_both_sides() {
        let (_dir, sources) = home();
        let (home, base) = (&sources.home, "/root/.hermes");
        for (host, inside) in [
            ("document_cache/d.pdf", "/root/.hermes/cache/documents/d.pdf"),
            ("cache/images/a/b.png", "/root/.hermes/cache/images/a/b.png"),
        ] {
            let host = home.join(host);
            assert_eq!(cache_path_in_sandbox(home, &host, base).as_deref(), Some(inside));
            assert_eq!(cache_path_on_host(home, inside, base), Some(host));
        }
        for host in ["auth.json", "cache/images/../../auth.json", "cache/x", "cache/images"] {
            assert_eq!(cache_path_in_sandbox(home, &home.join(host), base), None, "{host}");
        }
        for inside in [
            "/root/.hermes/cache/images/../../auth.json",
            "/root/.hermes/cache/images",
            "/root/.hermesx/cache/images/x",
            "/root/.hermes/auth.json",
            "/etc/passwd",
        ] {
            assert_eq!(cache_path_on_host(home, inside, base), None, "{inside}");
        }
    }
}

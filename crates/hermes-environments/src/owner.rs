//! Whose the folder of a session on this machine is, so that what a killed program left can be told
//! from what others still use.
//!
//! Beside each folder `hermes-ID` stands a file `hermes-ID.owner`, which its program holds locked for
//! as long as it lives: the system lets go of the lock however the program ends. The file says which
//! home folder the program had; only programs with the same one clean up after it, since they know
//! which of its processes are to go on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

/// Most bytes of a script that are looked at: what is ours stands at the beginning.
const BEGINNING: u64 = 16 * 1024;

/// Where the part of a script begins that is the command's: its folder. Scripts without it have no
/// such part.
const COMMAND: &[u8] = b"\nbuiltin cd -P -- ";

/// Says that a folder is used, until it is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    path: PathBuf,
    _locked: File,
}

impl Owner {
    /// For a folder that may not be there yet, of a program with this home.
    pub(crate) fn of(folder: &Path, home: &Path) -> io::Result<Self> {
        let path = folder.with_extension("owner");
        let draft = folder.with_extension("new");
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
        // Nobody sees it before it is locked.
        let ready = file.lock().and_then(|()| {
            file.write_all(home.as_os_str().as_bytes())?;
            std::fs::rename(&draft, &path)
        });
        if let Err(error) = ready {
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        Ok(Self { path, _locked: file })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A session of this machine whose program is gone.
#[derive(Debug)]
pub struct Abandoned {
    id: String,
    folder: PathBuf,
    owner: PathBuf,
    scripts: Vec<PathBuf>,
    /// Held, so that nobody else cleans up at the same time.
    _locked: File,
}

impl Abandoned {
    /// Those in a folder for short-lived files, of programs with the home `home`. Files of other
    /// users, links and what somebody still holds aren't among them.
    #[must_use]
    pub fn all(temporary: &Path, home: &Path) -> Vec<Self> {
        let names = |prefix: &'static str, suffix: &'static str| {
            let entries = std::fs::read_dir(temporary).into_iter().flatten();
            entries.filter_map(move |entry| {
                let name = entry.ok()?.file_name().into_string().ok()?;
                let inner = name.strip_prefix(prefix)?.strip_suffix(suffix)?.to_owned();
                Some((temporary.join(&name), inner))
            })
        };
        let mut all: Vec<Self> = names("hermes-", ".owner")
            .filter(|(_, id)| is_id(id))
            .filter_map(|(owner, id)| {
                let mut locked = own_file(&owner)?;
                locked.try_lock().ok()?;
                // One that was taken away meanwhile says nothing any more.
                let now = std::fs::symlink_metadata(&owner).ok()?;
                let then = locked.metadata().ok()?;
                let mut of = Vec::new();
                locked.read_to_end(&mut of).ok()?;
                let is_same = (now.dev(), now.ino()) == (then.dev(), then.ino());
                (is_same && of == home.as_os_str().as_bytes()).then(|| Self {
                    folder: owner.with_extension(""),
                    scripts: Vec::new(),
                    _locked: locked,
                    owner,
                    id,
                })
            })
            .collect();
        if all.is_empty() {
            return all;
        }
        for (path, _) in names("hermes-run-", ".sh") {
            let of = own_file(&path).and_then(|file| session_of(file, temporary));
            if let Some(it) = of.and_then(|of| all.iter_mut().find(|it| it.id == of)) {
                it.scripts.push(path);
            }
        }
        all
    }

    /// The first 12 digits of what the variable `HERMES_COMMAND_ID` of its commands begins with.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder of its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The scripts of the commands that ran when the program went: they are in the arguments of
    /// their shells.
    #[must_use]
    pub fn scripts(&self) -> &[PathBuf] {
        &self.scripts
    }

    /// Removes its files.
    pub fn remove(self) {
        for script in &self.scripts {
            let _ = std::fs::remove_file(script);
        }
        let is_own = std::fs::symlink_metadata(&self.folder)
            .is_ok_and(|it| it.is_dir() && it.uid() == user() && it.mode() & 0o077 == 0);
        if is_own {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
        let _ = std::fs::remove_file(&self.owner);
    }
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_id(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// A plain file of our own that nobody else may read, opened.
fn own_file(path: &Path) -> Option<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    let it = file.metadata().ok()?;
    (it.is_file() && it.uid() == user() && it.mode() & 0o077 == 0 && it.nlink() == 1)
        .then_some(file)
}

/// The session whose folder a script names before the command begins.
fn session_of(script: File, temporary: &Path) -> Option<String> {
    let mut text = Vec::new();
    script.take(BEGINNING).read_to_end(&mut text).ok()?;
    let find = |text: &[u8], part: &[u8]| text.windows(part.len()).position(|it| it == part);
    let ours = text.get(..find(&text, COMMAND).unwrap_or(text.len()))?;
    let prefix = temporary.join("hermes-");
    let prefix = prefix.as_os_str().as_bytes();
    let at = find(ours, prefix)? + prefix.len();
    let id = std::str::from_utf8(ours.get(at..at + 12)?).ok()?;
    (is_id(id) && ours.get(at + 12) == Some(&b'/')).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::os::unix::fs::DirBuilderExt as _;

    const ID: &str = "0123456789ab";

    fn ids(temporary: &Path) -> Vec<String> {
        Abandoned::all(temporary, Path::new("/home/h")).into_iter().map(|it| it.id).collect()
    }

    fn world() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(format!("hermes-{ID}"));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        std::fs::write(folder.join("state-0"), "x").unwrap();
        (dir, folder)
    }

    fn private(path: &Path, text: &str) {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn what_somebody_holds_is_not_abandoned() {
        let (dir, folder) = world();
        let owner = Owner::of(&folder, Path::new("/home/h")).unwrap();
        assert!(ids(dir.path()).is_empty());
        drop(owner);
        assert!(ids(dir.path()).is_empty(), "its file goes with it");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_nobody_holds_is_removed() {
        let (dir, folder) = world();
        private(&folder.with_extension("owner"), "/home/h");
        let command = format!("x >|'{}/state-1'\nbuiltin cd -P -- '/'\nrm x", folder.display());
        let run = |name: &str| dir.path().join(format!("hermes-run-{name}.sh"));
        private(&run("own"), &command);
        let other = command.replace(ID, "aaaaaaaaaaaa").replace("rm x", &folder.to_string_lossy());
        private(&run("other"), &format!("{other}/state-0"));
        private(&run("odd"), "ls");
        std::os::unix::fs::symlink(run("own"), run("link")).unwrap();
        let [abandoned] =
            <[_; 1]>::try_from(Abandoned::all(dir.path(), Path::new("/home/h"))).unwrap();
        assert_eq!(abandoned.scripts(), [run("own")]);
        assert!(ids(dir.path()).is_empty(), "somebody is at it");
        abandoned.remove();
        assert!(!folder.exists() && !run("own").exists());
        assert!(run("other").exists() && run("odd").exists() && run("link").is_symlink());
    }

    #[test]
    fn other_homes_links_and_open_files_are_left_alone() {
        let (dir, folder) = world();
        let owner = folder.with_extension("owner");
        private(&owner, "/home/other");
        assert!(ids(dir.path()).is_empty());
        std::fs::remove_file(&owner).unwrap();
        let real = dir.path().join("real");
        private(&real, "/home/h");
        std::os::unix::fs::symlink(&real, &owner).unwrap();
        assert!(ids(dir.path()).is_empty());
        std::fs::remove_file(&owner).unwrap();
        std::fs::hard_link(&real, &owner).unwrap();
        assert!(ids(dir.path()).is_empty());
        std::fs::remove_file(&real).unwrap();
        assert_eq!(ids(dir.path()), [ID]);
        // A link in the place of the folder.
        std::fs::rename(&folder, dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &folder).unwrap();
        for it in Abandoned::all(dir.path(), Path::new("/home/h")) {
            it.remove();
        }
        assert!(dir.path().join("elsewhere/state-0").exists() && folder.is_symlink());
    }
}

//! The files behind a command, which people agree to and which may change.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_exec::program::find;
use hermes_registry::Settings;
use sha2::{Digest as _, Sha256};

use super::{date, words};

/// What a command would run, as it is now.
#[derive(Clone, Debug)]
pub struct Script {
    words: Vec<String>,
    problem: Option<String>,
    depends_on_cwd: bool,
    files: Vec<PathBuf>,
    stamps: Stamps,
    digest: Option<String>,
}

/// What tells a file from one with other contents without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
    /// When the system saw the last change, in nanoseconds: a time that nobody can set.
    changed: i64,
}

type Stamps = Vec<Option<Stamp>>;

impl Script {
    /// Looks a command up and reads its files: the program, and the arguments that are files. A
    /// program found by its bare name that is given such files is an interpreter of theirs, and
    /// not one of them: the next update of the system would count as a change.
    pub fn of(command: &str, settings: &Settings) -> Self {
        let home = settings.env("HOME").filter(|home| !home.is_empty());
        let (mut words, mut problem) = match words::split(command, home) {
            Ok(words) => (words, None),
            Err(why) => (Vec::new(), Some(why.to_owned())),
        };
        let mut files: Vec<PathBuf> =
            words.iter().skip(1).map(PathBuf::from).filter(|word| is_file(word)).collect();
        let name = words.first().cloned().unwrap_or_default();
        let is_bare = !name.contains(std::path::is_separator);
        let depends_on_cwd = !is_bare && Path::new(&name).is_relative();
        if !depends_on_cwd && problem.is_none() {
            let path = settings.env("PATH").map(OsStr::new);
            match find(OsStr::new(&name), Path::new("/"), path) {
                Ok(file) => {
                    // What is run is what was found here, wherever the agent works.
                    if let (Some(word), Some(file)) = (words.first_mut(), file.to_str()) {
                        file.clone_into(word);
                    }
                    if !is_bare || files.is_empty() {
                        files.insert(0, file);
                    }
                }
                Err(error) => problem = Some(error.to_string()),
            }
        }
        let stamps = stamps(&files);
        let digest = digest(&files);
        Self { words, problem, depends_on_cwd, files, stamps, digest }
    }

    /// The words of the command, the first one with its folder; none if it can't be split.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Why it can't be run, in one line.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether another file is run in another folder. Then nobody can tell what it will be.
    pub fn depends_on_cwd(&self) -> bool {
        self.depends_on_cwd
    }

    /// The files that count.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The SHA-256 of the contents of all files, in hexadecimal; none if there are no files.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// When the first file was changed last, in UTC.
    pub(super) fn modified(&self) -> Option<String> {
        self.stamps.first().copied().flatten().map(|stamp| date::iso(stamp.modified))
    }

    /// Whether the files still have the contents they had.
    pub(super) fn is_unchanged(&self) -> bool {
        stamps(&self.files) == self.stamps || digest(&self.files) == self.digest
    }
}

/// Whether a word names a file wherever the agent works.
fn is_file(word: &Path) -> bool {
    word.is_absolute() && word.metadata().is_ok_and(|metadata| metadata.is_file())
}

fn stamps(files: &[PathBuf]) -> Stamps {
    let stamp = |file: &PathBuf| {
        let metadata = file.metadata().ok()?;
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt as _;
            metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let changed = 0;
        Some(Stamp { modified: metadata.modified().ok()?, length: metadata.len(), changed })
    };
    files.iter().map(stamp).collect()
}

fn digest(files: &[PathBuf]) -> Option<String> {
    if files.is_empty() {
        return None;
    }
    let mut hash = Sha256::new();
    for file in files {
        // The lengths keep contents from moving from one file to the next. A file that can't be
        // read has a length of its own.
        let length = feed(file, &mut hash).unwrap_or(u64::MAX);
        hash.update(length.to_le_bytes());
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn feed(file: &Path, hash: &mut Sha256) -> io::Result<u64> {
    let mut file = File::open(file)?;
    let mut chunk = vec![0; 64 * 1024];
    let mut length = 0;
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => return Ok(length),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(chunk.get(..count).unwrap_or_default());
        length += count as u64;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_files_are_the_program_and_what_it_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, mode: u32| {
            let path = dir.path().join(name);
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (tool, script, plain) =
            (write("tool", 0o755), write("s.py", 0o644), write("plain", 0o644));
        let home = dir.path().to_str().unwrap();
        let settings = Settings::default().with_env([("HOME", home), ("PATH", home)]);
        let files = |command: &str| Script::of(command, &settings).files().to_vec();
        assert_eq!(files("tool x"), std::slice::from_ref(&tool));
        assert_eq!(files("~/tool ~/s.py relative -x"), [tool.clone(), script.clone()]);
        // Found by its bare name, it is the interpreter of the other.
        assert_eq!(files("tool -u ~/s.py"), [script]);
        assert_eq!(Script::of("tool x", &settings).words(), [tool.to_str().unwrap(), "x"]);

        let problem = |command: &str| Script::of(command, &settings).problem().map(str::to_owned);
        assert_eq!(problem("tool"), None);
        assert_eq!(problem("missing").unwrap(), "missing is not found");
        assert!(problem("plain").unwrap().starts_with(plain.to_str().unwrap()));
        assert_eq!(problem("'").unwrap(), "a ' is not closed");
        let relative = Script::of("./tool", &settings);
        assert!(relative.depends_on_cwd() && relative.digest().is_none());
    }

    #[test]
    fn contents_count_and_times_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let command = format!("cat {} {}", a.display(), b.display());
        let settings = Settings::default();
        let write = |first: &str, second: &str| {
            fs::write(&a, first).unwrap();
            fs::write(&b, second).unwrap();
        };
        write("ab", "c");
        let script = Script::of(&command, &settings);
        assert!(script.is_unchanged());
        // The same bytes, divided otherwise.
        write("a", "bc");
        assert!(!script.is_unchanged());
        write("ab", "c");
        let past = SystemTime::UNIX_EPOCH;
        File::options().write(true).open(&a).unwrap().set_modified(past).unwrap();
        assert!(script.is_unchanged());
        fs::remove_file(&a).unwrap();
        assert!(!script.is_unchanged());
    }
}

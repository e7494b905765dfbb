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

/// When each file was changed last, and its size.
type Stamps = Vec<Option<(SystemTime, u64)>>;

impl Script {
    /// Looks a command up and reads its files: the program, and the arguments that are files. A
    /// program found by its bare name that is given such files is an interpreter of theirs, and
    /// not one of them: the next update of the system would count as a change.
    pub fn of(command: &str, settings: &Settings) -> Self {
        let home = settings.env("HOME").filter(|home| !home.is_empty());
        let (words, mut problem) = match words::split(command, home) {
            Ok(words) => (words, None),
            Err(why) => (Vec::new(), Some(why.to_owned())),
        };
        let mut files: Vec<PathBuf> =
            words.iter().skip(1).map(PathBuf::from).filter(|word| is_file(word)).collect();
        let name = words.first().map(String::as_str).unwrap_or_default();
        let is_bare = !name.contains(std::path::is_separator);
        let depends_on_cwd = !is_bare && Path::new(name).is_relative();
        if !depends_on_cwd && problem.is_none() {
            let path = settings.env("PATH").map(OsStr::new);
            match find(OsStr::new(name), Path::new("/"), path) {
                Ok(file) if is_bare && !files.is_empty() => drop(file),
                Ok(file) => files.insert(0, file),
                Err(error) => problem = Some(error.to_string()),
            }
        }
        let stamps = stamps(&files);
        let digest = digest(&files);
        Self { words, problem, depends_on_cwd, files, stamps, digest }
    }

    /// The words of the command; none if it can't be split.
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
        self.stamps.first().copied().flatten().map(|(modified, _)| date::iso(modified))
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
        Some((metadata.modified().ok()?, metadata.len()))
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

//! The whole of an output that is too long to be shown, in a file where the command ran.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use hermes_environments::Lease;
use hermes_exec::environment::{Dialect, Start, Stdin};
use hermes_exec::session::quote;
use hermes_guard::redact::{Mode, flushable, redact};
use hermes_terminal::Cleaner;

/// Most bytes that are kept: who writes more than that needs a file of his own.
const MOST: usize = 16 * 1024 * 1024;

/// Longest line, in bytes.
const MOST_LINE: usize = 1024 * 1024;

/// How much is collected in memory before a file is begun.
const FIRST: usize = 64 * 1024;

/// What the names of such files begin and end with.
const NAME: [&str; 2] = ["hermes-output-", ".txt"];

/// How long they stay: a task may take a day.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the files in a folder of this machine that have been there for long. Those on other
/// machines are theirs to tidy up.
pub(crate) fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_named = name
            .to_str()
            .and_then(|it| it.strip_prefix(NAME[0])?.strip_suffix(NAME[1]))
            .is_some_and(|it| it.len() == 6 && it.bytes().all(|it| it.is_ascii_alphanumeric()));
        // Of the entry itself, not of what a link points to.
        let is_old = || {
            let it = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            it.modified().ok()?.elapsed().ok().filter(|age| *age > KEPT)
        };
        if is_named && is_old().is_some() {
            // Those of others stay.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Clean output without secrets, in memory at first and then in a file of this machine.
pub(crate) struct Spill {
    cleaner: Cleaner,
    mode: Mode,
    /// Clean, with secrets.
    pending: String,
    file: Option<tempfile::NamedTempFile>,
    written: usize,
    is_full: bool,
}

impl Spill {
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            cleaner: Cleaner::default(),
            mode,
            pending: String::new(),
            file: None,
            written: 0,
            is_full: false,
        }
    }

    /// Adds output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_full {
            return;
        }
        let Self { cleaner, pending, .. } = self;
        cleaner.push(bytes, &mut |text| pending.push_str(text));
        if self.pending.len() >= FIRST {
            self.flush(false);
        }
    }

    /// Writes what can be written without cutting a secret in two.
    fn flush(&mut self, is_end: bool) {
        let length = if is_end { self.pending.len() } else { flushable(&self.pending) };
        // A line without an end can't be masked piece by piece, nor kept in memory.
        self.is_full = length == 0 && self.pending.len() >= MOST_LINE;
        let Some(text) = self.pending.get(..length).filter(|text| !text.is_empty()) else { return };
        if self.file.is_none() {
            // An empty variable would name the working folder.
            let folder = Some(std::env::temp_dir()).filter(|it| it.is_absolute());
            let folder = folder.unwrap_or_else(|| "/tmp".into());
            // Readable by nobody else.
            let mut file = tempfile::Builder::new();
            self.file = file.prefix(NAME[0]).suffix(NAME[1]).tempfile_in(folder).ok();
        }
        let clean = redact(text, self.mode);
        let room = MOST - self.written;
        let part = clean.as_bytes().get(..room.min(clean.len())).unwrap_or_default();
        let file = self.file.as_mut();
        let is_written = file.is_some_and(|file| file.write_all(part).is_ok());
        self.written += part.len();
        self.is_full = !is_written || self.written >= MOST;
        self.pending.drain(..length);
        if self.is_full {
            self.pending = String::new();
        }
    }

    /// Ends the output and puts the file where commands of the session find it. Its path there.
    pub(crate) async fn keep(mut self, lease: &Lease) -> Option<String> {
        if !self.is_full {
            let Self { cleaner, pending, .. } = &mut self;
            cleaner.finish(&mut |text| pending.push_str(text));
            self.flush(true);
        }
        let file = self.file?;
        let session = lease.session();
        let environment = session.environment();
        if environment.shares_files() {
            // It outlives the session: the model may look at it later.
            let (_, path) = file.keep().ok()?;
            return path.into_os_string().into_string().ok();
        }
        let name = file.path().file_name()?.to_str()?.to_owned();
        let path = format!("{}/{name}", environment.temp_dir().trim_end_matches('/'));
        let start = Start {
            dialect: Dialect::Posix,
            stdin: Stdin::Bytes(std::fs::read(file.path()).ok()?),
            ..Start::new(format!("umask 077; exec cat >{}", quote(&path)))
        };
        let running = environment.start(start).await.ok()?;
        let exit = running.handle.wait().await;
        (exit == hermes_exec::environment::Exit::Code(0)).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn old_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let long_ago = std::time::SystemTime::now() - KEPT - Duration::from_secs(60);
        for (name, is_old) in [
            ("hermes-output-aB3xYz.txt", true),
            ("hermes-output-aB3xY1.txt", false),
            ("hermes-output-notes of mine.txt", true),
            ("hermes-output-aB3xYz.txt.bak", true),
            ("other.txt", true),
        ] {
            let file = std::fs::File::create(dir.path().join(name)).unwrap();
            if is_old {
                file.set_modified(long_ago).unwrap();
            }
        }
        sweep(dir.path());
        let left = std::fs::read_dir(dir.path()).unwrap();
        let mut left: Vec<_> =
            left.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let expected = [
            "hermes-output-aB3xY1.txt",
            "hermes-output-aB3xYz.txt.bak",
            "hermes-output-notes of mine.txt",
            "other.txt",
        ];
        assert_eq!(left, expected);
    }
}

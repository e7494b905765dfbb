//! The whole of an output that is too long to be shown, in a file where the command ran.

use std::io::Write as _;

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
            self.file = file.prefix("hermes-output-").suffix(".txt").tempfile_in(folder).ok();
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

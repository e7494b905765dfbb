//! This machine as an environment.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempPath;

use crate::environment::{
    BoxFuture, Close, Dialect, Environment, Exit, Handle, Pid, Running, Size, Start, StartFailure,
};
use crate::program::{Program, StartError, Streams};
use crate::session::LAST;

/// Starts processes of commands under restrictions.
pub trait Confine: Send + Sync {
    /// What is put before a command.
    fn prefix(&self) -> Vec<std::ffi::OsString>;

    /// Starts a command.
    ///
    /// # Errors
    /// The system refused, or the restrictions could not be put in force.
    fn spawn(&self, command: &mut Command) -> io::Result<Child>;
}

/// What the local environment is made of.
#[derive(Clone, Default)]
pub struct Options {
    /// The variables of its commands, all of them.
    pub env: Vec<(String, String)>,
    /// Where a session starts.
    pub cwd: PathBuf,
    /// The folder for short-lived files; absolute.
    pub temp_dir: PathBuf,
    /// The home folder of the user.
    pub home: Option<String>,
    /// Restrictions of its commands.
    pub confine: Option<Arc<dyn Confine>>,
}

/// This machine.
pub struct Local {
    options: Options,
    cwd: String,
    temp_dir: String,
    /// The program: the path of bash, or its name.
    shell: String,
}

impl Local {
    /// This machine. Nothing is started before the first command.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (cwd, temp_dir) = (text(&options.cwd), text(&options.temp_dir));
        Self { options, cwd, temp_dir, shell: "bash".to_owned() }
    }

    fn begin(&self, start: Start) -> Result<Running, StartFailure> {
        // A file and not an argument: those are limited to 128 KiB.
        let (script, last) = match start.script.strip_suffix(LAST) {
            Some(script) => (script, LAST),
            None => (&*start.script, ""),
        };
        let file = self.write(script).map_err(|error| {
            let folder = &self.temp_dir;
            StartFailure::new(format!(
                "the command can't be written to a file in {folder}: {error}"
            ))
        })?;
        let load = match (start.dialect, last) {
            (Dialect::Posix, _) => format!("eval \"$(cat {})\"", quoted(&file)),
            (_, "") => format!("builtin eval \"$(<{})\"", quoted(&file)),
            // Sourcing takes no fork.
            (_, last) => format!("builtin . {}; {last}", quoted(&file)),
        };
        let mut argv: Vec<String> = match start.dialect {
            Dialect::Bash => vec![self.shell.clone(), "--norc".into(), "--noprofile".into()],
            Dialect::BashLogin => vec![self.shell.clone(), "-l".into()],
            Dialect::Posix => vec!["sh".into()],
        };
        argv.extend(["-c".to_owned(), load]);
        let argv = self
            .options
            .confine
            .as_ref()
            .map(|it| it.prefix())
            .unwrap_or_default()
            .into_iter()
            .chain(argv.into_iter().map(Into::into));
        let path = self.options.env.iter().filter(|(name, _)| start.bare && name == "PATH");
        let all = self.options.env.iter().filter(|_| !start.bare);
        let env: Vec<_> = all.chain(path).chain(&start.env).cloned().collect();
        // The script itself goes to the session's folder; this is only where the shell is born.
        let program = Program::new(argv).cwd("/").env(env);
        let streams = Streams {
            stdin: start.stdin,
            errors_apart: start.errors_apart,
            terminal: start.terminal,
        };
        let running = match &self.options.confine {
            Some(confine) => program.launch_by(streams, |command| confine.spawn(command)),
            None => program.launch(streams),
        };
        let running = running.map_err(|error| failure(&error))?;
        let handle = Box::new(WithScript { inner: running.handle, _script: file });
        Ok(Running { handle, ..running })
    }

    fn write(&self, script: &str) -> io::Result<TempPath> {
        use std::io::Write as _;
        // Readable by nobody else, as all files of this crate.
        let mut file = tempfile::Builder::new()
            .prefix("hermes-run-")
            .suffix(".sh")
            .tempfile_in(&self.options.temp_dir)?;
        file.write_all(script.as_bytes())?;
        Ok(file.into_temp_path())
    }
}

fn quoted(path: &Path) -> String {
    crate::session::quote(&path.to_string_lossy())
}

fn failure(error: &StartError) -> StartFailure {
    match error {
        // Out of processes or memory, perhaps for a moment only.
        StartError::Refused { source, .. }
            if matches!(source.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory) =>
        {
            StartFailure::passing(error.to_string())
        }
        StartError::NotFound { .. } => {
            StartFailure::new(format!("{error}: commands are run by bash, which must be installed"))
        }
        _ => StartFailure::new(error.to_string()),
    }
}

impl Environment for Local {
    fn kind(&self) -> &'static str {
        "local"
    }

    fn identity(&self) -> String {
        "local".to_owned()
    }

    fn temp_dir(&self) -> &str {
        &self.temp_dir
    }

    fn home(&self) -> Option<&str> {
        self.options.home.as_deref()
    }

    fn initial_cwd(&self) -> &str {
        &self.cwd
    }

    fn shares_files(&self) -> bool {
        true
    }

    fn shared_folder(&self) -> Option<&Path> {
        Some(&self.options.temp_dir)
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(std::future::ready(self.begin(start)))
    }

    fn close(&self, _how: Close) -> BoxFuture<'_, ()> {
        // Nothing was made for it.
        Box::pin(std::future::ready(()))
    }
}

/// Keeps the file of a script for as long as its shell may read it.
struct WithScript {
    inner: Box<dyn Handle>,
    _script: TempPath,
}

impl Handle for WithScript {
    fn pid(&self) -> Option<Pid> {
        self.inner.pid()
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        self.inner.wait()
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        self.inner.terminate(grace)
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        self.inner.resize(size)
    }

    fn release(&self) {
        self.inner.release();
    }
}

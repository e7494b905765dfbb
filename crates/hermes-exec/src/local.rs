//! This machine as an environment.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_task::{TaskFailure, spawn_blocking};
use tempfile::TempPath;

use crate::environment::{
    BoxFuture, Close, Dialect, Environment, Exit, Handle, Pid, Running, Size, Start, StartFailure,
};
use crate::program::{Program, StartError, Streams};
use crate::session::LAST;

/// Restricts commands.
pub trait Confine: Send + Sync {
    /// Calls `start`, from a thread that is restricted if need be, with the arguments that a
    /// command is to be started by in place of `argv`. The command goes to the folder `cwd`.
    ///
    /// # Errors
    /// What `start` said, or why the restrictions can't be put in force.
    fn confined(
        &self,
        cwd: &Path,
        argv: Vec<OsString>,
        start: &mut (dyn FnMut(Vec<OsString>) -> Result<(), StartFailure> + Send),
    ) -> Result<(), StartFailure>;
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
    /// A folder in memory for scripts and the files of sessions, absolute: writing there takes a
    /// fraction of the time. Without one they are in [`temp_dir`](Self::temp_dir), as they are with
    /// restrictions, which may not let commands see it.
    pub memory_dir: Option<PathBuf>,
    /// The home folder of the user.
    pub home: Option<String>,
    /// Restrictions of its commands.
    pub confine: Option<Arc<dyn Confine>>,
}

/// This machine.
pub struct Local {
    machine: Arc<Machine>,
}

/// What starts commands, from threads that may block.
struct Machine {
    options: Options,
    /// Where scripts and the files of sessions are.
    scratch: PathBuf,
    cwd: String,
    temp_dir: String,
}

impl Local {
    /// This machine. Nothing is started before the first command.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (cwd, temp_dir) = (text(&options.cwd), text(&options.temp_dir));
        let memory = options.memory_dir.as_ref().filter(|_| options.confine.is_none());
        let scratch = memory.unwrap_or(&options.temp_dir).clone();
        Self { machine: Arc::new(Machine { options, scratch, cwd, temp_dir }) }
    }
}

impl Machine {
    /// Starts a shell. Blocks until it has taken the place of the fork, which takes long where very
    /// many processes want to run.
    fn begin(&self, start: Start) -> Result<Running, StartFailure> {
        let (load, file) = if start.is_public {
            (start.script.clone(), None)
        } else {
            let (load, file) = self.by_file(&start)?;
            (load, Some(file))
        };
        let mut argv: Vec<String> = match start.dialect {
            Dialect::Bash => vec!["bash".into(), "--norc".into(), "--noprofile".into()],
            Dialect::BashLogin => vec!["bash".into(), "-l".into()],
            Dialect::Posix => vec!["sh".into()],
        };
        argv.extend(["-c".to_owned(), load]);
        let path = self.options.env.iter().filter(|(name, _)| start.bare && name == "PATH");
        let all = self.options.env.iter().filter(|_| !start.bare);
        let env: Vec<_> = all.chain(path).chain(&start.env).cloned().collect();
        let streams = Streams {
            stdin: start.stdin,
            errors_apart: start.errors_apart,
            terminal: start.terminal,
        };
        // This is only where the shell is born; the script goes to the folder of the command.
        let launch = |argv: Vec<OsString>| {
            let program = Program::new(argv).cwd("/").env(env.clone());
            program.launch(streams.clone()).map_err(|error| failure(&error))
        };
        let argv = argv.into_iter().map(OsString::from).collect();
        let running = match &self.options.confine {
            None => launch(argv)?,
            Some(confine) => {
                let cwd = self.folder(start.cwd.as_deref());
                let runtime = tokio::runtime::Handle::current();
                let mut running = None;
                confine.confined(&cwd, argv, &mut |argv| {
                    let _guard = runtime.enter();
                    running = Some(launch(argv)?);
                    Ok(())
                })?;
                running.ok_or_else(|| StartFailure::new("the command was not started"))?
            }
        };
        let handle = Box::new(WithScript { inner: running.handle, _script: file });
        Ok(Running { handle, ..running })
    }

    /// What loads a script from a file, and the file. Arguments are limited to 128 KiB.
    fn by_file(&self, start: &Start) -> Result<(String, TempPath), StartFailure> {
        let (script, last) = match start.script.strip_suffix(LAST) {
            Some(script) => (script, LAST),
            None => (&*start.script, ""),
        };
        let file = self.write(script).map_err(|error| {
            let folder = self.scratch.display();
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
        Ok((load, file))
    }

    /// The folder that a command goes to, absolute.
    fn folder(&self, cwd: Option<&str>) -> PathBuf {
        let Some(cwd) = cwd else { return self.options.cwd.clone() };
        match (cwd.strip_prefix('~'), &self.options.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                Path::new(home).join(rest.trim_start_matches('/'))
            }
            _ => self.options.cwd.join(cwd),
        }
    }

    fn write(&self, script: &str) -> io::Result<TempPath> {
        use std::io::Write as _;
        // Readable by nobody else, as all files of this crate.
        let write = |folder: &Path| {
            let mut file =
                tempfile::Builder::new().prefix("hermes-run-").suffix(".sh").tempfile_in(folder)?;
            file.write_all(script.as_bytes())?;
            Ok(file.into_temp_path())
        };
        // There may be more room on disk.
        write(&self.scratch).or_else(|_: io::Error| write(&self.options.temp_dir))
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
        &self.machine.temp_dir
    }

    fn home(&self) -> Option<&str> {
        self.machine.options.home.as_deref()
    }

    fn initial_cwd(&self) -> &str {
        &self.machine.cwd
    }

    fn shares_files(&self) -> bool {
        true
    }

    fn shared_folder(&self) -> Option<&Path> {
        Some(&self.machine.scratch)
    }

    fn keeps_standby(&self) -> bool {
        // Restrictions go by the folder of the command.
        self.machine.options.confine.is_none()
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        let machine = Arc::clone(&self.machine);
        Box::pin(async move {
            // When nobody waits any more the shell is ended as soon as it was started.
            let started = spawn_blocking(move || machine.begin(start)).await;
            started.unwrap_or_else(|failure| {
                Err(StartFailure::new(match failure {
                    TaskFailure::Panicked(message) => message,
                    TaskFailure::Aborted => "the program is about to end".to_owned(),
                }))
            })
        })
    }

    fn close(&self, _how: Close) -> BoxFuture<'_, ()> {
        // Nothing was made for it.
        Box::pin(std::future::ready(()))
    }
}

/// Keeps the file of a script for as long as its shell may read it.
struct WithScript {
    inner: Box<dyn Handle>,
    _script: Option<TempPath>,
}

impl Handle for WithScript {
    fn pid(&self) -> Option<Pid> {
        self.inner.pid()
    }

    fn tag(&self) -> Option<&[u8]> {
        self.inner.tag()
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

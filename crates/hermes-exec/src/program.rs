//! One program from start to end, with its whole process group.

mod companion;
mod find;
mod group;
#[cfg(unix)]
mod live;
mod outcome;

use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::time::{sleep, timeout};

pub use companion::{Companion, Pipes};
pub use find::find;
use group::Group;
#[cfg(unix)]
pub use live::{Stranger, Streams, TAG, tag_of};
pub use outcome::{Ended, Finished, Output, StartError};

/// Bytes kept of each of stdout and stderr when nothing else is said.
pub const DEFAULT_CAPTURE: usize = 1024 * 1024;

/// How long the output of a program that has ended is still waited for. What it wrote itself is in
/// the pipe already; only a child it left behind can keep the pipe open.
const DRAIN: Duration = Duration::from_millis(50);

/// How long the end of a killed program is waited for. Only one that hangs in the kernel needs
/// longer, and nobody can help that.
const REAP: Duration = Duration::from_secs(2);

/// How often a program's file that somebody is still writing is tried again.
const BUSY_TRIES: u32 = 20;

/// The time between two such tries.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// A program to be run: started directly, never through a shell, in a process group of its own.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use hermes_exec::program::{Ended, Program};
///
/// let finished = Program::new(["cat"]).env([("PATH", "/usr/bin:/bin")]).stdin("hi").run().await?;
/// assert_eq!((finished.ended, &*finished.stdout.bytes), (Ended::Exited(0), &b"hi"[..]));
/// # Ok::<_, hermes_exec::program::StartError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    argv: Vec<OsString>,
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    timeout: Option<Duration>,
    capture: usize,
}

impl Program {
    /// A program and its arguments. It gets no variables, nothing on stdin, the folder `/`, and no
    /// time limit.
    pub fn new<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: PathBuf::from("/"),
            env: Vec::new(),
            stdin: Vec::new(),
            timeout: None,
            capture: DEFAULT_CAPTURE,
        }
    }

    /// The folder it starts in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Its whole environment. `PATH` in it also says where the program is looked for.
    #[must_use]
    pub fn env<K, V>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        self.env = env.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self
    }

    /// What it can read from stdin. It need not read it.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// How long it may run. Then its whole group is told to end, and killed shortly after.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// How many bytes of each of stdout and stderr are kept. The rest is read and counted, so that
    /// the program never waits for a reader.
    #[must_use]
    pub fn capture(mut self, bytes: usize) -> Self {
        self.capture = bytes;
        self
    }

    /// Runs it to its end. When the future is dropped, the whole group is killed.
    ///
    /// # Errors
    ///
    /// The program could not be started.
    pub async fn run(self) -> Result<Finished, StartError> {
        self.run_until(std::future::pending()).await
    }

    /// As [`run`](Self::run); when `stop` is ready first, the whole group is ended.
    ///
    /// A child that the program leaves behind when it ends by itself goes on, as under a shell;
    /// its output is no longer read.
    ///
    /// # Errors
    ///
    /// The program could not be started.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<Finished, StartError> {
        let mut child = self.start().await?;
        // After `child`, so that it is dropped before: it must kill while the leader is not yet
        // collected, since the number of a collected one may belong to others.
        let mut group = Group::of(child.id());
        let mut stdout = Capture::new(self.capture);
        let mut stderr = Capture::new(self.capture);
        let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = self.stdin;
        let pump = async {
            let feed = async {
                if let Some(mut stdin) = stdin {
                    // A program may close its stdin whenever it likes.
                    let _ = stdin.write_all(&input).await;
                }
            };
            tokio::join!(feed, stdout.fill(out), stderr.fill(err));
        };
        let mut pump = Pump { work: Box::pin(pump), done: false };
        let limit = async {
            match self.timeout {
                Some(limit) => sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let stopped = tokio::select! {
            biased;
            status = wait(&mut child, &mut pump) => Err(status),
            () = stop => Ok(Ended::Cancelled),
            () = limit => Ok(Ended::TimedOut),
        };
        let ended = match stopped {
            Err(status) => {
                group.forget();
                status.map_or(Ended::Lost, Ended::from)
            }
            Ok(ended) => {
                group.end(&mut child, &mut pump).await;
                if timeout(REAP, wait(&mut child, &mut pump)).await.is_ok() {
                    group.forget();
                }
                ended
            }
        };
        // Both in vain if something still holds a pipe.
        let _ = timeout(DRAIN, pump.rest()).await;
        drop(pump);
        Ok(Finished { ended, stdout: stdout.output, stderr: stderr.output })
    }

    async fn start(&self) -> Result<Child, StartError> {
        let file = self.file()?;
        let mut tries = 0;
        loop {
            match self.run_command(&file).spawn() {
                Ok(child) => return Ok(child),
                Err(error) if is_busy(&error, &mut tries) => sleep(BUSY_PAUSE).await,
                Err(source) => return Err(StartError::refused(file, source)),
            }
        }
    }

    /// The file to run, once it is sure that there is one and a folder to start in.
    fn file(&self) -> Result<PathBuf, StartError> {
        let name = self.argv.first().ok_or(StartError::Nothing)?;
        if !self.cwd.is_dir() {
            return Err(StartError::NoFolder { path: self.cwd.clone() });
        }
        let path = self.env.iter().rev().find(|(key, _)| key == "PATH");
        // Looked for here and not by the system: with a path of its own in hand, the standard
        // library can take the fast way to start a process even if the environment is replaced.
        find(name, &self.cwd, path.map(|(_, value)| value.as_os_str()))
    }

    fn run_command(&self, file: &Path) -> tokio::process::Command {
        let mut command = self.command(file);
        own_group(&mut command);
        command
            .stdin(if self.stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stderr(Stdio::piped());
        let mut command = tokio::process::Command::from(command);
        command.kill_on_drop(true);
        command
    }

    fn command(&self, file: &Path) -> Command {
        #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
        let mut command = Command::new(file);
        command
            .args(self.argv.get(1..).unwrap_or_default())
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.env.iter().map(|(key, value)| (key, value)))
            .stdout(Stdio::piped());
        #[cfg(unix)]
        if let Some(name) = self.argv.first() {
            use std::os::unix::process::CommandExt as _;
            command.arg0(name);
        }
        command
    }
}

/// Makes the program the leader of a process group.
fn own_group(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
}

/// Whether a program could not be started because its file is open for writing, and may be in a
/// moment: another thread forked while it wrote it, and its child closes the file soon.
fn is_busy(error: &io::Error, tries: &mut u32) -> bool {
    *tries += 1;
    error.kind() == io::ErrorKind::ExecutableFileBusy && *tries <= BUSY_TRIES
}

/// The traffic on the pipes, which must go on whatever else is waited for.
struct Pump<'p> {
    work: Pin<Box<dyn Future<Output = ()> + Send + 'p>>,
    done: bool,
}

impl Pump<'_> {
    /// Resolves when everything is written and read; never, when it did so before.
    async fn rest(&mut self) {
        if !self.done {
            self.work.as_mut().await;
            self.done = true;
        }
    }

    /// Pumps until `other` is ready.
    async fn during<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        if !self.done {
            tokio::select! {
                biased;
                value = &mut other => return value,
                () = self.work.as_mut() => self.done = true,
            }
        }
        other.await
    }
}

async fn wait(child: &mut Child, pump: &mut Pump<'_>) -> io::Result<ExitStatus> {
    pump.during(child.wait()).await
}

/// What is kept of a stream.
struct Capture {
    output: Output,
    room: usize,
}

impl Capture {
    fn new(room: usize) -> Self {
        Self { output: Output::default(), room }
    }

    async fn fill(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 16 * 1024];
        // A read error is the end of what can be had.
        while let Ok(count @ 1..) = stream.read(&mut chunk).await {
            let read = chunk.get(..count).unwrap_or_default();
            let kept = read.get(..self.room.min(count)).unwrap_or_default();
            self.output.bytes.extend_from_slice(kept);
            self.room -= kept.len();
            self.output.dropped += (count - kept.len()) as u64;
        }
    }
}

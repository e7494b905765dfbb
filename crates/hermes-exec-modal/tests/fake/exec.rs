//! A command of the fake sandbox: a process of this machine.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::proto::{ExitStatus, TaskExecStartRequest};

/// What a process wrote so far.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_over: bool,
}

#[derive(Default)]
pub(crate) struct Output {
    pub(crate) written: Mutex<Written>,
    pub(crate) news: Notify,
}

pub(crate) struct Exec {
    pub(crate) streams: [Arc<Output>; 2],
    pub(crate) exit: watch::Receiver<Option<ExitStatus>>,
    stdin: tokio::sync::Mutex<(u64, Option<ChildStdin>)>,
    _tasks: JoinSet<()>,
}

async fn collect(mut from: impl AsyncRead + Unpin, into: Arc<Output>) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = from.read(&mut buffer).await.unwrap_or_default();
        let mut written = into.written.lock().unwrap();
        written.bytes.extend_from_slice(&buffer[..count]);
        written.is_over = count == 0;
        drop(written);
        into.news.notify_waiters();
        if count == 0 {
            return;
        }
    }
}

impl Exec {
    pub(crate) fn start(request: &TaskExecStartRequest) -> std::io::Result<Self> {
        let (program, arguments) = request.command_args.split_first().unwrap();
        #[expect(clippy::disallowed_methods, reason = "the fake sandbox runs what it is told")]
        let mut command = std::process::Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", "/fake-home")
            .current_dir("/")
            .stdin(Stdio::piped());
        let merged = if request.stderr_config == 2 {
            let (reader, writer) = std::io::pipe()?;
            command.stdout(writer.try_clone()?).stderr(writer);
            Some(tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?)
        } else {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            None
        };
        let mut command = tokio::process::Command::from(command);
        let mut child = command.spawn()?;
        // It holds the writing ends.
        drop(command);
        let streams = [Arc::<Output>::default(), Arc::<Output>::default()];
        let mut tasks = JoinSet::new();
        match merged {
            Some(merged) => {
                tasks.spawn(collect(merged, Arc::clone(&streams[0])));
                streams[1].written.lock().unwrap().is_over = true;
            }
            None => {
                tasks.spawn(collect(child.stdout.take().unwrap(), Arc::clone(&streams[0])));
                tasks.spawn(collect(child.stderr.take().unwrap(), Arc::clone(&streams[1])));
            }
        }
        let stdin = (0, child.stdin.take()).into();
        let (sender, exit) = watch::channel(None);
        tasks.spawn(async move {
            let status = child.wait().await.unwrap();
            let status = match status.code() {
                Some(code) => ExitStatus::Code(code),
                None => ExitStatus::Signal(status.signal().unwrap()),
            };
            sender.send_replace(Some(status));
        });
        Ok(Self { streams, exit, stdin, _tasks: tasks })
    }

    /// Takes input that begins at `offset`. What it has already it doesn't take twice.
    pub(crate) async fn write(&self, offset: u64, data: &[u8], eof: bool) -> Result<(), String> {
        let mut stdin = self.stdin.lock().await;
        let (taken, pipe) = &mut *stdin;
        if offset > *taken {
            return Err(format!("there is a gap between {taken} and {offset}"));
        }
        let skipped = usize::try_from(*taken - offset).unwrap().min(data.len());
        let new = &data[skipped..];
        *taken += new.len() as u64;
        if let Some(writer) = pipe {
            let _ = writer.write_all(new).await;
        }
        if eof {
            *pipe = None;
        }
        Ok(())
    }
}

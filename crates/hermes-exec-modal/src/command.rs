//! One command of a sandbox: its streams and its end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hermes_exec::environment::{
    BoxFuture, Exit, Handle, Pid, Reader, Running, Size, Start, StartFailure, Stdin, Writer,
};
use hermes_exec::remote::{
    Feed, LONGEST_ARGUMENT, ending, from_file, launch, pumped, quoted, with_env,
};
use hermes_task::Tracked;
use tokio::io::{AsyncReadExt as _, DuplexStream};
use tokio::sync::{OnceCell, mpsc};
use tonic::{Code, Status};

use crate::api::new_uuid;
use crate::proto::{
    Empty, ExitStatus, PtyInfo, TaskExecRequest, TaskExecStartRequest, TaskExecStdinWriteRequest,
    TaskExecStdioReadRequest, TaskExecStdioReadResponse, TaskExecWaitResponse,
};
use crate::router::Router;
use crate::rpc::{Method, Tries, failure};

/// The folder for short-lived files.
pub(crate) const TEMP_DIR: &str = "/tmp";
/// How much input travels at once, in bytes.
const PIECE: usize = 512 * 1024;
/// How much input waits to be sent, in bytes.
const INPUT: usize = 64 * 1024;
/// How much longer than its grace the ending of a command may take.
const ENDING: Duration = Duration::from_secs(15);

const START: Method = Method::new("/modal.task_command_router.TaskCommandRouter/TaskExecStart", 60);
const READ: Method =
    Method::new("/modal.task_command_router.TaskCommandRouter/TaskExecStdioRead", 60);
const WRITE: Method =
    Method::new("/modal.task_command_router.TaskCommandRouter/TaskExecStdinWrite", 60);
/// The worker answers such a request after a minute at the latest.
const WAIT: Method = Method::new("/modal.task_command_router.TaskCommandRouter/TaskExecWait", 75);

/// A command that was started.
pub(crate) struct Command {
    router: Arc<Router>,
    id: String,
    exit: OnceCell<Exit>,
}

/// Which of a command's streams.
#[derive(Clone, Copy)]
enum Stream {
    Output,
    Errors,
}

impl Command {
    /// Starts `argv`, once however often the request gets there.
    async fn start(
        router: &Arc<Router>,
        id: &str,
        argv: Vec<String>,
        shape: &Shape,
    ) -> Result<Self, Status> {
        let id = id.to_owned();
        let request = TaskExecStartRequest {
            task_id: router.task(),
            exec_id: id.clone(),
            command_args: argv,
            stdout_config: 1,
            stderr_config: if shape.errors_apart { 1 } else { 2 },
            pty_info: shape.terminal.map(|size| PtyInfo {
                enabled: true,
                winsz_rows: size.rows.into(),
                winsz_cols: size.cols.into(),
                env_term: "xterm-256color".to_owned(),
                pty_type: 2,
            }),
        };
        let _: Empty = router.call(START, request).await?;
        Ok(Self { router: Arc::clone(router), id, exit: OnceCell::new() })
    }

    fn request(&self) -> TaskExecRequest {
        TaskExecRequest { task_id: self.router.task(), exec_id: self.id.clone() }
    }

    /// How it ended, once it has.
    async fn wait(&self) -> &Exit {
        self.exit.get_or_init(|| self.wait_for_exit()).await
    }

    async fn wait_for_exit(&self) -> Exit {
        let mut tries = Tries::of_worker();
        loop {
            let answer: Result<TaskExecWaitResponse, Status> =
                self.router.once(WAIT, self.request()).await;
            match answer.map(|answer| answer.exit_status) {
                Ok(Some(ExitStatus::Code(code))) => return Exit::Code(code),
                Ok(Some(ExitStatus::Signal(signal))) => return Exit::Code(128 + signal),
                Ok(None) => tries.reset(),
                Err(status) if status.code() == Code::DeadlineExceeded => tries.reset(),
                Err(status) => {
                    if let Err(status) = tries.again(status).await {
                        return Exit::Lost(lost(&status));
                    }
                }
            }
        }
    }

    /// Hands on what it writes from the beginning to the end. After a break it goes on behind what
    /// was handed on.
    async fn read(&self, stream: Stream, feed: Feed) {
        let mut offset = 0;
        let mut tries = Tries::of_worker();
        loop {
            let request = TaskExecStdioReadRequest {
                task_id: self.router.task(),
                exec_id: self.id.clone(),
                offset,
                file_descriptor: match stream {
                    Stream::Output => 0,
                    Stream::Errors => 1,
                },
            };
            let broken = match self.router.stream(READ, request).await {
                Err(status) => status,
                Ok(mut pieces) => loop {
                    let piece: Result<Option<TaskExecStdioReadResponse>, Status> =
                        pieces.message().await;
                    match piece {
                        Ok(Some(piece)) => {
                            tries.reset();
                            offset += piece.data.len() as u64;
                            if !feed.send(piece.data).await {
                                return;
                            }
                        }
                        Ok(None) => return,
                        Err(status) => break status,
                    }
                },
            };
            if let Err(status) = tries.again(broken).await {
                return feed.fail(lost(&status)).await;
            }
        }
    }

    /// Sends one piece of input, the last one where `eof` is set.
    async fn write(&self, offset: u64, data: Bytes, eof: bool) -> Result<(), Status> {
        let request = TaskExecStdinWriteRequest {
            task_id: self.router.task(),
            exec_id: self.id.clone(),
            offset,
            data,
            eof,
        };
        let _: Empty = self.router.call(WRITE, request).await?;
        Ok(())
    }

    /// Sends bytes and the end.
    async fn write_all(&self, bytes: Bytes) -> Result<(), Status> {
        let mut rest = bytes;
        let mut offset = 0;
        loop {
            let piece = rest.split_to(rest.len().min(PIECE));
            let length = piece.len() as u64;
            self.write(offset, piece, rest.is_empty()).await?;
            offset += length;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Sends what comes from the other side, and the end when that is dropped.
    async fn write_from(&self, mut input: DuplexStream) {
        let mut offset = 0;
        let mut buffer = vec![0; INPUT];
        loop {
            let count = input.read(&mut buffer).await.unwrap_or_default();
            let data = Bytes::copy_from_slice(buffer.get(..count).unwrap_or_default());
            if let Err(err) = self.write(offset, data, count == 0).await {
                // A command need not read what it is given.
                tracing::debug!(%err, "input isn't taken");
                return;
            }
            offset += count as u64;
            if count == 0 {
                return;
            }
        }
    }

    /// Hands on one of its streams.
    fn reader(self: &Arc<Self>, stream: Stream) -> (Reader, Arc<Tracked<()>>) {
        let command = Arc::clone(self);
        pumped(|feed| async move { command.read(stream, feed).await })
    }
}

/// What a command is connected to.
struct Shape {
    errors_apart: bool,
    terminal: Option<Size>,
}

/// Starts a shell in the sandbox of `router`. `dropped` hears of commands that nobody wants any
/// more.
pub(crate) async fn start(
    router: &Arc<Router>,
    start: Start,
    dropped: mpsc::UnboundedSender<String>,
) -> Result<Running, StartFailure> {
    let id = new_uuid();
    let script = with_env(&start);
    let what = "starting a command in the sandbox";
    let fault = |status: &Status| match status.code() {
        Code::NotFound => StartFailure::gone(format!("{what}: the sandbox is gone")),
        _ => failure(what, status),
    };
    let argv = if script.len() > LONGEST_ARGUMENT {
        let file = format!("{TEMP_DIR}/.hermes-{id}.sh");
        upload(router, &file, script.into_owned()).await.map_err(|err| fault(&err))?;
        launch(&start, &from_file(&file), &id, TEMP_DIR)
    } else {
        launch(&start, &script, &id, TEMP_DIR)
    };
    let shape = Shape { errors_apart: start.errors_apart, terminal: start.terminal };
    let command = Command::start(router, &id, argv, &shape).await.map_err(|err| fault(&err))?;
    let command = Arc::new(command);
    let (output, pump) = command.reader(Stream::Output);
    let mut tasks = vec![pump];
    let errors = start.errors_apart.then(|| {
        let (errors, pump) = command.reader(Stream::Errors);
        tasks.push(pump);
        errors
    });
    let writing = Arc::clone(&command);
    let mut stdin: Option<Writer> = None;
    let pump = match start.stdin {
        Stdin::Bytes(bytes) if start.terminal.is_none() => hermes_task::spawn(async move {
            if let Err(err) = writing.write_all(bytes.into()).await {
                tracing::debug!(%err, "input isn't taken");
            }
        }),
        Stdin::Null if start.terminal.is_none() => hermes_task::spawn(async move {
            let _ = writing.write(0, Bytes::new(), true).await;
        }),
        _ => {
            let (near, far) = tokio::io::duplex(INPUT);
            stdin = Some(Box::pin(near));
            hermes_task::spawn(async move { writing.write_from(far).await })
        }
    };
    tasks.push(Arc::new(pump));
    let handle = Control { command, dropped: Some(dropped).into(), _tasks: tasks };
    Ok(Running { output, errors, stdin, handle: Box::new(handle) })
}

/// Writes a file, by the input of a command.
async fn upload(router: &Arc<Router>, file: &str, text: String) -> Result<(), Status> {
    let script = format!("umask 077; cat >{}", quoted(file));
    let argv = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let shape = Shape { errors_apart: false, terminal: None };
    let command = Command::start(router, &new_uuid(), argv, &shape).await?;
    command.write_all(text.into()).await?;
    match command.wait().await {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => Err(Status::aborted(format!("{file} can't be written: exit {code}"))),
        Exit::Lost(why) => Err(Status::aborted(why.clone())),
    }
}

/// Runs a small command to its end, and what it writes.
pub(crate) async fn output_of(router: &Arc<Router>, script: &str) -> Result<String, Status> {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let shape = Shape { errors_apart: false, terminal: None };
    let command = Command::start(router, &new_uuid(), argv, &shape).await?;
    let command = Arc::new(command);
    let _ = command.write(0, Bytes::new(), true).await;
    let (mut output, _pump) = command.reader(Stream::Output);
    let mut text = String::new();
    let read = output.read_to_string(&mut text).await;
    read.map_err(|err| Status::aborted(err.to_string()))?;
    Ok(text)
}

/// Ends a command with all that it started.
pub(crate) async fn end(router: &Arc<Router>, id: &str, grace: Duration) {
    let argv = ending(id, grace, TEMP_DIR);
    let shape = Shape { errors_apart: false, terminal: None };
    let ending = async {
        let command = Command::start(router, &new_uuid(), argv, &shape).await?;
        Ok::<_, Status>(command.wait().await.clone())
    };
    match tokio::time::timeout(grace + ENDING, ending).await {
        Ok(Ok(Exit::Code(0))) => {}
        Ok(Ok(exit)) => tracing::warn!(?exit, id, "a command isn't ended"),
        Ok(Err(err)) => tracing::warn!(%err, id, "a command isn't ended"),
        Err(_) => tracing::warn!(id, "a command isn't ended in time"),
    }
}

fn lost(status: &Status) -> String {
    match status.code() {
        Code::NotFound => "the sandbox is gone".to_owned(),
        _ => format!("the connection to the sandbox is lost: {}", status.message()),
    }
}

/// Control over a command.
struct Control {
    command: Arc<Command>,
    /// Who ends it when nobody wants it any more; nobody, once it is let go.
    dropped: std::sync::Mutex<Option<mpsc::UnboundedSender<String>>>,
    _tasks: Vec<Arc<Tracked<()>>>,
}

impl Control {
    fn take(&self) -> Option<mpsc::UnboundedSender<String>> {
        self.dropped.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

impl Handle for Control {
    fn pid(&self) -> Option<Pid> {
        None
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        Box::pin(async { self.command.wait().await.clone() })
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(end(&self.command.router, &self.command.id, grace))
    }

    fn resize(&self, _: Size) -> io::Result<()> {
        let message = "the size of a terminal in a sandbox of Modal can't be changed";
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    fn release(&self) {
        self.take();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // What is left of a command that has ended belongs to nobody, as under a shell.
        if let Some(dropped) = self.take()
            && !self.command.exit.initialized()
        {
            let _ = dropped.send(self.command.id.clone());
        }
    }
}

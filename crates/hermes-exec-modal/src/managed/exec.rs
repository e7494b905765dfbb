//! One command: started, looked at until it has ended, ended.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hermes_exec::environment::{
    BoxFuture, Dialect, Exit, Handle, Pid, Running, Size, Start, StartFailure, Stdin, Writer,
};
use hermes_exec::remote::{Feed, LONGEST_ARGUMENT, feed, from_file, quoted, told, with_env};
use hermes_task::Tracked;
use serde_json::{Value, json};
use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, watch};

use super::gateway::{Fault, Gateway};
use super::millis;
use crate::api::new_uuid;
use crate::command::TEMP_DIR;

/// How often a command is looked at.
const POLL: Duration = Duration::from_millis(250);
/// How many looks in a row may fail, and how long is waited between such at most.
const FAILED_LOOKS: u32 = 30;
const LONGEST_POLL: Duration = Duration::from_secs(2);
/// How long starting a command may take.
const START: Duration = Duration::from_secs(10);
/// How long the end of a command that was ended is waited for.
const CANCELLED: Duration = Duration::from_secs(5);

/// A sandbox of the gateway's.
pub(super) struct Sandbox {
    pub(super) gateway: Gateway,
    pub(super) id: String,
    pub(super) cwd: String,
    /// How long a command may take.
    pub(super) limit: Duration,
}

/// How a command is at the moment.
struct Look {
    exit: Option<Exit>,
    output: String,
}

impl Look {
    fn read(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let code = value.get("returncode").and_then(Value::as_i64);
        let code = code.and_then(|code| i32::try_from(code).ok());
        let exit = match text("status") {
            Some("completed") => Some(Exit::Code(code.unwrap_or(0))),
            Some("failed") => Some(code.map_or_else(
                || Exit::Lost("the gateway couldn't run the command".to_owned()),
                Exit::Code,
            )),
            Some("cancelled") => Some(Exit::Code(code.unwrap_or(130))),
            Some("timeout") => Some(Exit::Code(124)),
            _ => None,
        };
        Self { exit, output: text("output").unwrap_or_default().to_owned() }
    }
}

impl Sandbox {
    fn path(&self, exec: &str) -> String {
        format!("v1/sandboxes/{}/execs/{exec}", self.id)
    }

    /// Starts a command. Where the answer got lost, the gateway is asked whether it runs.
    async fn run(
        &self,
        exec: &str,
        command: &str,
        stdin: Option<&str>,
    ) -> Result<Look, StartFailure> {
        let what = "starting a command in the sandbox";
        let mut body = json!({
            "execId": exec,
            "command": command,
            "cwd": self.cwd,
            "timeoutMs": millis(self.limit),
        });
        if let (Some(stdin), Some(body)) = (stdin, body.as_object_mut()) {
            body.insert("stdinData".to_owned(), stdin.into());
        }
        let path = format!("v1/sandboxes/{}/execs", self.id);
        let answer = match self.gateway.post_once(&path, &body, START).await {
            Err(fault) if fault.is_passing => match self.gateway.get_surely(&self.path(exec)).await
            {
                Err(absent) if absent.status == Some(404) => {
                    let failure = fault.to(what);
                    return Err(StartFailure { is_safe_to_retry: true, ..failure });
                }
                Ok(look) => look,
                Err(_) => return Err(fault.to(what)),
            },
            Err(fault) if matches!(fault.status, Some(404 | 410)) => {
                return Err(StartFailure::gone(format!("{what}: the sandbox is gone ({fault})")));
            }
            answer => answer.map_err(|fault| fault.to(what))?,
        };
        let look = Look::read(&answer);
        let echoed = answer.get("execId").and_then(Value::as_str);
        if look.exit.is_none() && echoed != Some(exec) {
            return Err(StartFailure::new(format!("{what}: the gateway answers for another one")));
        }
        Ok(look)
    }

    /// Runs a command to its end. The answer is what it wrote.
    async fn finish(&self, command: &str, stdin: Option<&str>) -> Result<String, StartFailure> {
        let exec = new_uuid();
        let look = self.run(&exec, command, stdin).await?;
        let fault = |why: &str| StartFailure::new(format!("preparing a command: {why}"));
        match self.follow(&exec, look, |_| std::future::ready(())).await {
            (Exit::Code(0), output) => Ok(output),
            (Exit::Code(code), output) => Err(fault(&format!("exit {code}: {output}"))),
            (Exit::Lost(why), _) => Err(fault(&why)),
        }
    }

    /// Looks at a command until it has ended. `news` gets what it wrote so far, each time.
    async fn follow<F: Future<Output = ()>>(
        &self,
        exec: &str,
        mut look: Look,
        mut news: impl FnMut(String) -> F,
    ) -> (Exit, String) {
        let mut failed = 0;
        loop {
            if let Some(exit) = look.exit {
                return (exit, look.output);
            }
            news(std::mem::take(&mut look.output)).await;
            tokio::time::sleep((POLL * (failed + 1)).min(LONGEST_POLL)).await;
            match self.gateway.get(&self.path(exec)).await {
                Ok(value) => {
                    failed = 0;
                    look = Look::read(&value);
                }
                Err(fault) if fault.status == Some(404) => {
                    let why = "the gateway doesn't know the command any more".to_owned();
                    return (Exit::Lost(why), String::new());
                }
                Err(fault) if fault.is_passing && failed < FAILED_LOOKS => {
                    tracing::debug!(%fault, "a look at a command failed");
                    failed += 1;
                }
                Err(fault) => {
                    let why = format!("the connection to the gateway is lost: {fault}");
                    return (Exit::Lost(why), String::new());
                }
            }
        }
    }

    /// Ends a command.
    pub(super) async fn cancel(&self, exec: &str) {
        let path = format!("{}/cancel", self.path(exec));
        let limit = self.gateway.cancel_limit;
        let cancelled: Result<Value, Fault> = self.gateway.post(&path, &json!({}), limit).await;
        if let Err(fault) = cancelled
            && fault.status != Some(404)
        {
            tracing::warn!(%fault, exec, "a command isn't ended");
        }
    }
}

/// The text that runs a script as `start` has it.
fn command(start: &Start, script: &str) -> String {
    let mut words = Vec::new();
    if start.bare {
        words.extend(["env", "-i"]);
    }
    words.extend::<&[&str]>(match start.dialect {
        Dialect::Bash => &["bash", "-c"],
        Dialect::BashLogin => &["bash", "-l", "-c"],
        Dialect::Posix => &["sh", "-c"],
    });
    words.extend([script, if start.dialect == Dialect::Posix { "sh" } else { "bash" }]);
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Starts a shell in the sandbox. `dropped` hears of commands that nobody wants any more.
pub(super) async fn start(
    sandbox: &Arc<Sandbox>,
    start: Start,
    dropped: mpsc::UnboundedSender<String>,
) -> Result<Running, StartFailure> {
    if start.terminal.is_some() {
        return Err(StartFailure::new("there are no terminals in managed sandboxes"));
    }
    let id = new_uuid();
    let at = |name: &str| format!("{TEMP_DIR}/.hermes-{id}.{name}");
    let script = with_env(&start);
    let mut text = if script.len() > LONGEST_ARGUMENT {
        let file = at("sh");
        let upload = format!("umask 077; cat >{}", quoted(&file));
        sandbox.finish(&upload, Some(&script)).await?;
        command(&start, &from_file(&file))
    } else {
        command(&start, &script)
    };
    let error_file = start.errors_apart.then(|| at("err"));
    if let Some(file) = &error_file {
        // In braces: whatever the gateway appends to join the two comes after it.
        text = format!("{{ {text} 2>{}; }}", quoted(file));
    }
    let input = match start.stdin {
        Stdin::Bytes(bytes) if !bytes.is_empty() => match String::from_utf8(bytes) {
            Ok(plain) if !plain.contains('\0') => Some(plain),
            plain => {
                text = format!("base64 -d | {text}");
                let bytes =
                    plain.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
                Some(STANDARD.encode(bytes))
            }
        },
        Stdin::Open => None,
        _ => Some(String::new()),
    };
    let stdin = input.is_none().then(|| Box::pin(NoInput) as Writer);
    let look = sandbox.run(&id, &text, input.as_deref().filter(|it| !it.is_empty())).await?;
    let (output, output_fed) = feed();
    let (errors, errors_fed) = feed();
    let exit = watch::Sender::new(None);
    let command = Arc::new(Command { sandbox: Arc::clone(sandbox), id, exit });
    let following = Arc::clone(&command);
    let follower = Arc::new(hermes_task::spawn(async move {
        following.follow(look, output, error_file.map(|file| (file, errors))).await;
    }));
    Ok(Running {
        output: output_fed.filled_by(Arc::clone(&follower)),
        errors: start.errors_apart.then(|| errors_fed.filled_by(Arc::clone(&follower))),
        stdin,
        handle: Box::new(Control { command, dropped: Mutex::new(Some(dropped)), _task: follower }),
    })
}

/// A command that was started.
struct Command {
    sandbox: Arc<Sandbox>,
    id: String,
    exit: watch::Sender<Option<Exit>>,
}

impl Command {
    /// Hands on what it writes, and its end.
    async fn follow(&self, look: Look, output: Feed, errors: Option<(String, Feed)>) {
        let told = Arc::new(tokio::sync::Mutex::new(String::new()));
        let tell = async |now: String| {
            let mut told = told.lock().await;
            // Newer gateways tell while it runs; what was told stays told.
            if let Some(new) = now.strip_prefix(told.as_str()).map(str::to_owned) {
                *told = now;
                output.send(Bytes::from(new)).await;
            }
        };
        let (exit, rest) = self.sandbox.follow(&self.id, look, &tell).await;
        tell(rest).await;
        if let Exit::Lost(why) = &exit {
            output.fail(why.clone()).await;
        }
        if let Some((file, errors)) = errors {
            let file = quoted(&file);
            match self.sandbox.finish(&format!("cat {file} && rm -f {file}"), None).await {
                Ok(text) => drop(errors.send(Bytes::from(text)).await),
                Err(failure) => errors.fail(failure.message).await,
            }
        }
        self.exit.send_replace(Some(exit));
    }
}

/// The stdin of a command that takes none any more.
struct NoInput;

impl AsyncWrite for NoInput {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        let message = "a command in a managed sandbox takes no input while it runs";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::Unsupported, message)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Control over a command.
struct Control {
    command: Arc<Command>,
    /// Who ends it when nobody wants it any more; nobody, once it is let go.
    dropped: Mutex<Option<mpsc::UnboundedSender<String>>>,
    _task: Arc<Tracked<()>>,
}

impl Control {
    fn take(&self) -> Option<mpsc::UnboundedSender<String>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Handle for Control {
    fn pid(&self) -> Option<Pid> {
        None
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        Box::pin(told(self.command.exit.subscribe()))
    }

    fn terminate(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.command.sandbox.cancel(&self.command.id).await;
            let _ = tokio::time::timeout(CANCELLED, self.wait()).await;
        })
    }

    fn resize(&self, _: Size) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the command has no terminal"))
    }

    fn release(&self) {
        self.take();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(dropped) = self.take()
            && self.command.exit.borrow().is_none()
        {
            let _ = dropped.send(self.command.id.clone());
        }
    }
}

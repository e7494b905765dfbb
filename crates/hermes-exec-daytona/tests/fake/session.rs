//! A session: a shell that reads commands. Its logs are made of lines, its input has no end, and
//! both are as unkind to bytes as the provider's.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::ChildStdin;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A log: its bytes so far, and whether it is whole.
#[derive(Clone, Default)]
pub(crate) struct Log(pub(crate) Vec<u8>, pub(crate) bool);

pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) log: watch::Receiver<Log>,
    pub(crate) exit: watch::Receiver<Option<i32>>,
    stdin: tokio::sync::Mutex<ChildStdin>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
pub(crate) struct Session {
    pub(crate) commands: Mutex<HashMap<String, Arc<Command>>>,
}

/// Writes each line with the mark of its stream, complete or not.
async fn label(from: impl AsyncRead + Unpin, mark: [u8; 3], log: Arc<watch::Sender<Log>>) {
    let mut lines = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        if lines.read_until(b'\n', &mut line).await.unwrap_or_default() == 0 {
            return;
        }
        // Shells drop such bytes.
        line.retain(|byte| *byte != 0);
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        log.send_modify(|log| {
            log.0.extend(mark);
            log.0.extend(line);
        });
    }
}

impl Session {
    pub(crate) fn command(&self, id: &str) -> Option<Arc<Command>> {
        self.commands.lock().unwrap().get(id).cloned()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.commands.lock().unwrap().values().all(|command| command.exit.borrow().is_some())
    }

    pub(crate) fn run(&self, id: &str, text: &str) {
        #[expect(clippy::disallowed_methods, reason = "the fake sandbox runs what it is told")]
        let mut command = std::process::Command::new("bash");
        command
            .arg("-c")
            .arg(format!("{{ {text}; }}"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", "/fake-home")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut command = tokio::process::Command::from(command);
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let (log_sender, log) = watch::channel(Log::default());
        let log_sender = Arc::new(log_sender);
        let (exit_sender, exit) = watch::channel(None);
        let stdin = child.stdin.take().unwrap().into();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
            let labels = async {
                tokio::join!(
                    label(out, [1; 3], Arc::clone(&log_sender)),
                    label(err, [2; 3], Arc::clone(&log_sender))
                )
            };
            let (_, status) = tokio::join!(labels, child.wait());
            exit_sender.send_replace(Some(status.unwrap().code().unwrap_or(137)));
            log_sender.send_modify(|log| log.1 = true);
        });
        let text = text.to_owned();
        let command = Command { text, log, exit, stdin, _tasks: tasks };
        self.commands.lock().unwrap().insert(id.to_owned(), Arc::new(command));
    }
}

impl Command {
    /// Always a whole line.
    pub(crate) async fn input(&self, data: &str) {
        let mut stdin = self.stdin.lock().await;
        let _ = stdin.write_all(data.as_bytes()).await;
        if !data.ends_with('\n') {
            let _ = stdin.write_all(b"\n").await;
        }
    }
}

/// Runs a command to its end.
pub(crate) async fn execute(argv: &[String]) -> (i32, String) {
    let (program, arguments) = argv.split_first().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the fake sandbox runs what it is told")]
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/fake-home")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = tokio::process::Command::from(command).spawn().unwrap();
    let mut text = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut text).await.unwrap();
    let code = child.wait().await.unwrap().code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&text).into_owned())
}

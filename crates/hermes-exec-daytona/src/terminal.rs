//! A command at a terminal: one of the toolbox's, with its socket.
//!
//! The toolbox starts the user's own shell there. What that says is of no interest: the shell is
//! told to become the command, and everything up to the command's mark is left out.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use hermes_exec::environment::{Exit, Running, Size, Start, StartFailure, Stdin};
use hermes_exec::remote::{Feed, feed, quoted};
use hermes_net::Wire;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::api::Fault;
use crate::control::{Control, Leftover, Started, TEMP_DIR, argv, before, new_id};
use crate::logs::connect;
use crate::toolbox::Toolbox;

/// How much input travels in one message, in bytes.
const PIECE: usize = 8 * 1024;
/// How long the shell may take to become the command.
const BEGINNING: Duration = Duration::from_secs(30);
/// How often something is said, so that nobody in between takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// How often a connection that broke is made again in a row, and how long is waited before the
/// first time.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(50);
/// The character that ends the input on a terminal.
const END: u8 = 4;
/// What the shell of the terminal becomes. It tells that it begins, and outlives keys that are
/// meant for the command, whose exit code is its own.
const WRAPPER: &str = r#"rm -f "$0"; trap : HUP INT QUIT TERM; printf '\036%s\n' "$1"; shift"#;

type Socket = WebSocketStream<Box<dyn Wire>>;

/// What a message says.
enum Said {
    Bytes(Bytes),
    Exit(Exit),
    /// Something of no interest.
    Nothing,
    /// The connection has ended without a word.
    Broken(Fault),
}

/// Starts a shell at a terminal of the sandbox. `leftovers` hears of those that nobody holds any
/// more.
pub(crate) async fn start(
    toolbox: &Arc<Toolbox>,
    start: Start,
    size: Size,
    leftovers: mpsc::UnboundedSender<Leftover>,
) -> Result<Running, StartFailure> {
    let id = new_id();
    let what = "starting a command at a terminal of the sandbox";
    // Until the shell is told what to become nothing has run.
    let before = |fault: Fault| before(&fault, what);
    // Nobody can type this mark: what is typed is only where the file is.
    let mark = format!("{:032x}", fastrand::u128(..));
    let (argv, script) = argv(&start, &id);
    let mut files: Vec<(&str, &[u8])> = Vec::new();
    files.extend(script.as_ref().map(|(path, script)| (&**path, script.as_bytes())));
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    let file = format!("{TEMP_DIR}/.{id}.pty");
    let text = format!("{WRAPPER}\n{}\nexit \"$?\"\n", words.join(" "));
    files.push((&file, text.as_bytes()));
    toolbox.upload(&files).await.map_err(before)?;
    toolbox.open_terminal(&id, size).await.map_err(before)?;
    // From here on there is something to be given up.
    let mut given_up = Guard { leftovers: Some(leftovers.clone()), id: id.clone() };
    let socket = connect(toolbox, &socket_path(&id)).await.map_err(before)?;
    let (mut sink, mut stream) = socket.split();
    let typed = format!(" exec sh {file} {mark}\r");
    let typing = sink.send(Message::binary(typed.into_bytes())).await;
    typing.map_err(|err| StartFailure::new(format!("{what}: {err}")))?;
    let begun = timeout(BEGINNING, begin(&mut stream, &mark)).await;
    let begun = begun.map_err(|_| StartFailure::new(format!("{what}: its shell says nothing")))?;
    let first = begun.map_err(|why| StartFailure::new(format!("{what}: {why}")))?;
    given_up.leftovers = None;
    let command = Arc::new(Started::new(toolbox, id));
    let (output, fed) = feed();
    let (mut near, far) = tokio::io::duplex(PIECE);
    let (following, closing) = (Arc::clone(&command), leftovers.clone());
    let follower = Arc::new(hermes_task::spawn(async move {
        follow(&following, (sink, stream), first, far, output).await;
        let _ = closing.send(Leftover::Terminal(following.id.clone()));
    }));
    let mut stdin = None;
    let mut feeding = None;
    match start.stdin {
        Stdin::Bytes(bytes) => {
            feeding = Some(hermes_task::spawn(async move {
                // A command need not read what it is given.
                let _ = near.write_all(&bytes).await;
                let _ = near.write_all(&[END]).await;
            }));
        }
        Stdin::Null | Stdin::Open => stdin = Some(Box::pin(near) as _),
    }
    Ok(Running {
        output: fed.filled_by(Arc::clone(&follower)),
        errors: None,
        stdin,
        handle: Box::new(Control::new(command, true, leftovers, (follower, feeding))),
    })
}

fn socket_path(id: &str) -> String {
    format!("process/pty/{id}/connect")
}

/// Reads up to the mark, and what came behind it.
async fn begin(stream: &mut SplitStream<Socket>, mark: &str) -> Result<Bytes, String> {
    let mark = format!("\x1e{mark}");
    let mut said = Vec::new();
    loop {
        match next(stream).await {
            Said::Bytes(bytes) => said.extend_from_slice(&bytes),
            Said::Nothing => {}
            Said::Exit(_) => {
                let said = String::from_utf8_lossy(&said);
                return Err(format!("its shell has ended: {}", said.trim()));
            }
            Said::Broken(fault) => return Err(fault.to_string()),
        }
        let at = said.windows(mark.len()).position(|it| it == mark.as_bytes());
        let rest = at.and_then(|at| said.get(at + mark.len()..));
        let end = rest.and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
        if let (Some(rest), Some(end)) = (rest, end) {
            return Ok(Bytes::copy_from_slice(rest.get(end + 1..).unwrap_or_default()));
        }
        // A shell that says very much before it reads: the mark isn't in the first part.
        let spare = said.len().saturating_sub(64 * 1024);
        said.drain(..spare);
    }
}

/// What the toolbox says next.
async fn next(stream: &mut SplitStream<Socket>) -> Said {
    match stream.next().await {
        Some(Ok(Message::Binary(bytes))) => Said::Bytes(bytes),
        Some(Ok(Message::Text(text))) => {
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            if value.get("type").and_then(Value::as_str) != Some("control") {
                return Said::Bytes(Bytes::copy_from_slice(text.as_bytes()));
            }
            match value.get("status").and_then(Value::as_str) {
                Some("exited") => exit_of(&value).map_or(Said::Nothing, Said::Exit),
                Some("error") => {
                    let why = value.get("error").and_then(Value::as_str).unwrap_or("it is broken");
                    Said::Exit(Exit::Lost(format!("the terminal is gone: {why}")))
                }
                _ => Said::Nothing,
            }
        }
        Some(Ok(Message::Close(Some(frame)))) => {
            let value: Value = serde_json::from_str(&frame.reason).unwrap_or_default();
            match (exit_of(&value), u16::from(frame.code)) {
                (Some(exit), _) => Said::Exit(exit),
                (None, 1000) => Said::Exit(Exit::Code(0)),
                (None, code) => Said::Broken(Fault::other(format!("closed with {code}"))),
            }
        }
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Said::Nothing,
        Some(Ok(Message::Close(None))) | None => Said::Broken(Fault::other("closed")),
        Some(Err(err)) => Said::Broken(Fault::other(err.to_string())),
    }
}

fn exit_of(value: &Value) -> Option<Exit> {
    let code = value.get("exitCode")?.as_i64()?;
    i32::try_from(code).ok().map(Exit::Code)
}

/// Hands on what the terminal says, to its end, and what is typed.
async fn follow(
    command: &Started,
    (mut sink, mut stream): (SplitSink<Socket, Message>, SplitStream<Socket>),
    first: Bytes,
    mut input: DuplexStream,
    output: Feed,
) {
    output.send(first).await;
    let mut tries = 0;
    loop {
        let broken = tokio::select! {
            broken = listen(command, &mut stream, &output, &mut tries) => broken,
            fault = speak(&mut sink, &mut input) => Some(fault),
        };
        let Some(mut fault) = broken else { return };
        // What is said in the meantime nobody hears; programs at terminals can live with that.
        loop {
            let why = match &fault {
                it if it.is_absent() => "the terminal is gone: the sandbox was stopped".into(),
                it if tries >= TRIES => format!("the connection to the sandbox is lost: {it}"),
                _ => String::new(),
            };
            if !why.is_empty() {
                command.ended(Exit::Lost(why.clone()));
                return output.fail(why).await;
            }
            tokio::time::sleep(PAUSE * 2_u32.pow(tries)).await;
            tries += 1;
            match connect(&command.toolbox, &socket_path(&command.id)).await {
                Ok(socket) => break (sink, stream) = socket.split(),
                Err(again) => fault = again,
            }
        }
    }
}

/// Hands on what the terminal says. None once the command has ended.
async fn listen(
    command: &Started,
    stream: &mut SplitStream<Socket>,
    output: &Feed,
    tries: &mut u32,
) -> Option<Fault> {
    loop {
        match next(stream).await {
            Said::Bytes(bytes) => {
                *tries = 0;
                output.send(bytes).await;
            }
            Said::Exit(Exit::Lost(why)) => {
                command.ended(Exit::Lost(why.clone()));
                output.fail(why).await;
                return None;
            }
            Said::Exit(exit) => {
                command.ended(exit);
                return None;
            }
            Said::Nothing => {}
            Said::Broken(fault) => return Some(fault),
        }
    }
}

/// Sends what is typed, and something from time to time, until that can't be done.
async fn speak(sink: &mut SplitSink<Socket, Message>, input: &mut DuplexStream) -> Fault {
    let mut buffer = vec![0; PIECE];
    let mut is_open = true;
    loop {
        let message = tokio::select! {
            count = input.read(&mut buffer), if is_open => {
                let count = count.unwrap_or_default();
                // A terminal's input has no end.
                is_open = count > 0;
                if !is_open {
                    continue;
                }
                Message::binary(buffer.get(..count).unwrap_or_default().to_vec())
            }
            () = tokio::time::sleep(HEARTBEAT) => Message::Ping(Bytes::new()),
        };
        if let Err(err) = sink.send(message).await {
            return Fault::other(err.to_string());
        }
    }
}

/// A terminal of which nobody knows yet what became of it. Dropping this gives it up.
struct Guard {
    leftovers: Option<mpsc::UnboundedSender<Leftover>>,
    id: String,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(leftovers) = &self.leftovers {
            let _ = leftovers.send(Leftover::BusyTerminal(self.id.clone()));
        }
    }
}

//! Terminals: a shell of people at each, which talks to whoever is connected.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use hermes_exec::environment::{Exit, Handle, Running, Size, Stdin, Writer};
use hermes_exec::program::{Program, Streams};
use hyper::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::socket::{Socket, accept};
use super::{Answer, State, answer};

pub(crate) struct Terminal {
    size: std::sync::Mutex<Size>,
    handle: Arc<dyn Handle>,
    stdin: Mutex<Writer>,
    output: Mutex<mpsc::Receiver<Vec<u8>>>,
    exit: watch::Receiver<Option<i32>>,
    _tasks: JoinSet<()>,
}

impl Terminal {
    fn new(size: Size) -> Self {
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/fake-home")];
        let env = env.into_iter().chain([("TERM", "xterm-256color"), ("PS1", "fake> ")]);
        // With a line editor and its noise, as people have it.
        let shell = Program::new(["bash", "--norc", "-i"]).env(env).cwd(PathBuf::from("/"));
        let streams = Streams { stdin: Stdin::Open, errors_apart: false, terminal: Some(size) };
        let Running { mut output, stdin, handle, .. } = shell.launch(streams).unwrap();
        let handle: Arc<dyn Handle> = Arc::from(handle);
        let (said, heard) = mpsc::channel(100);
        let (told, exit) = watch::channel(None);
        let mut tasks = JoinSet::new();
        let waiting = Arc::clone(&handle);
        tasks.spawn(async move {
            let mut piece = vec![0; 4096];
            while let Ok(count @ 1..) = output.read(&mut piece).await {
                let _ = said.send(piece[..count].to_vec()).await;
            }
            let Exit::Code(code) = waiting.wait().await else { return };
            told.send_replace(Some(code));
        });
        Self {
            size: size.into(),
            handle,
            stdin: Mutex::new(stdin.unwrap()),
            output: Mutex::new(heard),
            exit,
            _tasks: tasks,
        }
    }

    fn shown(&self, id: &str) -> Value {
        let size = *self.size.lock().unwrap();
        json!({
            "id": id, "cols": size.cols, "rows": size.rows, "cwd": "/", "envs": {},
            "active": self.exit.borrow().is_none(), "lazyStart": false,
            "createdAt": "2026-01-01T00:00:00Z",
        })
    }
}

fn size_of(cols: &Value, rows: &Value) -> Option<Size> {
    let number = |value: &Value| u16::try_from(value.as_u64()?).ok();
    Some(Size { cols: number(cols)?, rows: number(rows)? })
}

/// What is asked about terminals.
pub(crate) fn asked(state: &State, method: &str, parts: &[&str], body: &Value) -> Option<Answer> {
    let terminal = |id: &str| state.lock().terminals.get(id).cloned();
    Some(match (method, parts) {
        ("POST", []) => {
            let id = body["id"].as_str()?;
            if terminal(id).is_some() {
                return Some(answer(409, &json!({ "error": "PTY session already exists" })));
            }
            let made = Terminal::new(size_of(&body["cols"], &body["rows"])?);
            state.lock().terminals.insert(id.to_owned(), Arc::new(made));
            answer(201, &json!({ "sessionId": id }))
        }
        ("GET", [id]) => answer(200, &terminal(id)?.shown(id)),
        ("POST", [id, "resize"]) => {
            let terminal = terminal(id)?;
            let size = size_of(&body["cols"], &body["rows"])?;
            terminal.handle.resize(size).unwrap();
            *terminal.size.lock().unwrap() = size;
            answer(200, &terminal.shown(id))
        }
        ("DELETE", [id]) => {
            state.lock().terminals.remove(*id)?;
            answer(200, &json!({ "message": "PTY session deleted" }))
        }
        _ => return None,
    })
}

/// Connects somebody to a terminal, which may be made for that.
pub(crate) fn connect(state: &Arc<State>, request: &mut Request<Incoming>, path: &str) -> Answer {
    let (place, query) = path.split_once('?').unwrap_or((path, ""));
    let asked: HashMap<&str, &str> = query.split('&').filter_map(|it| it.split_once('=')).collect();
    // /toolbox/ID/process/pty/..
    let parts: Vec<&str> = place.split('/').skip(5).collect();
    let id = match *parts {
        ["create-connect"] => {
            let number = |name: &str| json!(asked[name].parse::<u16>().unwrap());
            let made = Terminal::new(size_of(&number("cols"), &number("rows")).unwrap());
            state.lock().terminals.insert(asked["id"].to_owned(), Arc::new(made));
            asked["id"]
        }
        [id, "connect"] => id,
        _ => "",
    };
    let Some(terminal) = state.lock().terminals.get(id).cloned() else {
        return answer(404, &json!({ "error": "PTY session not found" }));
    };
    state.lock().connected += 1;
    // Who asks for it hears of the end by a message, too.
    let protocols = request.headers().get("sec-websocket-protocol");
    let wants = protocols.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let tells = wants.contains("X-Daytona-Pty-Exit-Control");
    let state = Arc::clone(state);
    accept(request, move |socket| async move {
        let _ = talk(socket, &state, &terminal, tells).await;
    })
}

async fn talk(
    mut socket: Socket,
    state: &State,
    terminal: &Terminal,
    tells: bool,
) -> Result<(), tokio_tungstenite::tungstenite::Error> {
    let control = |value: &Value| Message::text(value.to_string());
    socket.send(control(&json!({ "type": "control", "status": "connected" }))).await?;
    let mut output = terminal.output.lock().await;
    let mut exit = terminal.exit.clone();
    let mut hangups = state.hangups.subscribe();
    loop {
        tokio::select! {
            // Without a goodbye.
            _ = hangups.changed() => return Ok(()),
            piece = output.recv() => {
                let Some(piece) = piece else { break };
                socket.send(Message::binary(piece)).await?;
            }
            message = socket.next() => match message {
                Some(Ok(Message::Binary(bytes))) => {
                    let _ = terminal.stdin.lock().await.write_all(&bytes).await;
                }
                Some(Ok(Message::Ping(_))) => {}
                _ => return Ok(()),
            },
        }
    }
    let code = *exit.wait_for(Option::is_some).await.unwrap();
    if tells {
        let how = json!({ "type": "control", "status": "exited", "exitCode": code });
        socket.send(control(&how)).await?;
    }
    let reason = json!({ "exitCode": code }).to_string();
    socket.close(Some(CloseFrame { code: 1000.into(), reason: reason.into() })).await
}

//! A gateway that runs commands on this machine.

use std::collections::HashMap;
use std::convert::Infallible;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

pub(crate) const TOKEN: &str = "token-of-the-user";

type Answer = Response<Full<Bytes>>;

pub(crate) struct Gateway {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    _server: JoinSet<()>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    line: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

/// What goes wrong with a request.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is answered so.
    Status(u16),
    /// It is done, and answered so.
    After(u16),
    /// The connection ends without an answer.
    Hangup,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    faults: Vec<(String, Fault)>,
    /// The sandboxes by their keys.
    sandboxes: HashMap<String, String>,
    execs: HashMap<String, Arc<Mutex<Value>>>,
    running: HashMap<String, JoinSet<()>>,
}

impl Gateway {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Arc::clone(&state)));
        Self { url, state, _server: server }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The next request whose line begins so, or has it in it, goes wrong so.
    pub(crate) fn fault(&self, part: &str, fault: Fault) {
        self.lock().faults.push((part.to_owned(), fault));
    }

    pub(crate) fn calls(&self, part: &str) -> Vec<Call> {
        self.lock().calls.iter().filter(|call| call.line.contains(part)).cloned().collect()
    }

    pub(crate) fn forget_execs(&self) {
        self.lock().execs.clear();
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let hangup = Arc::new(Notify::new());
            let notify = Arc::clone(&hangup);
            let service = hyper::service::service_fn(move |request| {
                let (state, hangup) = (Arc::clone(&state), Arc::clone(&notify));
                async move { Ok::<_, Infallible>(respond(&state, request, &hangup).await) }
            });
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = serving => {}
                () = hangup.notified() => {}
            }
        });
    }
}

fn answer(status: u16, value: &Value) -> Answer {
    Response::builder().status(status).body(Full::from(value.to_string())).unwrap()
}

async fn respond(state: &Mutex<State>, request: Request<Incoming>, hangup: &Notify) -> Answer {
    let line = format!("{} {}", request.method(), request.uri().path());
    let headers = request.headers().iter();
    let headers: HashMap<String, String> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    if headers.get("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return answer(401, &json!({ "error": { "detail": 1 }, "message": "no such token" }));
    }
    let bytes = request.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let fault = {
        let mut state = state.lock().unwrap();
        let call = Call { line: line.clone(), headers: headers.clone(), body: body.clone() };
        state.calls.push(call);
        let at = state.faults.iter().position(|(part, _)| line.contains(part.as_str()));
        at.map(|at| state.faults.remove(at).1)
    };
    match fault {
        Some(Fault::Status(status)) => return answer(status, &json!({ "error": "on purpose" })),
        Some(Fault::Hangup) => {
            hangup.notify_one();
            return std::future::pending().await;
        }
        _ => {}
    }
    let done = handle(&mut state.lock().unwrap(), &line, &headers, &body);
    match fault {
        Some(Fault::After(status)) => answer(status, &json!({ "error": "on purpose" })),
        _ => done.unwrap_or_else(|| answer(404, &json!({ "code": "not_found" }))),
    }
}

fn handle(
    state: &mut State,
    line: &str,
    headers: &HashMap<String, String>,
    body: &Value,
) -> Option<Answer> {
    let (method, path) = line.split_once(" /v1/sandboxes")?;
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    Some(match (method, &*parts) {
        ("POST", []) => {
            // The same key is the same wish.
            let next = format!("sb-{}", state.sandboxes.len() + 1);
            let key = headers.get("x-idempotency-key")?.clone();
            let id = state.sandboxes.entry(key).or_insert(next);
            answer(200, &json!({ "id": id }))
        }
        ("POST", [_, "terminate"]) => answer(200, &json!({})),
        ("POST", [_, "execs"]) => {
            let id = body["execId"].as_str()?.to_owned();
            let exec = Arc::new(Mutex::new(json!({ "status": "running", "execId": id })));
            let mut running = JoinSet::new();
            running.spawn(run(body.clone(), Arc::clone(&exec)));
            let shown = exec.lock().unwrap().clone();
            state.execs.insert(id.clone(), exec);
            state.running.insert(id, running);
            answer(200, &shown)
        }
        ("GET", [_, "execs", id]) => answer(200, &state.execs.get(*id)?.lock().unwrap()),
        ("POST", [_, "execs", id, "cancel"]) => {
            state.running.remove(*id)?;
            state.execs.get(*id)?.lock().unwrap()["status"] = "cancelled".into();
            answer(200, &json!({}))
        }
        _ => return None,
    })
}

async fn run(body: Value, exec: Arc<Mutex<Value>>) {
    #[expect(clippy::disallowed_methods, reason = "the fake sandbox runs what it is told")]
    let mut command = std::process::Command::new("bash");
    command
        .arg("-c")
        .arg(format!("{} 2>&1", body["command"].as_str().unwrap()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let mut command = tokio::process::Command::from(command);
    let mut child = command.kill_on_drop(true).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = body["stdinData"].as_str().unwrap_or_default().to_owned();
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let finished = child.wait_with_output().await.unwrap();
    let mut exec = exec.lock().unwrap();
    exec["status"] = "completed".into();
    exec["output"] = String::from_utf8_lossy(&finished.stdout).into_owned().into();
    exec["returncode"] = finished.status.code().into();
}

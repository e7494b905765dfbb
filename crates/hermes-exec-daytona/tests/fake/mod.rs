//! A service and a toolbox that speak as the provider's do, and run commands on this machine.

mod session;
mod socket;
mod terminal;
mod toolbox;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use session::Session;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub(crate) const KEY: &str = "dtn-test";

pub(crate) type Answer = Response<Full<Bytes>>;

/// A server. Dropping it ends it.
pub(crate) struct Fake {
    pub(crate) url: String,
    state: Arc<State>,
    _server: JoinSet<()>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Method and path with its query.
    pub(crate) line: String,
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
    /// The log breaks after so many bytes.
    Break(usize),
}

pub(crate) struct State {
    pub(crate) url: String,
    inner: Mutex<Inner>,
    /// Connections of terminals end.
    pub(crate) hangups: tokio::sync::watch::Sender<()>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: Vec<(String, Fault)>,
    pub(crate) sandboxes: Vec<Sandbox>,
    pub(crate) sessions: HashMap<String, Arc<Session>>,
    pub(crate) terminals: HashMap<String, Arc<terminal::Terminal>>,
    pub(crate) made: u32,
    /// How often somebody connected to a terminal.
    pub(crate) connected: u32,
    pub(crate) is_old: bool,
    /// The states that a new sandbox goes through.
    pub(crate) birth: VecDeque<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) labels: Value,
    /// The states to come; the last one stays.
    pub(crate) states: VecDeque<&'static str>,
}

impl State {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Whether something is to go wrong with a request.
    pub(crate) fn fault(&self, line: &str) -> Option<Fault> {
        let faults = &mut self.lock().faults;
        let at = faults.iter().position(|(part, _)| line.contains(part.as_str()))?;
        Some(faults.remove(at).1)
    }
}

impl Fake {
    pub(crate) async fn new() -> Self {
        Self::at("127.0.0.1:0").await
    }

    pub(crate) async fn at(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            url: url.clone(),
            inner: Mutex::default(),
            hangups: Default::default(),
        });
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Arc::clone(&state)));
        Self { url: format!("{url}/api"), state, _server: server }
    }

    /// The next request whose line has `part` in it goes wrong so.
    pub(crate) fn fault(&self, part: &str, fault: Fault) {
        self.state.lock().faults.push((part.to_owned(), fault));
    }

    pub(crate) fn faults_left(&self) -> usize {
        self.state.lock().faults.len()
    }

    pub(crate) fn set(&self, set: impl FnOnce(&mut Inner)) {
        set(&mut self.state.lock());
    }

    /// A sandbox that is there already.
    pub(crate) fn add(&self, id: &str, name: &str, task: &str, states: &[&'static str]) {
        self.set(|inner| {
            inner.sandboxes.push(Sandbox {
                id: id.to_owned(),
                name: name.to_owned(),
                labels: json!({ "hermes_task_id": task }),
                states: states.iter().copied().collect(),
            });
        });
    }

    /// The requests whose line has `part` in it.
    pub(crate) fn calls(&self, part: &str) -> Vec<Call> {
        let calls = &self.state.lock().calls;
        calls.iter().filter(|call| call.line.contains(part)).cloned().collect()
    }

    /// Whether all commands of sessions have ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.lock().sessions.values().all(|session| session.is_idle())
    }

    pub(crate) fn sessions(&self) -> usize {
        self.state.lock().sessions.len()
    }

    pub(crate) fn connected(&self) -> u32 {
        self.state.lock().connected
    }

    /// Ends the connections of terminals without a word.
    pub(crate) fn hang_up(&self) {
        self.state.hangups.send_replace(());
    }

    pub(crate) fn terminals(&self) -> usize {
        self.state.lock().terminals.len()
    }
}

pub(crate) fn answer(status: u16, value: &Value) -> Answer {
    let body = if value.is_null() { String::new() } else { value.to_string() };
    let answer = Response::builder().status(status).header("content-type", "application/json");
    answer.body(Full::from(body)).unwrap()
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let hangup = Arc::new(tokio::sync::Notify::new());
            let notify = Arc::clone(&hangup);
            let service = hyper::service::service_fn(move |request| {
                let (state, hangup) = (Arc::clone(&state), Arc::clone(&notify));
                async move { Ok::<_, Infallible>(request_(state, request, hangup).await) }
            });
            let serving = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            tokio::select! {
                _ = serving => {}
                () = hangup.notified() => {}
            }
        });
    }
}

async fn request_(
    state: Arc<State>,
    mut request: Request<Incoming>,
    hangup: Arc<tokio::sync::Notify>,
) -> Answer {
    let path = request.uri().path_and_query().unwrap().to_string();
    let line = format!("{} {path}", request.method());
    let headers = request.headers().iter();
    let headers: HashMap<String, String> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    if headers.get("authorization") != Some(&format!("Bearer {KEY}")) {
        return answer(401, &json!({ "message": "Unauthorized", "statusCode": 401 }));
    }
    if headers.contains_key("upgrade") {
        let fault = state.fault(&line);
        if let Some(Fault::Status(status)) = fault {
            return answer(status, &Value::Null);
        }
        if path.contains("/process/pty/") {
            return terminal::connect(&state, &mut request, &path);
        }
        return socket::follow(&state, &mut request, &path, fault);
    }
    let bytes = request.into_body().collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let call = Call { line: line.clone(), headers: headers.clone(), body: body.clone() };
    state.lock().calls.push(call);
    let fault = state.fault(&line);
    match fault {
        Some(Fault::Status(status)) => return answer(status, &json!({ "error": "on purpose" })),
        Some(Fault::Hangup) => {
            hangup.notify_one();
            return std::future::pending().await;
        }
        _ => {}
    }
    let done = if path.starts_with("/toolbox/") {
        toolbox::answer_or_absent(&state, &line, &headers, &body, &bytes).await
    } else {
        service(&state, &line, &body)
    };
    match fault {
        Some(Fault::After(status)) => answer(status, &json!({ "error": "on purpose" })),
        _ => done,
    }
}

/// A sandbox as the service shows it. Each look may find the next state.
fn shown(url: &str, sandbox: &mut Sandbox) -> Value {
    let state = sandbox.states[0];
    if sandbox.states.len() > 1 {
        sandbox.states.pop_front();
    }
    json!({
        "id": sandbox.id, "name": sandbox.name, "labels": sandbox.labels, "state": state,
        "errorReason": (state == "error" || state == "build_failed").then_some("no such image"),
        "toolboxProxyUrl": format!("{url}/toolbox"),
        "organizationId": "org", "user": "root", "env": {}, "public": false, "kvm": false,
        "networkBlockAll": false, "target": "eu", "cpu": 1, "gpu": 0, "memory": 1, "disk": 3,
    })
}

fn service(state: &State, line: &str, body: &Value) -> Answer {
    let (method, path) = line.split_once(" /api/").unwrap();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<&str> = path.split('/').collect();
    let mut inner = state.lock();
    let absent = || answer(404, &json!({ "message": "Sandbox not found", "statusCode": 404 }));
    match (method, &*parts) {
        ("GET", ["sandbox"] | ["sandbox", "paginated"]) => {
            if inner.is_old && parts.len() == 1 {
                return answer(404, &Value::Null);
            }
            let find = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key));
            let labels = percent_encoding::percent_decode_str(find("labels=").unwrap());
            let labels: Value = serde_json::from_slice(&labels.collect::<Vec<_>>()).unwrap();
            let is_asked = |it: &&mut Sandbox| {
                labels
                    .as_object()
                    .unwrap()
                    .iter()
                    .all(|(key, value)| it.labels.get(key) == Some(value))
            };
            let found = inner.sandboxes.iter_mut().filter(is_asked);
            let items: Vec<Value> = found.map(|it| shown(&state.url, it)).collect();
            answer(200, &json!({ "items": items, "nextCursor": null, "total": items.len() }))
        }
        ("POST", ["sandbox"]) => {
            let name = body["name"].as_str().unwrap().to_owned();
            if inner.sandboxes.iter().any(|it| it.name == name) {
                return answer(409, &json!({ "message": "the name is taken" }));
            }
            inner.made += 1;
            let id = format!("id-{}", inner.made);
            let mut states = inner.birth.clone();
            if states.is_empty() {
                states.push_back("started");
            }
            let labels = body["labels"].clone();
            let mut sandbox = Sandbox { id, name, labels, states };
            let shown = shown(&state.url, &mut sandbox);
            inner.sandboxes.push(sandbox);
            answer(200, &shown)
        }
        (_, ["sandbox", id, rest @ ..]) => {
            let at = inner.sandboxes.iter().position(|it| it.id == *id || it.name == *id);
            let Some(at) = at else { return absent() };
            let sandbox = &mut inner.sandboxes[at];
            match (method, rest) {
                ("GET", []) => answer(200, &shown(&state.url, sandbox)),
                ("GET", ["toolbox-proxy-url"]) => {
                    answer(200, &json!({ "url": format!("{}/toolbox", state.url) }))
                }
                ("POST", ["start"]) => {
                    sandbox.states = ["starting", "started"].into();
                    answer(200, &shown(&state.url, sandbox))
                }
                ("POST", ["stop"]) => {
                    sandbox.states = ["stopped"].into();
                    let shown = shown(&state.url, sandbox);
                    inner.sessions.clear();
                    answer(200, &shown)
                }
                ("DELETE", []) => {
                    let mut sandbox = inner.sandboxes.remove(at);
                    inner.sessions.clear();
                    answer(200, &shown(&state.url, &mut sandbox))
                }
                _ => answer(405, &Value::Null),
            }
        }
        _ => absent(),
    }
}

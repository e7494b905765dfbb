//! A server that speaks as the provider's does, and runs commands on this machine.

mod exec;
mod grpc;
mod more;
#[expect(dead_code, reason = "the fake answers what the crate asks, and not with every field")]
#[path = "../../src/proto.rs"]
pub(crate) mod proto;
mod service;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use exec::Exec;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tonic::Code;

/// A server. Dropping it ends it.
pub(crate) struct Fake {
    pub(crate) url: String,
    state: Arc<State>,
    _server: JoinSet<()>,
}

/// What goes wrong with a call.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is answered so.
    Status(Code, &'static str),
    /// It is done, and answered so.
    After(Code, &'static str),
    /// The stream breaks after so many bytes.
    Break(usize),
    /// All connections break.
    Hangup,
}

/// A call as it came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) metadata: HashMap<String, String>,
    pub(crate) message: Vec<u8>,
}

pub(crate) struct State {
    pub(crate) url: String,
    inner: Mutex<Inner>,
    /// Connections end when this changes.
    pub(crate) hangups: tokio::sync::watch::Sender<u32>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: HashMap<String, VecDeque<Fault>>,
    pub(crate) execs: HashMap<String, Arc<Exec>>,
    pub(crate) settings: Settings,
    pub(crate) jwt: u32,
    pub(crate) auth: u32,
    pub(crate) sandboxes: u32,
    pub(crate) snapshots: u32,
}

/// How the server is.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// It knows the first family of calls only.
    pub(crate) is_old: bool,
    /// Images that no sandbox can be made from.
    pub(crate) broken_images: HashSet<String>,
    /// The news about a build, each in a stream of its own; without any images are there at once.
    pub(crate) build: VecDeque<Vec<(i32, &'static str)>>,
    /// How often a sandbox isn't ready yet.
    pub(crate) not_ready: u32,
    /// The sandbox is gone.
    pub(crate) is_gone: bool,
}

impl State {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }
}

impl Fake {
    pub(crate) async fn new(settings: Settings) -> Self {
        Self::at("127.0.0.1:0", settings).await
    }

    pub(crate) async fn at(address: &str, settings: Settings) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Inner { settings, ..Inner::default() };
        let hangups = tokio::sync::watch::Sender::new(0);
        let state = Arc::new(State { url: url.clone(), inner: inner.into(), hangups });
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Arc::clone(&state)));
        Self { url, state, _server: server }
    }

    /// The next call of `method` goes wrong so.
    pub(crate) fn fault(&self, method: &str, fault: Fault) {
        self.state.lock().faults.entry(method.to_owned()).or_default().push_back(fault);
    }

    /// How often a fault is still to come.
    pub(crate) fn faults_left(&self) -> usize {
        self.state.lock().faults.values().map(VecDeque::len).sum()
    }

    pub(crate) fn set(&self, set: impl FnOnce(&mut Settings)) {
        set(&mut self.state.lock().settings);
    }

    /// What workers were shown isn't good any more.
    pub(crate) fn expire_jwt(&self) {
        self.state.lock().jwt += 1;
    }

    pub(crate) fn expire_auth(&self) {
        self.state.lock().auth += 1;
    }

    /// The calls of a method.
    pub(crate) fn calls(&self, method: &str) -> Vec<Call> {
        let calls = &self.state.lock().calls;
        calls.iter().filter(|call| call.method == method).cloned().collect()
    }

    /// The messages of a method's calls.
    pub(crate) fn seen<Q: Message + Default>(&self, method: &str) -> Vec<Q> {
        self.calls(method).iter().map(|call| Q::decode(&*call.message).unwrap()).collect()
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        let mut hangups = state.hangups.subscribe();
        connections.spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let state = Arc::clone(&state);
                let answer = service::answer(state, request);
                async move { Ok::<_, std::convert::Infallible>(answer.await) }
            });
            let serving = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = serving => {}
                _ = hangups.changed() => {}
            }
        });
    }
}

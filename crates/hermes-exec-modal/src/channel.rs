//! A connection for gRPC that is made when it is needed, and again when it broke.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hermes_net::{BaseUrl, Client, NetError};
use hermes_task::Tracked;
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper::http::uri::{Authority, Scheme, Uri};
use hyper::http::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::task::JoinSet;
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// How often a connection that has work is asked whether it lives, and how long it may think.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Sends requests to one service. Clones share a connection.
#[derive(Clone)]
pub(crate) struct Channel {
    inner: Arc<Inner>,
}

struct Inner {
    net: Client,
    /// The service's address, and another one that is tried where nobody answers.
    addresses: Vec<BaseUrl>,
    connected: tokio::sync::Mutex<Option<Connected>>,
}

#[derive(Clone)]
struct Connected {
    sender: SendRequest<Body>,
    scheme: Scheme,
    authority: Authority,
    _guard: Arc<Guard>,
}

/// Ends what moves the bytes when nobody uses the connection any more.
struct Guard {
    tasks: Tasks,
    _driver: Tracked<()>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.tasks.lock().abort_all();
    }
}

/// What the protocol's implementation runs beside the connection.
#[derive(Clone, Default)]
struct Tasks {
    set: Arc<Mutex<JoinSet<()>>>,
}

impl Tasks {
    fn lock(&self) -> std::sync::MutexGuard<'_, JoinSet<()>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        let mut set = self.lock();
        while set.try_join_next().is_some() {}
        set.spawn(async move {
            future.await;
        });
    }
}

/// Why a request certainly never got to the other side.
#[derive(Debug)]
pub(crate) struct NotSent(NetError);

impl std::fmt::Display for NotSent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotSent {}

/// Whether a request that failed so certainly never got to the other side.
pub(crate) fn is_unsent(status: &Status) -> bool {
    std::error::Error::source(status).is_some_and(<dyn std::error::Error>::is::<NotSent>)
}

fn unsent(err: NetError) -> Status {
    let mut status = Status::unavailable(err.to_string());
    status.set_source(Arc::new(NotSent(err)));
    status
}

impl Channel {
    pub(crate) fn new(net: Client, addresses: Vec<BaseUrl>) -> Self {
        Self { inner: Arc::new(Inner { net, addresses, connected: tokio::sync::Mutex::default() }) }
    }

    async fn connected(&self) -> Result<Connected, Status> {
        let mut slot = self.inner.connected.lock().await;
        if let Some(connected) = slot.as_ref().filter(|it| !it.sender.is_closed()) {
            return Ok(connected.clone());
        }
        let mut fault = Status::unavailable("no address");
        for address in &self.inner.addresses {
            match connect(&self.inner.net, address).await {
                Ok(connected) => return Ok(slot.insert(connected).clone()),
                Err(status) => fault = status,
            }
        }
        Err(fault)
    }

    async fn send(self, request: Request<Body>) -> Result<Response<Incoming>, Status> {
        let mut connected = self.connected().await?;
        let (mut head, body) = request.into_parts();
        let path = head.uri.path_and_query().cloned();
        let mut uri = Uri::builder().scheme(connected.scheme).authority(connected.authority);
        if let Some(path) = path {
            uri = uri.path_and_query(path);
        }
        head.uri = uri.build().map_err(|err| Status::internal(err.to_string()))?;
        let sending = async {
            connected.sender.ready().await?;
            connected.sender.send_request(Request::from_parts(head, body)).await
        };
        sending.await.map_err(|err| Status::unavailable(format!("the connection broke: {err}")))
    }
}

async fn connect(net: &Client, address: &BaseUrl) -> Result<Connected, Status> {
    let wire = net.open(address, Some("h2")).await.map_err(unsent)?;
    let uri: Uri =
        address.as_str().parse().map_err(|_| Status::internal("the address is no URI"))?;
    let (Some(scheme), Some(authority)) = (uri.scheme().cloned(), uri.authority().cloned()) else {
        return Err(Status::internal("the address is incomplete"));
    };
    let tasks = Tasks::default();
    let (sender, connection) = http2::Builder::new(tasks.clone())
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .adaptive_window(true)
        .handshake(TokioIo::new(wire))
        .await
        .map_err(|err| Status::unavailable(format!("no HTTP/2: {err}")))?;
    let driver = hermes_task::spawn(async move {
        if let Err(err) = connection.await {
            tracing::debug!(%err, "a connection ended");
        }
    });
    Ok(Connected { sender, scheme, authority, _guard: Arc::new(Guard { tasks, _driver: driver }) })
}

impl Service<Request<Body>> for Channel {
    type Response = Response<Incoming>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().send(request))
    }
}

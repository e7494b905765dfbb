//! The engine's own interface, over its socket: what happens for every command.

mod exec;
mod frames;
mod handle;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Bytes of an answer that are taken.
const ANSWER: usize = 4 * 1024 * 1024;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine's socket. Each request has a connection of its own: on this machine they cost nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Api {
    socket: PathBuf,
}

/// Why the engine didn't do something.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// It wasn't asked: there is no way to it.
    Unreachable(String),
    /// It said no.
    Refused(StatusCode, String),
    /// It was asked, and nobody knows what it did.
    Lost(String),
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "the container engine can't be reached: {why}"),
            Self::Refused(_, why) => f.write_str(why),
            Self::Lost(why) => write!(f, "the container engine didn't answer: {why}"),
        }
    }
}

impl Api {
    /// The engine behind a socket, if it answers.
    pub(crate) async fn connect(socket: &Path) -> Result<Self, ApiError> {
        let api = Self { socket: socket.to_owned() };
        api.ask(Method::GET, "/_ping", None).await?;
        Ok(api)
    }

    /// What is known of a container.
    pub(crate) async fn container(&self, id: &str) -> Result<Value, ApiError> {
        self.ask(Method::GET, &format!("/containers/{id}/json"), None).await
    }

    /// Asks for something and gives the answer, which need not be JSON.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ApiError> {
        let asked = async {
            let (mut sender, _driver) = self.open().await?;
            let response = send(&mut sender, request(method, path, body)).await?;
            let status = response.status();
            let body = read(response).await?;
            if status.is_success() || status == StatusCode::NOT_MODIFIED {
                return Ok(serde_json::from_slice(&body).unwrap_or_default());
            }
            Err(refused(status, &body))
        };
        timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err(too_slow()))
    }

    async fn open(&self) -> Result<(SendRequest<Full<Bytes>>, Driver), ApiError> {
        let unreachable = |why: &dyn fmt::Display| ApiError::Unreachable(why.to_string());
        let stream =
            UnixStream::connect(&self.socket).await.map_err(|error| unreachable(&error))?;
        let opened = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(|error| unreachable(&error))?;
        let driver = hermes_task::spawn(async move {
            // What goes wrong is told to whoever waits for the answer.
            let _ = connection.with_upgrades().await;
        });
        Ok((sender, driver))
    }
}

/// What moves a connection. Without it nothing comes.
type Driver = hermes_task::Tracked<()>;

fn request(method: Method, path: &str, body: Option<&Value>) -> Request<Full<Bytes>> {
    let text = body.map(Value::to_string).unwrap_or_default();
    let mut request = Request::new(Full::new(Bytes::from(text)));
    *request.method_mut() = method;
    // All paths are ours, with numbers that the engine gave.
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    headers.insert(header::HOST, header::HeaderValue::from_static("docker"));
    if body.is_some() {
        let json = header::HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
    }
    request
}

async fn send(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Response<hyper::body::Incoming>, ApiError> {
    sender.send_request(request).await.map_err(|error| ApiError::Lost(error.to_string()))
}

async fn read(response: Response<hyper::body::Incoming>) -> Result<Bytes, ApiError> {
    let body = Limited::new(response.into_body(), ANSWER).collect().await;
    Ok(body.map_err(|error| ApiError::Lost(error.to_string()))?.to_bytes())
}

fn refused(status: StatusCode, body: &[u8]) -> ApiError {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = said.get("message").and_then(Value::as_str).map(str::to_owned);
    let text = || String::from_utf8_lossy(body.get(..2048).unwrap_or(body)).trim().to_owned();
    ApiError::Refused(status, message.unwrap_or_else(text))
}

fn too_slow() -> ApiError {
    ApiError::Lost(format!("it took more than {} s", PATIENCE.as_secs()))
}

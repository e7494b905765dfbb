//! A server that answers as a test says, and a resolver that does the same.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hermes_guard::urls::UrlPolicy;
use hermes_net::{Client, ClientBuilder, NetError, Request, Resolve, Resolved, Response};
use hermes_registry::CancellationToken;
use hermes_task::Tracked;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The request line and the headers, names in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    /// The path of the request.
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What is answered.
pub(crate) enum Answer {
    /// These bytes; the connection stays.
    Bytes(Vec<u8>),
    /// These bytes, and the connection is closed.
    Last(Vec<u8>),
    /// The first bytes, then the others over and over.
    Endless(&'static str, &'static str),
    /// These bytes, and then nothing ever.
    Hang(Vec<u8>),
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Bytes(text.into_bytes())
    }
}

/// An answer with a body.
pub(crate) fn ok(body: &str) -> Answer {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into()
}

/// An answer that redirects.
pub(crate) fn redirect(status: u16, location: &str) -> Answer {
    format!("HTTP/1.1 {status} x\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into()
}

type Handler = dyn Fn(&Seen) -> Answer + Send + Sync;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    _task: Tracked<()>,
}

pub(crate) struct State {
    handler: Box<Handler>,
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
}

impl Server {
    pub(crate) async fn start(handler: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = State {
            handler: Box::new(handler),
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
        };
        let state = Arc::new(state);
        let shared = Arc::clone(&state);
        let task = hermes_task::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let state = Arc::clone(&shared);
                connections.spawn(async move {
                    let _ = state.serve(stream).await;
                });
            }
        });
        Self { address, state, _task: task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }
}

impl State {
    async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let seen = read(&mut stream).await?;
            self.seen.lock().unwrap().push(seen.clone());
            match (self.handler)(&seen) {
                Answer::Bytes(bytes) => stream.write_all(&bytes).await?,
                Answer::Last(bytes) => {
                    stream.write_all(&bytes).await?;
                    return stream.shutdown().await;
                }
                Answer::Endless(first, others) => {
                    stream.write_all(first.as_bytes()).await?;
                    loop {
                        stream.write_all(others.as_bytes()).await?;
                    }
                }
                Answer::Hang(bytes) => {
                    stream.write_all(&bytes).await?;
                    stream.flush().await?;
                    std::future::pending::<()>().await;
                }
            }
            stream.flush().await?;
        }
    }
}

/// Reads one request.
pub(crate) async fn read(
    stream: &mut (impl AsyncBufReadExt + AsyncReadExt + Unpin),
) -> io::Result<Seen> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut seen = Seen { head, body: String::new() };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    seen.body = String::from_utf8(body).unwrap();
    Ok(seen)
}

/// A resolver whose answers are said before; the last one is repeated.
#[derive(Clone, Default)]
pub(crate) struct Script {
    answers: Arc<Mutex<VecDeque<Vec<IpAddr>>>>,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub(crate) fn new(answers: &[&[&str]]) -> Self {
        let parsed = |answer: &&[&str]| answer.iter().map(|it| it.parse().unwrap()).collect();
        let script = Self::default();
        script.answers.lock().unwrap().extend(answers.iter().map(parsed));
        script
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolved<'a> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { answer.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

/// A client that may reach this machine.
pub(crate) fn local() -> ClientBuilder {
    Client::builder().policy(UrlPolicy { allow_private: true })
}

pub(crate) async fn send(client: &Client, request: Request) -> Result<Response, NetError> {
    client.send(request, &CancellationToken::new()).await
}

/// The text of a body.
pub(crate) async fn text(client: &Client, request: Request) -> Result<String, NetError> {
    let bytes = send(client, request).await?.bytes().await?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

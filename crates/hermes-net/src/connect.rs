//! From a URL to a connection: judge, dial, shake hands.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use hermes_guard::urls::{Host, Refusal, Target, UrlPolicy};
use hermes_task::Tracked;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::error::{NetError, NetErrorKind};
use crate::resolve::Resolve;

/// How long an address is waited for before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);
/// How many addresses of a host are tried at most.
const MOST_ADDRESSES: usize = 8;
/// How many headers an answer may have, and how many bytes they may be.
const HEADERS: (usize, usize) = (200, 128 * 1024);

/// A connection that can take a request.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    /// Moves the bytes; ends with the connection.
    _driver: Tracked<()>,
}

/// The addresses of a host that may be dialled: all that it has, or an error.
pub(crate) async fn vet(
    target: &Target,
    resolver: &dyn Resolve,
    policy: UrlPolicy,
) -> Result<Vec<IpAddr>, NetError> {
    target.check_name().map_err(NetError::refused)?;
    let addresses = match target.host() {
        Host::Address(ip) => vec![*ip],
        Host::Name(name) => resolver.resolve(name).await.map_err(|err| {
            tracing::debug!(%err, "a name can't be resolved");
            NetError::refused(Refusal::Unresolved(target.host().clone()))
        })?,
    };
    target.check(&addresses, policy).map_err(NetError::refused)?;
    Ok(addresses)
}

/// A connection, whatever is spoken on it.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Connects to one of `addresses`, which are judged already, and speaks HTTP.
pub(crate) async fn connect(
    target: &Target,
    addresses: &[IpAddr],
    tls: Option<Arc<ClientConfig>>,
) -> Result<Connection, NetError> {
    handshake(TokioIo::new(reach(target, addresses, tls).await?)).await
}

/// Connects to one of `addresses`, which are judged already.
pub(crate) async fn reach(
    target: &Target,
    addresses: &[IpAddr],
    tls: Option<Arc<ClientConfig>>,
) -> Result<Box<dyn Wire>, NetError> {
    let fault = |what: &str, err: &dyn std::fmt::Display| {
        NetError::new(NetErrorKind::Connect, &format!("{what}: {err}"))
    };
    let addresses = addresses.iter().map(|ip| SocketAddr::new(*ip, target.port()));
    let stream = dial(addresses.take(MOST_ADDRESSES).collect())
        .await
        .map_err(|err| fault("no connection", &err))?;
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let name = match target.host() {
        Host::Name(name) => {
            ServerName::try_from(name.clone()).map_err(|err| fault("no name of a server", &err))?
        }
        Host::Address(ip) => ServerName::from(*ip),
    };
    let stream =
        TlsConnector::from(tls).connect(name, stream).await.map_err(|err| fault("TLS", &err))?;
    Ok(Box::new(stream))
}

/// The first of the addresses that answers. They are tried in their order, each beside those
/// before it.
async fn dial(mut addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    addresses.reverse();
    let mut tried = FuturesUnordered::new();
    let mut fault = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        match addresses.pop() {
            Some(address) => tried.push(TcpStream::connect(address)),
            None if tried.is_empty() => return Err(fault),
            None => {}
        }
        let wait = async {
            if addresses.is_empty() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(HEAD_START).await;
        };
        tokio::select! {
            Some(connected) = tried.next() => match connected {
                Ok(stream) => return Ok(stream),
                Err(err) => fault = err,
            },
            () = wait => {}
        }
    }
}

async fn handshake(stream: TokioIo<Box<dyn Wire>>) -> Result<Connection, NetError> {
    let (most, bytes) = HEADERS;
    let (sender, connection) = http1::Builder::new()
        .max_headers(most)
        .max_buf_size(bytes)
        .handshake(stream)
        .await
        .map_err(|err| NetError::new(NetErrorKind::Connect, &err.to_string()))?;
    let driver = hermes_task::spawn(async move {
        if let Err(err) = connection.await {
            tracing::debug!(%err, "a connection ended");
        }
    });
    Ok(Connection { sender, _driver: driver })
}

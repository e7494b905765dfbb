//! Logs that are followed.

use std::sync::Arc;

use futures_util::SinkExt as _;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::session::Command;
use super::{Answer, Fault, State, answer};

pub(crate) fn follow(
    state: &Arc<State>,
    request: &mut Request<Incoming>,
    path: &str,
    fault: Option<Fault>,
) -> Answer {
    // /toolbox/ID/process/session/S/command/C/logs?follow=true
    let parts: Vec<&str> = path.split('/').collect();
    let session = parts.get(5).and_then(|id| state.lock().sessions.get(*id).cloned());
    let command = session.zip(parts.get(7)).and_then(|(session, id)| session.command(id));
    let Some(command) = command.filter(|_| path.ends_with("/logs?follow=true")) else {
        return answer(404, &serde_json::json!({ "error": "command not found" }));
    };
    accept(request, move |socket| async move {
        let _ = send(socket, &command, fault).await;
    })
}

pub(crate) type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// Makes a socket of a request, for `talk`.
pub(crate) fn accept<F: Future<Output = ()> + Send>(
    request: &mut Request<Incoming>,
    talk: impl FnOnce(Socket) -> F + Send + 'static,
) -> Answer {
    let key = request.headers().get("sec-websocket-key").unwrap();
    let accept = derive_accept_key(key.as_bytes());
    let upgrade = hyper::upgrade::on(request);
    #[expect(clippy::disallowed_methods, reason = "it ends with the connection")]
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None);
        talk(socket.await).await;
    });
    let switching = Response::builder()
        .status(101)
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-accept", accept);
    switching.body(Full::default()).unwrap()
}

async fn send(
    mut socket: Socket,
    command: &Command,
    fault: Option<Fault>,
) -> Result<(), tokio_tungstenite::tungstenite::Error> {
    let mut most = match fault {
        Some(Fault::Break(bytes)) => bytes,
        _ => usize::MAX,
    };
    let mut log = command.log.clone();
    let mut sent = 0;
    loop {
        let (piece, is_whole) = {
            let log = log.borrow_and_update();
            let end = log.0.len().min(sent + 4096).min(sent.saturating_add(most));
            (log.0[sent..end].to_vec(), log.1 && end == log.0.len())
        };
        sent += piece.len();
        most -= piece.len();
        if most == 0 {
            // Neither a goodbye nor the rest.
            return Ok(());
        }
        if is_whole {
            if !piece.is_empty() {
                socket.send(Message::binary(piece)).await?;
            }
            let close = CloseFrame { code: 1000.into(), reason: "".into() };
            return socket.close(Some(close)).await;
        }
        if piece.is_empty() {
            if log.changed().await.is_err() {
                return Ok(());
            }
        } else {
            socket.send(Message::binary(piece)).await?;
        }
    }
}

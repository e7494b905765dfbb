//! Following the log of a command.

use futures_util::StreamExt as _;
use hermes_net::Wire;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::api::Fault;
use crate::toolbox::{Toolbox, command_path};

/// A log that comes as it is written.
pub(crate) struct Log {
    socket: WebSocketStream<Box<dyn Wire>>,
}

impl Log {
    /// The log of a session's command from its beginning.
    pub(crate) async fn follow(
        toolbox: &Toolbox,
        session: &str,
        command: &str,
    ) -> Result<Self, Fault> {
        let path = format!("{}/logs?follow=true", command_path(session, command));
        Ok(Self { socket: connect(toolbox, &path).await? })
    }

    /// The next piece; none where the log ends.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Binary(bytes))) => return Ok(Some(bytes.into())),
                Some(Ok(Message::Text(text))) => return Ok(Some(text.as_bytes().to_vec())),
                Some(Ok(Message::Close(frame))) => {
                    return match frame {
                        Some(frame) if u16::from(frame.code) != 1000 => {
                            Err(Fault::other(format!("the log broke: {}", frame.code)))
                        }
                        _ => Ok(None),
                    };
                }
                Some(Ok(_)) => {}
                Some(Err(err)) => return Err(Fault::other(format!("the log broke: {err}"))),
                None => return Ok(None),
            }
        }
    }
}

/// A connection for messages of both sides at a path of the toolbox.
pub(crate) async fn connect(
    toolbox: &Toolbox,
    path: &str,
) -> Result<WebSocketStream<Box<dyn Wire>>, Fault> {
    let fault = |err: &dyn std::fmt::Display| Fault::other(err.to_string());
    let address = format!("{}/{path}", toolbox.base.as_str().trim_end_matches('/'));
    // http becomes ws, https wss.
    let address = address.replacen("http", "ws", 1);
    let mut request = address.into_client_request().map_err(|err| fault(&err))?;
    for (name, value) in toolbox.api.headers() {
        let mut value = HeaderValue::try_from(value).map_err(|err| fault(&err))?;
        value.set_sensitive(true);
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    let opening = toolbox.api.net.open(&toolbox.base, None).await;
    let wire = opening.map_err(|err| fault(&err))?;
    match tokio_tungstenite::client_async(request, wire).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => {
            let status = answer.status();
            Err(Fault::answered(status.as_u16(), status.to_string()))
        }
        Err(err) => Err(fault(&err)),
    }
}

//! What is answered.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hermes_registry::CancellationToken;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::connect::Connection;
use crate::decode::{Decoder, too_large};
use crate::error::{NetError, NetErrorKind};
use crate::pool::{Key, Pool};

/// An answer whose body is still to come.
#[derive(Debug)]
pub struct Response {
    /// How it went.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// Where the answer comes from, after redirects.
    pub url: Url,
    /// How many redirects were followed.
    pub redirects: usize,
    /// The body.
    pub body: Body,
}

impl Response {
    /// The header `name` as text, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The type of the body in lower case, without parameters.
    #[must_use]
    pub fn content_type(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next()?.trim().to_ascii_lowercase())
    }

    /// The whole body.
    ///
    /// # Errors
    /// It is too large, takes too long or ends in the middle; or nobody waits for it.
    pub async fn bytes(self) -> Result<Bytes, NetError> {
        self.body.bytes().await
    }

    /// The whole body as JSON.
    ///
    /// # Errors
    /// As [`Self::bytes`], or it is no JSON.
    pub async fn json(self) -> Result<Value, NetError> {
        let secrets = Arc::clone(&self.body.limits.secrets);
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|err| {
            let message = format!("the answer is no JSON: {err}");
            NetError::new(NetErrorKind::Protocol, &message).without(&secrets)
        })
    }
}

/// How long things may take, and who may stop them.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) cancel: CancellationToken,
    /// When the exchange must be over, and how long that is from its beginning.
    pub(crate) until: Option<(Instant, Duration)>,
    pub(crate) idle: Duration,
    pub(crate) secrets: Arc<[String]>,
}

impl Limits {
    /// Waits for `work` as long as that makes sense.
    pub(crate) async fn within<T>(
        &self,
        what: &str,
        longest: Duration,
        work: impl Future<Output = Result<T, NetError>>,
    ) -> Result<T, NetError> {
        let total = async {
            match self.until {
                Some((at, total)) => {
                    tokio::time::sleep_until(at).await;
                    total
                }
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(NetError::cancelled()),
            result = work => result,
            total = total => Err(NetError::timeout("the exchange", total)),
            () = tokio::time::sleep(longest) => Err(NetError::timeout(what, longest)),
        };
        result.map_err(|err| err.without(&self.secrets))
    }
}

/// A body that is read as it comes. Dropping it ends the connection.
#[derive(Debug)]
pub struct Body {
    pub(crate) incoming: Incoming,
    pub(crate) decoder: Decoder,
    pub(crate) limits: Limits,
    pub(crate) url: String,
    pub(crate) max_body: u64,
    /// The connection, and where it goes when the body is read.
    pub(crate) connection: Option<(Connection, Key, Arc<Pool>)>,
    pub(crate) is_over: bool,
}

impl Body {
    /// The next bytes, decompressed; none at the end.
    ///
    /// # Errors
    /// The body is too large, takes too long or ends in the middle; or nobody waits for it.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        let result = self.next().await;
        if result.is_err() {
            // A body that wasn't read to its end makes the connection useless.
            self.is_over = true;
            self.connection = None;
        }
        result.map_err(|err| err.about(&self.url).without(&self.limits.secrets))
    }

    async fn next(&mut self) -> Result<Option<Bytes>, NetError> {
        while !self.is_over {
            let incoming = &mut self.incoming;
            let frame = async {
                let frame = incoming.frame().await.transpose();
                frame.map_err(|err| NetError::new(NetErrorKind::Protocol, &chain(&err)))
            };
            let frame = self.limits.within("the next part of the body", self.limits.idle, frame);
            let plain = match frame.await? {
                // Trailers say nothing that is needed.
                Some(frame) => match frame.into_data() {
                    Ok(chunk) => self.decoder.push(chunk)?,
                    Err(_) => continue,
                },
                None => {
                    self.is_over = true;
                    let rest = self.decoder.finish()?;
                    if let Some((connection, key, pool)) = self.connection.take() {
                        pool.put(key, connection);
                    }
                    rest
                }
            };
            if !plain.is_empty() {
                return Ok(Some(plain));
            }
        }
        Ok(None)
    }

    /// Everything that is still to come.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub async fn bytes(mut self) -> Result<Bytes, NetError> {
        // What is known to be too large isn't read at all.
        let length = self.incoming.size_hint().exact();
        if self.decoder.is_plain() && length.is_some_and(|length| length > self.max_body) {
            return Err(too_large(self.max_body).about(&self.url).without(&self.limits.secrets));
        }
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.chunk().await? else { return Ok(first) };
        let mut whole = [first, second].concat();
        while let Some(chunk) = self.chunk().await? {
            whole.extend(chunk);
        }
        Ok(whole.into())
    }
}

/// An error and what caused it.
pub(crate) fn chain(err: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(err), |err| err.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

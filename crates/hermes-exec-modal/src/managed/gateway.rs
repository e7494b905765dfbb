//! Requests to the gateway.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::StartFailure;
use hermes_net::{BaseUrl, Client, Method, NetError, NetErrorKind};
use hermes_registry::CancellationToken;
use serde_json::Value;

use super::options::{ManagedOptions, Tokens};

/// The setting that says where the gateway is.
const SETTING: &str = "MODAL_GATEWAY_URL";
/// How often a request is made again, and how long is waited before the first time.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// Why a request came to nothing.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// The status, where the gateway answered.
    pub(super) status: Option<u16>,
    message: String,
    /// Whether it certainly never got there.
    is_unsent: bool,
    /// Whether the same request may fare better in a moment.
    pub(super) is_passing: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Fault {
    pub(super) fn other(message: impl Into<String>) -> Self {
        Self { status: None, message: message.into(), is_unsent: false, is_passing: false }
    }

    fn of_net(err: &NetError) -> Self {
        let is_unsent = matches!(err.kind(), NetErrorKind::Connect);
        Self { is_unsent, is_passing: err.is_transient(), ..Self::other(err.to_string()) }
    }

    /// The failure to do `what`, as a sentence.
    pub(super) fn to(&self, what: &str) -> StartFailure {
        let message = if self.status == Some(401) {
            format!(
                "{what}: the tool gateway refuses the token ({self}). Log in again, or set \
                 TOOL_GATEWAY_USER_TOKEN."
            )
        } else {
            format!("{what}: {self}")
        };
        if self.is_unsent { StartFailure::passing(message) } else { StartFailure::new(message) }
    }
}

/// The gateway.
pub(super) struct Gateway {
    net: Client,
    base: BaseUrl,
    tokens: Arc<dyn Tokens>,
    pub(super) poll_limit: Duration,
    pub(super) cancel_limit: Duration,
}

impl Gateway {
    pub(super) fn new(net: &Client, options: &ManagedOptions) -> Result<Self, StartFailure> {
        let base = BaseUrl::new(SETTING, &options.usual_url(), options.gateway_url.as_deref())
            .map_err(|err| StartFailure::new(err.to_string()))?;
        Ok(Self {
            net: net.clone(),
            base,
            tokens: Arc::clone(&options.tokens),
            poll_limit: options.poll_limit,
            cancel_limit: options.cancel_limit,
        })
    }

    async fn once(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
        longest: Duration,
    ) -> Result<Value, Fault> {
        let token = self.tokens.token().await.map_err(Fault::other)?;
        let mut request = self
            .base
            .request(method.clone(), path)
            .timeout(Some(longest))
            .idle(longest)
            .secret_header("authorization", &format!("Bearer {}", token.trim()));
        if let Some(key) = key {
            request = request.header("x-idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let fault = |err: NetError| Fault::of_net(&err);
        let response =
            self.net.send(request, &CancellationToken::default()).await.map_err(fault)?;
        let status = response.status;
        let bytes =
            response.bytes().await.map_err(|err| Fault { is_unsent: false, ..fault(err) })?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status.is_success() {
            return Ok(value);
        }
        let said = ["error", "message", "code"].iter().find_map(|key| {
            value.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
        });
        let said = said.map_or_else(|| String::from_utf8_lossy(&bytes).into_owned(), str::to_owned);
        let said = said.trim();
        let message =
            if said.is_empty() { status.to_string() } else { format!("{said} ({status})") };
        Err(Fault {
            status: Some(status.as_u16()),
            is_passing: matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504),
            ..Fault::other(message)
        })
    }

    /// Makes a sandbox; one, however often the request gets there. The answer is its id.
    pub(super) async fn create(
        &self,
        body: &Value,
        key: &str,
        longest: Duration,
    ) -> Result<String, Fault> {
        let path = "v1/sandboxes";
        let made =
            retried(|| self.once(&Method::POST, path, Some(body), Some(key), longest)).await?;
        let id = made.get("id").and_then(Value::as_str).map(str::to_owned);
        id.ok_or_else(|| Fault::other("the gateway doesn't name the sandbox"))
    }

    /// Asks for something to be done, until it goes well: for what does no harm when it is done
    /// twice.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &Value,
        longest: Duration,
    ) -> Result<Value, Fault> {
        retried(|| self.once(&Method::POST, path, Some(body), None, longest)).await
    }

    /// Asks for something to be done, once.
    pub(super) async fn post_once(
        &self,
        path: &str,
        body: &Value,
        longest: Duration,
    ) -> Result<Value, Fault> {
        self.once(&Method::POST, path, Some(body), None, longest).await
    }

    /// Looks until it goes well.
    pub(super) async fn get_surely(&self, path: &str) -> Result<Value, Fault> {
        retried(|| self.get(path)).await
    }

    /// Looks, once.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Fault> {
        self.once(&Method::GET, path, None, None, self.poll_limit).await
    }
}

async fn retried<F>(mut ask: impl FnMut() -> F) -> Result<Value, Fault>
where
    F: Future<Output = Result<Value, Fault>>,
{
    let mut tries = 0;
    loop {
        match ask().await {
            Err(fault) if fault.is_passing && tries < TRIES => {
                tokio::time::sleep(PAUSE * 2_u32.pow(tries)).await;
                tries += 1;
            }
            result => return result,
        }
    }
}

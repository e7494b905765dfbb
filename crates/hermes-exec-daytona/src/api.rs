//! Requests of both services: that of sandboxes, and the toolbox inside of each.

use std::fmt;
use std::time::Duration;

use hermes_exec::environment::StartFailure;
use hermes_net::{BaseUrl, Client, Method, NetError, NetErrorKind, Request};
use hermes_registry::CancellationToken;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::options::{Credentials, Options};

/// Where the service is, and the setting that replaces it.
const SERVER: &str = "https://app.daytona.io/api";
const SETTING: &str = "DAYTONA_API_URL";
/// The version of the client's protocol. Toolboxes mark the streams of a log for clients that have
/// one.
const SDK_VERSION: &str = "0.150.0";
/// How often a request is made again, and how long is waited before the first time.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);
/// How long one request may take.
const LONGEST: Duration = Duration::from_secs(30);
/// How large an answer may be, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Why a request came to nothing.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// The status, where the other side answered.
    pub(crate) status: Option<u16>,
    pub(crate) message: String,
    /// Whether it certainly never got to the other side.
    pub(crate) is_unsent: bool,
    is_passing: bool,
}

impl Fault {
    fn of_net(err: &NetError) -> Self {
        Self {
            status: None,
            message: err.to_string(),
            is_unsent: matches!(err.kind(), NetErrorKind::Connect),
            is_passing: err.is_transient(),
        }
    }

    pub(crate) fn answered(status: u16, message: impl Into<String>) -> Self {
        Self {
            status: Some(status),
            message: message.into(),
            is_unsent: false,
            is_passing: matches!(status, 408 | 429 | 500 | 502 | 503 | 504),
        }
    }

    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self { status: None, message: message.into(), is_unsent: false, is_passing: false }
    }

    /// Whether what was asked for isn't there.
    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self.status, Some(404 | 410))
    }

    /// The failure to do `what`, as a sentence.
    pub(crate) fn to(&self, what: &str) -> StartFailure {
        let message = if matches!(self.status, Some(401 | 403)) {
            format!(
                "{what}: Daytona refuses the credentials ({}). Set DAYTONA_API_KEY, or \
                 DAYTONA_JWT_TOKEN with DAYTONA_ORGANIZATION_ID.",
                self.message
            )
        } else {
            format!("{what}: {}", self.message)
        };
        if self.is_unsent { StartFailure::passing(message) } else { StartFailure::new(message) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What is sent beside the path.
pub(crate) enum Content {
    Nothing,
    Json(Value),
    Bytes { kind: String, bytes: Vec<u8> },
}

/// Who asks, by what.
pub(crate) struct Api {
    pub(crate) net: Client,
    pub(crate) base: BaseUrl,
    headers: Vec<(&'static str, String)>,
    bearer: String,
}

impl Api {
    pub(crate) fn new(net: &Client, options: &Options) -> Result<Self, StartFailure> {
        let base = BaseUrl::new(SETTING, SERVER, options.api_url.as_deref())
            .map_err(|err| StartFailure::new(err.to_string()))?;
        let mut headers = vec![
            ("x-daytona-source", "hermes-tools".to_owned()),
            ("x-daytona-sdk-version", SDK_VERSION.to_owned()),
        ];
        let token = match &options.credentials {
            Credentials::ApiKey(key) => key,
            Credentials::Jwt { token, organization } => {
                headers.push(("x-daytona-organization-id", organization.trim().to_owned()));
                token
            }
        };
        Ok(Self { net: net.clone(), base, headers, bearer: format!("Bearer {}", token.trim()) })
    }

    /// All headers, the last one secret.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let plain = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        plain.chain([("authorization", self.bearer.as_str())])
    }

    /// The address of a toolbox. One of the provider's is on the internet; one of a service that
    /// the user configured is where that says.
    pub(crate) fn toolbox(&self, url: &str) -> Result<BaseUrl, Fault> {
        BaseUrl::new("a toolbox's address", url, self.base.is_configured().then_some(url))
            .map_err(|err| Fault::other(err.to_string()))
    }

    /// Asks once. An answer without a body is null.
    pub(crate) async fn once(
        &self,
        base: &BaseUrl,
        method: &Method,
        path: &str,
        content: &Content,
        longest: Duration,
    ) -> Result<Value, Fault> {
        let mut request: Request = base
            .request(method.clone(), path)
            .timeout(Some(longest))
            .idle(longest)
            .max_body(LARGEST)
            .secret_header("authorization", &self.bearer);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request = match content {
            Content::Nothing => request,
            Content::Json(value) => request.json(value),
            Content::Bytes { kind, bytes } => request.body(kind, bytes.clone()),
        };
        let fault = |err: NetError| Fault::of_net(&err);
        let response =
            self.net.send(request, &CancellationToken::default()).await.map_err(fault)?;
        let status = response.status;
        // What is answered may have got lost after the work was done.
        let body =
            response.bytes().await.map_err(|err| Fault { is_unsent: false, ..fault(err) })?;
        let value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if status.is_success() {
            return Ok(value);
        }
        let said = ["message", "error"].iter().find_map(|key| said(value.get(key)?));
        let said = said.unwrap_or_else(|| String::from_utf8_lossy(&body).trim().to_owned());
        let said = if said.is_empty() { status.to_string() } else { format!("{said} ({status})") };
        Err(Fault::answered(status.as_u16(), said))
    }

    /// Asks until it goes well: for what does no harm when it is done twice.
    pub(crate) async fn call(
        &self,
        base: &BaseUrl,
        method: Method,
        path: &str,
        content: Content,
    ) -> Result<Value, Fault> {
        let mut tries = 0;
        loop {
            match self.once(base, &method, path, &content, LONGEST).await {
                Err(fault) if fault.is_passing && tries < TRIES => {
                    tokio::time::sleep(PAUSE * 2_u32.pow(tries)).await;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    /// Asks the service of sandboxes, once where asking twice does harm.
    pub(crate) async fn service(
        &self,
        method: Method,
        path: &str,
        content: Content,
    ) -> Result<Value, Fault> {
        if method == Method::POST {
            return self.once(&self.base, &method, path, &content, LONGEST).await;
        }
        self.call(&self.base, method, path, content).await
    }
}

/// A message, which may be several.
fn said(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            Some(texts.join("; "))
        }
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// A text as a part of a path.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string().replace("%2D", "-").replace("%5F", "_")
}

//! What is asked.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use hermes_guard::redact::{Mode, is_secret_key, redact};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use serde_json::Value;

use crate::base_url::BaseUrl;
use crate::error::{NetError, NetErrorKind};

/// How many redirects are followed at most.
const REDIRECTS: usize = 10;
/// How many bytes a body may have, if the request doesn't say.
const BODY: u64 = 10 * 1024 * 1024;
/// How long an exchange may take, if the request doesn't say.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long the other side may say nothing, if the request doesn't say.
const IDLE: Duration = Duration::from_secs(20);

/// One request and what its answer may cost.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) service: Option<BaseUrl>,
    pub(crate) redirects: usize,
    pub(crate) max_body: u64,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle: Duration,
    /// What errors must not hold.
    pub(crate) secrets: Vec<String>,
    fault: Option<NetError>,
}

impl Request {
    /// A request to any URL: it must lead to the internet, or to where the user allows. Redirects
    /// are followed.
    #[must_use]
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            service: None,
            redirects: REDIRECTS,
            max_body: BODY,
            timeout: Some(TIMEOUT),
            idle: IDLE,
            secrets: Vec::new(),
            fault: None,
        }
    }

    /// A request for what is at a URL.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// A request to a service; `path` is below its base URL. Redirects aren't followed.
    pub(crate) fn to_service(method: Method, service: &BaseUrl, path: &str) -> Self {
        let mut request = Self::new(method, service.join(path));
        request.redirects = 0;
        request.service = Some(service.clone());
        request
    }

    /// Adds a header. Credentials belong to [`Self::secret_header`].
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        let is_secret = is_secret_key(name);
        self.with_header(name, value, is_secret)
    }

    /// Adds a header whose value is a credential: it isn't sent to another origin, and errors
    /// don't name it.
    #[must_use]
    pub fn secret_header(self, name: &str, value: &str) -> Self {
        self.with_header(name, value, true)
    }

    fn with_header(mut self, name: &str, value: &str, is_secret: bool) -> Self {
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(is_secret);
                self.headers.append(name, value);
            }
            // The value may be a secret that was cut or pasted wrong.
            _ => self.fail(&format!("the header {name:?} can't be sent")),
        }
        if is_secret {
            self.secrets.extend(value.split_whitespace().last().map(str::to_owned));
            self.secrets.push(value.to_owned());
        }
        self
    }

    /// Says that errors must not hold this text.
    #[must_use]
    pub fn secret(mut self, text: impl Into<String>) -> Self {
        self.secrets.push(text.into());
        self
    }

    /// Sets the body and its type.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        match HeaderValue::try_from(content_type) {
            Ok(value) => {
                self.headers.insert(CONTENT_TYPE, value);
            }
            Err(_) => self.fail("the type of the body can't be sent"),
        }
        self
    }

    /// Sets a body of JSON.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Sets how many bytes the answer's body may have once it is decompressed; 10 MiB if it isn't
    /// said.
    #[must_use]
    pub fn max_body(mut self, bytes: u64) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets how long the whole exchange may take, up to the last byte; a minute if it isn't said.
    /// Answers that stream have no such limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long the other side may say nothing; 20 s if it isn't said.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Sets how many redirects are followed. With none the answer that redirects is the answer.
    #[must_use]
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most;
        self
    }

    fn fail(&mut self, message: &str) {
        self.fault.get_or_insert_with(|| NetError::new(NetErrorKind::Request, message));
    }

    /// The first fault in how it was put together.
    pub(crate) fn fault(&self) -> Result<(), NetError> {
        self.fault.clone().map_or(Ok(()), Err)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &redact(&self.url, Mode::Egress))
            .field("headers", &self.headers)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

//! One request from beginning to end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hermes_guard::urls::{Host, Target, UrlPolicy};
use hermes_registry::CancellationToken;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HOST, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method};
use rustls::ClientConfig;
use tokio::time::Instant;

use crate::base_url::BaseUrl;
use crate::body::{Body, Limits, Response, chain};
use crate::connect::{Connection, Wire, connect, reach, vet};
use crate::decode::{ACCEPTED, Decoder};
use crate::error::{NetError, NetErrorKind};
use crate::pool::{Key, Pool};
use crate::redirect::{Hop, location};
use crate::request::Request;
use crate::resolve::{Resolve, SystemResolver};
use crate::tls::Tls;
use crate::websites::Websites;

/// How long a connection may take: the look-up, the dialling, the handshake.
const CONNECT: Duration = Duration::from_secs(10);

/// Sends requests. Clones share connections.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    resolver: Box<dyn Resolve>,
    websites: Option<Box<dyn Websites>>,
    policy: UrlPolicy,
    tls: Tls,
    pool: Arc<Pool>,
    user_agent: HeaderValue,
    connect_timeout: Duration,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("policy", &self.inner.policy).finish_non_exhaustive()
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl Client {
    /// A client to be set up.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder {
            inner: Inner {
                resolver: Box::new(SystemResolver),
                websites: None,
                policy: UrlPolicy::default(),
                tls: Tls::default(),
                pool: Arc::default(),
                user_agent: HeaderValue::from_static(concat!(
                    "hermes-tools/",
                    env!("CARGO_PKG_VERSION")
                )),
                connect_timeout: CONNECT,
            },
        }
    }

    /// Judges a target as a request to it would be, without one.
    pub(crate) async fn judge(
        &self,
        target: &Target,
        cancel: &CancellationToken,
    ) -> Result<(), NetError> {
        let Inner { resolver, policy, connect_timeout, .. } = &*self.inner;
        self.inner.ask_websites(target)?;
        let limits = Limits {
            cancel: cancel.clone(),
            until: None,
            idle: *connect_timeout,
            secrets: [].into(),
        };
        let looking = vet(target, &**resolver, *policy);
        limits.within("the look-up", *connect_timeout, looking).await.map(|_| ())
    }

    /// Sends a request and waits for the head of the answer, following redirects as the request
    /// allows.
    ///
    /// # Errors
    /// The URL, or where a redirect leads, is refused; there is no connection or no answer in
    /// time; or nobody waits for it any more.
    pub async fn send(
        &self,
        request: Request,
        cancel: &CancellationToken,
    ) -> Result<Response, NetError> {
        request.fault()?;
        let limits = Limits {
            cancel: cancel.clone(),
            until: request
                .timeout
                .and_then(|total| Some((Instant::now().checked_add(total)?, total))),
            idle: request.idle,
            secrets: request.secrets.as_slice().into(),
        };
        let target = Target::parse(&request.url)
            .map_err(|err| NetError::refused(err).about(&request.url).without(&limits.secrets))?;
        let exchange = Exchange { inner: &self.inner, request: &request, limits };
        let mut headers = request.headers.clone();
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(USER_AGENT).or_insert_with(|| self.inner.user_agent.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
        let mut hop = Hop::new(target, request.method.clone(), headers, request.body.clone());
        let result = exchange.run(&mut hop).await;
        result.map_err(|err| err.about(hop.target.url().as_str()).without(&exchange.limits.secrets))
    }
}

impl Client {
    /// A connection to the host of `service` for another protocol than this client's own: nothing
    /// has been said on it. With `https` that protocol, by its name in TLS, must be what the other
    /// side speaks, too; it may be left out.
    ///
    /// # Errors
    /// The address is refused; there is no connection in time; or the other side doesn't speak the
    /// protocol.
    pub async fn open(
        &self,
        service: &BaseUrl,
        protocol: Option<&str>,
    ) -> Result<Box<dyn Wire>, NetError> {
        let target = service.target();
        let policy = if service.covers(target) {
            UrlPolicy { allow_private: true }
        } else {
            self.inner.policy
        };
        let opening = async {
            let addresses = vet(target, &*self.inner.resolver, policy).await?;
            let is_https = target.url().scheme() == "https";
            let tls = if is_https { Some(self.inner.tls.config()?) } else { None };
            let tls = tls.map(|config| {
                let mut config = ClientConfig::clone(&config);
                config.alpn_protocols =
                    protocol.map(|name| name.as_bytes().to_vec()).into_iter().collect();
                Arc::new(config)
            });
            reach(target, &addresses, tls).await
        };
        let longest = self.inner.connect_timeout;
        let opened = tokio::time::timeout(longest, opening).await;
        let opened = opened.unwrap_or_else(|_| Err(NetError::timeout("connecting", longest)));
        opened.map_err(|err| err.about(service.as_str()))
    }
}

impl Inner {
    /// Asks the user's website policy.
    fn ask_websites(&self, target: &Target) -> Result<(), NetError> {
        let websites = self.websites.as_ref();
        match websites.and_then(|it| it.blocked(target.url().as_str())) {
            Some(blocked) => Err(NetError::website(blocked)),
            None => Ok(()),
        }
    }
}

/// One request with what it goes through.
struct Exchange<'a> {
    inner: &'a Inner,
    request: &'a Request,
    limits: Limits,
}

impl Exchange<'_> {
    async fn run(&self, hop: &mut Hop) -> Result<Response, NetError> {
        let mut redirects = 0;
        loop {
            let (response, connection, key) = self.hop(hop).await?;
            let (head, incoming) = response.into_parts();
            if self.request.redirects > 0
                && let Some(location) = location(head.status, &head.headers)?
            {
                if redirects == self.request.redirects {
                    let message = format!("more than {redirects} redirects");
                    return Err(NetError::new(NetErrorKind::TooManyRedirects(redirects), &message));
                }
                hop.follow(head.status, location)?;
                redirects += 1;
                continue;
            }
            let decoder = Decoder::new(&head.headers, self.request.max_body)?;
            return Ok(Response {
                status: head.status,
                headers: head.headers,
                url: hop.target.url().clone(),
                redirects,
                body: Body {
                    incoming,
                    decoder,
                    limits: self.limits.clone(),
                    url: hop.target.url().as_str().to_owned(),
                    max_body: self.request.max_body,
                    connection: Some((connection, key, Arc::clone(&self.inner.pool))),
                    is_over: false,
                },
            });
        }
    }

    /// Checks where the request goes now, and sends it there.
    async fn hop(
        &self,
        hop: &Hop,
    ) -> Result<(hyper::Response<Incoming>, Connection, Key), NetError> {
        // What the user configured is where the user wants it.
        let is_configured = self.request.service.as_ref().is_some_and(|it| it.covers(&hop.target));
        let policy =
            if is_configured { UrlPolicy { allow_private: true } } else { self.inner.policy };
        if !is_configured {
            self.inner.ask_websites(&hop.target)?;
        }
        hop.target.check_name().map_err(NetError::refused)?;
        let key = Key::new(&hop.target, policy);
        let mut request = message(hop)?;
        // One that has waited may be closed just now: then the request wasn't sent, or may be sent
        // twice without harm.
        while let Some(connection) = self.inner.pool.take(&key) {
            match self.exchange(connection, request).await {
                Ok(Sent::Answer(response, connection)) => return Ok((response, connection, key)),
                Ok(Sent::Not(unsent, _)) => request = *unsent,
                Err(err) if err.kind() == &NetErrorKind::Protocol && hop.method.is_safe() => {
                    request = message(hop)?;
                }
                Err(err) => return Err(err),
            }
        }
        let connecting = async {
            let addresses = vet(&hop.target, &*self.inner.resolver, policy).await?;
            let is_https = hop.target.url().scheme() == "https";
            let tls = if is_https { Some(self.inner.tls.config()?) } else { None };
            connect(&hop.target, &addresses, tls).await
        };
        let longest = self.inner.connect_timeout;
        let connection = self.limits.within("connecting", longest, connecting).await?;
        match self.exchange(connection, request).await? {
            Sent::Answer(response, connection) => Ok((response, connection, key)),
            Sent::Not(_, err) => Err(err),
        }
    }

    async fn exchange(
        &self,
        mut connection: Connection,
        request: hyper::Request<Full<Bytes>>,
    ) -> Result<Sent, NetError> {
        let sending = async {
            connection.sender.ready().await.ok();
            match connection.sender.try_send_request(request).await {
                Ok(response) => Ok(Sent::Answer(response, connection)),
                Err(mut err) => {
                    let unsent = err.take_message();
                    let err = NetError::new(NetErrorKind::Protocol, &chain(&err.into_error()));
                    match unsent {
                        Some(request) => Ok(Sent::Not(Box::new(request), err)),
                        None => Err(err),
                    }
                }
            }
        };
        self.limits.within("the answer", self.limits.idle, sending).await
    }
}

/// What became of a request on a connection.
enum Sent {
    Answer(hyper::Response<Incoming>, Connection),
    /// It wasn't sent; here it is again.
    Not(Box<hyper::Request<Full<Bytes>>>, NetError),
}

/// The request as the protocol has it.
fn message(hop: &Hop) -> Result<hyper::Request<Full<Bytes>>, NetError> {
    let fault = |err: hyper::http::Error| NetError::new(NetErrorKind::Request, &err.to_string());
    let url = hop.target.url();
    let path = url
        .query()
        .map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let mut request = hyper::Request::builder()
        .method(hop.method.clone())
        .uri(path)
        .body(Full::new(hop.body.clone()))
        .map_err(fault)?;
    let headers: &mut HeaderMap = request.headers_mut();
    headers.clone_from(&hop.headers);
    let host = HeaderValue::try_from(authority(&hop.target)).map_err(|err| fault(err.into()))?;
    headers.insert(HOST, host);
    if let Some(basic) = basic(&hop.target)
        && !headers.contains_key(AUTHORIZATION)
    {
        headers.insert(AUTHORIZATION, basic);
    }
    // Servers take a body that is left out for a mistake.
    if hop.body.is_empty() && [Method::POST, Method::PUT, Method::PATCH].contains(&hop.method) {
        headers.insert(hyper::header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    Ok(request)
}

/// Host and port, the latter if it isn't the scheme's own.
fn authority(target: &Target) -> String {
    let host = match target.host() {
        Host::Name(name) => name.clone(),
        Host::Address(ip) if ip.is_ipv6() => format!("[{ip}]"),
        Host::Address(ip) => ip.to_string(),
    };
    target.url().port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
}

/// The credentials in the URL.
fn basic(target: &Target) -> Option<HeaderValue> {
    let url = target.url();
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| hermes_guard::urls::percent_decoded(text);
    let (user, password) = (decoded(url.username()), decoded(url.password().unwrap_or_default()));
    let text = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Sets up a [`Client`].
pub struct ClientBuilder {
    inner: Inner,
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").finish_non_exhaustive()
    }
}

impl ClientBuilder {
    /// What the user allows beyond the internet.
    #[must_use]
    pub fn policy(mut self, policy: UrlPolicy) -> Self {
        self.inner.policy = policy;
        self
    }

    /// Where addresses come from; the system if it isn't said.
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.inner.resolver = Box::new(resolver);
        self
    }

    /// Websites that the user blocked.
    #[must_use]
    pub fn websites(mut self, websites: impl Websites + 'static) -> Self {
        self.inner.websites = Some(Box::new(websites));
        self
    }

    /// Settings of TLS; if they aren't given, what the system trusts is trusted.
    #[must_use]
    pub fn tls(mut self, config: Arc<ClientConfig>) -> Self {
        self.inner.tls = Tls::with(config);
        self
    }

    /// How long connecting may take; 10 s if it isn't said.
    #[must_use]
    pub fn connect_timeout(mut self, longest: Duration) -> Self {
        self.inner.connect_timeout = longest;
        self
    }

    /// The client.
    #[must_use]
    pub fn build(self) -> Client {
        Client { inner: Arc::new(self.inner) }
    }
}

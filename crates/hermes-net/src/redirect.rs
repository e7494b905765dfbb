//! What becomes of a request that is sent elsewhere.

use std::collections::HashSet;

use bytes::Bytes;
use hermes_guard::redact::is_secret_key;
use hermes_guard::urls::Target;
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION,
    CONTENT_TYPE, COOKIE, LOCATION, PROXY_AUTHORIZATION,
};
use hyper::{HeaderMap, Method, StatusCode};

use crate::error::{NetError, NetErrorKind};

/// A request on its way through redirects.
pub(crate) struct Hop {
    pub(crate) target: Target,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    seen: HashSet<(Method, String)>,
}

impl Hop {
    pub(crate) fn new(target: Target, method: Method, headers: HeaderMap, body: Bytes) -> Self {
        let mut hop = Self { target, method, headers, body, seen: HashSet::new() };
        hop.seen.insert(hop.place());
        hop
    }

    /// Goes on to where `location` leads.
    pub(crate) fn follow(&mut self, status: StatusCode, location: &str) -> Result<(), NetError> {
        let next = self.target.redirect(location).map_err(NetError::refused)?;
        let becomes_get = match status {
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            _ => false,
        };
        if becomes_get && self.method != Method::GET {
            self.method = Method::GET;
            self.body = Bytes::new();
            let about_body = [
                CONTENT_ENCODING,
                CONTENT_LANGUAGE,
                CONTENT_LENGTH,
                CONTENT_LOCATION,
                CONTENT_TYPE,
            ];
            for name in about_body {
                self.headers.remove(name);
            }
        }
        if !self.target.same_origin(&next) {
            self.drop_secrets();
        }
        self.target = next;
        if self.seen.insert(self.place()) {
            Ok(())
        } else {
            let message = format!("a redirect leads back to {}", self.target.url());
            Err(NetError::new(NetErrorKind::RedirectLoop, &message))
        }
    }

    /// Nothing is kept between requests, so the same place answers the same again.
    fn place(&self) -> (Method, String) {
        let mut url = self.target.url().clone();
        url.set_fragment(None);
        (self.method.clone(), url.into())
    }

    /// Credentials are for the origin that they were given for.
    fn drop_secrets(&mut self) {
        let secret: Vec<_> = self
            .headers
            .iter()
            .filter(|(name, value)| {
                value.is_sensitive()
                    || [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name)
                    || is_secret_key(name.as_str())
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in secret {
            self.headers.remove(name);
        }
    }
}

/// Where an answer sends the request, if it does.
pub(crate) fn location(status: StatusCode, headers: &HeaderMap) -> Result<Option<&str>, NetError> {
    let redirects = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    let Some(location) = headers.get(LOCATION).filter(|_| redirects.contains(&status)) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(location.as_bytes());
    text.map(Some).map_err(|_| NetError::new(NetErrorKind::Protocol, "a redirect to no text"))
}

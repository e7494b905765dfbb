//! Whether a URL may be visited: what every tool asks that has others do the visiting.

use std::future::Future;
use std::pin::Pin;

use hermes_guard::urls::{Target, UrlPolicy};
use hermes_registry::{CancellationToken, Services, Settings};

use crate::client::{Client, ClientBuilder};
use crate::error::NetError;
use crate::websites::LivePolicy;

/// An answer to come; an error says why the URL isn't to be visited.
pub type UrlFuture<'a> = Pin<Box<dyn Future<Output = Result<(), NetError>> + Send + 'a>>;

/// Decides about URLs: `cx.service::<dyn UrlGate>()`.
///
/// It is for those who hand a URL on, to a browser or to a service. Whoever fetches by itself takes
/// the [`Client`] of the context (`cx.service::<Client>()`), which asks the same at each redirect and
/// dials what was judged; a name that is looked up again by somebody else may lead elsewhere.
/// Where a host lends none, nothing is visited.
pub trait UrlGate: Send + Sync {
    /// Whether a URL may be visited: its form, its name, the user's website policy, and every
    /// address that its host has.
    fn check<'a>(&'a self, url: &'a str, cancel: &'a CancellationToken) -> UrlFuture<'a>;
}

impl UrlGate for Client {
    fn check<'a>(&'a self, url: &'a str, cancel: &'a CancellationToken) -> UrlFuture<'a> {
        Box::pin(async move {
            let judged = async {
                let target = Target::parse(url).map_err(NetError::refused)?;
                self.judge(&target, cancel).await
            };
            judged.await.map_err(|err| err.about(url))
        })
    }
}

impl Client {
    /// A client for the settings of a user: `security.allow_private_urls`, which counts as it is
    /// now, and `security.website_blocklist`, which is read again as config.yaml changes.
    #[must_use]
    pub fn of(settings: &Settings) -> ClientBuilder {
        let variable = settings.env("HERMES_ALLOW_PRIVATE_URLS");
        Self::builder()
            .policy(UrlPolicy::from_settings(variable, settings.config()))
            .websites(LivePolicy::of(settings))
    }

    /// Lends the client to tools, also as the gate for URLs.
    #[must_use]
    pub fn lend(&self, services: Services) -> Services {
        let gate = std::sync::Arc::new(self.clone());
        services.with(std::sync::Arc::clone(&gate)).with::<dyn UrlGate>(gate)
    }
}

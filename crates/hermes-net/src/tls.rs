//! Which certificates are trusted.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::error::{NetError, NetErrorKind};

/// The settings of TLS, made when they are first needed: the system's certificates are many.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    config: OnceLock<Result<Arc<ClientConfig>, NetError>>,
}

impl Tls {
    pub(crate) fn with(config: Arc<ClientConfig>) -> Self {
        Self { config: OnceLock::from(Ok(config)) }
    }

    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, NetError> {
        self.config.get_or_init(platform).clone()
    }
}

/// Trusts what the system trusts.
fn platform() -> Result<Arc<ClientConfig>, NetError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|err| {
            let message = format!("the system's certificates can't be used: {err}");
            NetError::new(NetErrorKind::Connect, &message)
        })?;
    Ok(Arc::new(config.with_no_client_auth()))
}

//! What a sandbox of the gateway is made from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::BoxFuture;

/// Where the token for the gateway comes from. It is asked for before each request, so that one
/// that ends soon can be replaced.
pub trait Tokens: Send + Sync {
    /// The token as of now.
    ///
    /// # Errors
    /// There is none; as a sentence.
    fn token(&self) -> BoxFuture<'_, Result<String, String>>;
}

/// The same token always.
impl Tokens for String {
    fn token(&self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// What a sandbox of the gateway is made from. Nothing is read from the environment of the process.
#[derive(Clone)]
pub struct ManagedOptions {
    /// The gateway (`MODAL_GATEWAY_URL`), which may be at a private address; else it is made of the
    /// two that follow.
    pub gateway_url: Option<String>,
    /// How the gateway is reached (`TOOL_GATEWAY_SCHEME`); `https` if it isn't said.
    pub scheme: Option<String>,
    /// The domain of the gateways (`TOOL_GATEWAY_DOMAIN`); `nousresearch.com` if it isn't said.
    pub domain: Option<String>,
    /// Who asks.
    pub tokens: Arc<dyn Tokens>,
    /// A name of an image in a registry.
    pub image: String,
    /// Processors, also parts of them.
    pub cpu: f64,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk in MiB.
    pub disk_mb: Option<u64>,
    /// Whether the files are kept when it is given up, for the next one of the same task.
    pub is_persistent: bool,
    /// Whose sandbox it is.
    pub task: String,
    /// The folder that sessions start in, absolute.
    pub cwd: String,
    /// How long a command may take; the gateway ends it then.
    pub command_limit: Duration,
    /// How long one look at a command may take
    /// (`TERMINAL_MANAGED_MODAL_POLL_READ_TIMEOUT_SECONDS`).
    pub poll_limit: Duration,
    /// How long ending a command may take (`TERMINAL_MANAGED_MODAL_CANCEL_READ_TIMEOUT_SECONDS`).
    pub cancel_limit: Duration,
    /// Whether files with credentials are to be in the sandbox. They can't be.
    pub has_credential_files: bool,
}

impl fmt::Debug for ManagedOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedOptions")
            .field("gateway_url", &self.gateway_url)
            .field("image", &self.image)
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

impl ManagedOptions {
    /// A sandbox with one processor and 5 GiB that is kept, at the gateway of Nous.
    #[must_use]
    pub fn new(tokens: Arc<dyn Tokens>, image: impl Into<String>, task: impl Into<String>) -> Self {
        Self {
            gateway_url: None,
            scheme: None,
            domain: None,
            tokens,
            image: image.into(),
            cpu: 1.0,
            memory_mb: 5120,
            disk_mb: None,
            is_persistent: true,
            task: task.into(),
            cwd: "/root".to_owned(),
            command_limit: Duration::from_secs(3600),
            poll_limit: Duration::from_secs(5),
            cancel_limit: Duration::from_secs(5),
            has_credential_files: false,
        }
    }

    /// The address that the gateway has if none is configured.
    pub(crate) fn usual_url(&self) -> String {
        let given = |value: &Option<String>, usual: &str| {
            let given = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
            given.unwrap_or(usual).to_owned()
        };
        let scheme = given(&self.scheme, "https");
        format!("{scheme}://modal-gateway.{}", given(&self.domain, "nousresearch.com"))
    }
}

//! Sandboxes of Modal, with the user's own account or through the tool gateway.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_environments::{Factory, Request};
use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec_modal::{Credentials, ManagedModal, ManagedOptions, Options, Profile};
use hermes_exec_policy::choice::{ModalBackend, ModalMeans};
use hermes_exec_policy::config::{Backend, ModalConfig};
use hermes_net::Client;
use hermes_registry::Settings;
use serde_json::Value;

/// Makes sandboxes.
pub(crate) struct Modal {
    net: Client,
}

impl Modal {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self { net: Client::of(settings).build() }
    }

    async fn open(&self, request: Request) -> Result<Arc<dyn Environment>, StartFailure> {
        let Backend::Modal(config) = &request.config.backend else {
            return Err(StartFailure::new("no sandbox is configured"));
        };
        let settings = &request.settings;
        let profile = profile(settings)?;
        let credentials = credentials(settings).or_else(|| profile.credentials.clone());
        let token = gateway_token(settings);
        let means = ModalMeans {
            has_direct: credentials.is_some(),
            managed_enabled: token.is_some(),
            managed_ready: token.is_some(),
        };
        let chosen = ModalBackend::choose(config.mode, means);
        match (chosen.map_err(|it| StartFailure::new(it.to_string()))?, credentials, token) {
            (ModalBackend::Direct, Some(credentials), _) => {
                let options = direct(&request, config, credentials, profile);
                Ok(Arc::new(hermes_exec_modal::Modal::open(&self.net, options).await?))
            }
            (ModalBackend::Managed, _, Some(token)) => {
                let options = managed(&request, config, token);
                Ok(Arc::new(ManagedModal::open(&self.net, options).await?))
            }
            _ => Err(StartFailure::new("modal can't be used: its credentials are gone")),
        }
    }
}

fn direct(
    request: &Request,
    config: &ModalConfig,
    credentials: Credentials,
    profile: Profile,
) -> Options {
    let container = &config.container;
    let (settings, home) = (&request.settings, request.settings.home());
    let server = settings.env_filled("MODAL_SERVER_URL").map(str::to_owned);
    let environment = settings.env_filled("MODAL_ENVIRONMENT").map(str::to_owned);
    Options {
        server_url: server.or(profile.server_url),
        environment: environment.or(profile.environment),
        cpu: container.cpu,
        memory_mb: u32::try_from(container.memory_mb).unwrap_or(u32::MAX),
        is_persistent: container.persistent,
        cwd: request.config.cwd.clone(),
        ..Options::new(credentials, &container.image, &request.key, home)
    }
}

fn managed(request: &Request, config: &ModalConfig, token: String) -> ManagedOptions {
    let (container, settings) = (&config.container, &request.settings);
    let given = |name: &str| settings.env_filled(name).map(str::to_owned);
    let seconds = |name: &str| {
        let number = settings.env_filled(name)?.trim().parse().ok()?;
        Duration::try_from_secs_f64(number).ok()
    };
    let usual = ManagedOptions::new(Arc::new(token), &container.image, &request.key);
    ManagedOptions {
        gateway_url: given("MODAL_GATEWAY_URL"),
        scheme: given("TOOL_GATEWAY_SCHEME"),
        domain: given("TOOL_GATEWAY_DOMAIN"),
        cpu: container.cpu,
        memory_mb: container.memory_mb,
        is_persistent: container.persistent,
        cwd: request.config.cwd.clone(),
        command_limit: request.config.max_foreground_timeout,
        poll_limit: seconds("TERMINAL_MANAGED_MODAL_POLL_READ_TIMEOUT_SECONDS")
            .unwrap_or(usual.poll_limit),
        cancel_limit: seconds("TERMINAL_MANAGED_MODAL_CANCEL_READ_TIMEOUT_SECONDS")
            .unwrap_or(usual.cancel_limit),
        has_credential_files: !request.sources.credentials.is_empty(),
        ..usual
    }
}

fn credentials(settings: &Settings) -> Option<Credentials> {
    Some(Credentials {
        token_id: settings.env_filled("MODAL_TOKEN_ID")?.to_owned(),
        token_secret: settings.env_filled("MODAL_TOKEN_SECRET")?.to_owned(),
    })
}

/// What the file of Modal's own client says; nothing if there is none.
fn profile(settings: &Settings) -> Result<Profile, StartFailure> {
    let home = settings.env_filled("HOME").map(|home| Path::new(home).join(".modal.toml"));
    let file = settings.env_filled("MODAL_CONFIG_PATH").map(PathBuf::from).or(home);
    let Some(text) = file.and_then(|file| std::fs::read_to_string(file).ok()) else {
        return Ok(Profile::default());
    };
    Profile::parse(&text, settings.env_filled("MODAL_PROFILE")).map_err(StartFailure::new)
}

/// The token for the tool gateway: a variable, or what a login left in the home folder.
fn gateway_token(settings: &Settings) -> Option<String> {
    if let Some(token) = settings.env_filled("TOOL_GATEWAY_USER_TOKEN") {
        return Some(token.to_owned());
    }
    let text = std::fs::read_to_string(settings.home().join("auth.json")).ok()?;
    let auth: Value = serde_json::from_str(&text).ok()?;
    let token = auth.pointer("/providers/nous/access_token")?.as_str()?.trim();
    (!token.is_empty()).then(|| token.to_owned())
}

impl Factory for Modal {
    fn makes(&self, backend: &Backend) -> bool {
        matches!(backend, Backend::Modal(_))
    }

    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
        Box::pin(self.open(request))
    }
}

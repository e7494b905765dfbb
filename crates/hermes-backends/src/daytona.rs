//! Sandboxes of Daytona.

use std::sync::Arc;

use hermes_environments::{Factory, Request};
use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec_daytona::{Credentials, Options};
use hermes_exec_policy::choice::DaytonaResources;
use hermes_exec_policy::config::Backend;
use hermes_net::Client;
use hermes_registry::Settings;

/// Makes sandboxes.
pub(crate) struct Daytona {
    net: Client,
}

impl Daytona {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self { net: Client::of(settings).build() }
    }

    async fn open(&self, request: Request) -> Result<Arc<dyn Environment>, StartFailure> {
        let Backend::Daytona(container) = &request.config.backend else {
            return Err(StartFailure::new("no sandbox is configured"));
        };
        let given = |name: &str| request.settings.env_filled(name).map(str::to_owned);
        let credentials = given("DAYTONA_API_KEY").map(Credentials::ApiKey).or_else(|| {
            let token = given("DAYTONA_JWT_TOKEN")?;
            Some(Credentials::Jwt { token, organization: given("DAYTONA_ORGANIZATION_ID")? })
        });
        let Some(credentials) = credentials else {
            return Err(StartFailure::new(
                "terminal.backend is `daytona`: set DAYTONA_API_KEY, or DAYTONA_JWT_TOKEN and \
                 DAYTONA_ORGANIZATION_ID",
            ));
        };
        let size = DaytonaResources::of(container.cpu, container.memory_mb, container.disk_mb);
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let options = Options {
            api_url: given("DAYTONA_API_URL"),
            target: given("DAYTONA_TARGET"),
            cpu: number(size.cpu),
            memory: number(size.memory),
            disk: number(size.disk),
            is_persistent: container.persistent,
            cwd: request.config.cwd.clone(),
            ..Options::new(credentials, &container.image, &request.key)
        };
        Ok(Arc::new(hermes_exec_daytona::Daytona::open(&self.net, options).await?))
    }
}

impl Factory for Daytona {
    fn makes(&self, backend: &Backend) -> bool {
        matches!(backend, Backend::Daytona(_))
    }

    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
        Box::pin(self.open(request))
    }
}

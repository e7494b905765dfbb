//! Hosts behind ssh.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_environments::{Factory, Request};
use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec_policy::config::Backend;
use hermes_exec_ssh::Options;
use hermes_registry::Settings;

/// Makes connections.
pub(crate) struct Ssh {
    env: Vec<(OsString, OsString)>,
}

impl Ssh {
    pub(crate) fn of(settings: &Settings) -> Self {
        let env = crate::process_env(settings).into_iter();
        Self { env: env.map(|(name, value)| (name.into(), value.into())).collect() }
    }

    async fn open(&self, request: Request) -> Result<Arc<dyn Environment>, StartFailure> {
        let Backend::Ssh(config) = &request.config.backend else {
            return Err(StartFailure::new("no host is configured"));
        };
        if config.host.is_empty() || config.user.is_empty() {
            return Err(StartFailure::new(
                "terminal.backend is `ssh`: set terminal.ssh_host and terminal.ssh_user",
            ));
        }
        let options = Options {
            port: config.port,
            key: config.key.as_ref().map(PathBuf::from),
            initial_cwd: request.config.cwd.clone(),
            temp_dir: request.temp_dir.clone(),
            ..Options::new(&config.user, &config.host, self.env.clone())
        };
        Ok(Arc::new(hermes_exec_ssh::Ssh::connect(options).await?))
    }
}

impl Factory for Ssh {
    fn makes(&self, backend: &Backend) -> bool {
        matches!(backend, Backend::Ssh(_))
    }

    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
        Box::pin(self.open(request))
    }
}

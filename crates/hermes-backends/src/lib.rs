#![doc = include_str!("../README.md")]

#[cfg(feature = "daytona")]
mod daytona;
#[cfg(unix)]
mod docker;
#[cfg(feature = "modal")]
mod modal;
#[cfg(unix)]
mod singularity;
#[cfg(unix)]
mod ssh;

use std::sync::Arc;

use hermes_environments::Factory;
use hermes_registry::Settings;
#[cfg(unix)]
use {
    hermes_environments::{Bind, Request},
    hermes_exec::environment::StartFailure,
    hermes_exec_docker::Mount,
    hermes_exec_policy::files::CONTAINER_BASE,
};

/// Makers of all kinds of machines that this build knows. Nothing is started and nobody asked yet.
#[must_use]
pub fn all(settings: &Settings) -> Vec<Arc<dyn Factory>> {
    let factories: Vec<Arc<dyn Factory>> = vec![
        #[cfg(unix)]
        Arc::new(docker::Docker::of(settings)),
        #[cfg(unix)]
        Arc::new(singularity::Singularity::of(settings)),
        #[cfg(unix)]
        Arc::new(ssh::Ssh::of(settings)),
        #[cfg(feature = "modal")]
        Arc::new(modal::Modal::of(settings)),
        #[cfg(feature = "daytona")]
        Arc::new(daytona::Daytona::of(settings)),
    ];
    factories
}

/// What a container is to see of this machine. Copies of files are made for it, which may block.
#[cfg(unix)]
async fn with_mounts(request: Request) -> Result<(Request, Vec<Mount>), StartFailure> {
    let prepared = hermes_task::spawn_blocking(move || {
        let binds = request.binds(CONTAINER_BASE, &mut Vec::new());
        (request, binds)
    });
    let (request, binds) = prepared.await.map_err(|_| StartFailure::new("interrupted"))?;
    let mount =
        |it: Bind| Mount { host: it.host, container: it.container, read_only: it.read_only };
    Ok((request, binds.into_iter().map(mount).collect()))
}

/// The variables of the process, for programs that the user set up for himself: clients of engines
/// and of ssh.
#[cfg(unix)]
fn process_env(settings: &Settings) -> Vec<(String, String)> {
    settings.envs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The name under which the profile's containers are known.
#[cfg(unix)]
fn profile(settings: &Settings) -> String {
    settings.profile().unwrap_or("default").to_owned()
}

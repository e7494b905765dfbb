//! Containers of Docker and Podman.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hermes_environments::{Factory, Request};
use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec_docker::values::forward_names;
use hermes_exec_docker::{Engine, Mount, Options};
use hermes_exec_policy::config::{Backend, DockerConfig};
use hermes_registry::Settings;
use hermes_task::Tracked;
use serde_json::Value;
use tokio::sync::OnceCell;

/// Makes containers. The engine is looked for with the first of them.
pub(crate) struct Docker {
    env: Vec<(String, String)>,
    profile: String,
    engine: OnceCell<Arc<Engine>>,
    reaping: OnceLock<Tracked<usize>>,
}

impl Docker {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            env: crate::process_env(settings),
            profile: crate::profile(settings),
            engine: OnceCell::new(),
            reaping: OnceLock::new(),
        }
    }

    async fn open(&self, request: Request) -> Result<Arc<dyn Environment>, StartFailure> {
        let Backend::Docker(config) = request.config.backend.clone() else {
            return Err(StartFailure::new("no container is configured"));
        };
        let engine = self.engine.get_or_try_init(|| Engine::find(&self.env)).await?;
        if config.orphan_reaper {
            self.reap(engine, &request);
        }
        let (request, mounts) = crate::with_mounts(request).await?;
        let options = options(&request, &config, &self.profile, mounts);
        Ok(Arc::new(engine.open(options).await?))
    }

    /// Removes containers that nobody came back for, once and beside the work.
    fn reap(&self, engine: &Arc<Engine>, request: &Request) {
        self.reaping.get_or_init(|| {
            let (engine, profile) = (Arc::clone(engine), self.profile.clone());
            let lifetime = request.config.lifetime;
            hermes_task::spawn(async move { engine.reap_orphans(&profile, lifetime).await })
        });
    }
}

fn options(request: &Request, config: &DockerConfig, profile: &str, mounts: Vec<Mount>) -> Options {
    let container = &config.container;
    let mut forward: BTreeMap<String, String> = request.passed.iter().cloned().collect();
    // What the user names for this container is passed whatever it is.
    let named: Vec<_> = config.forward_env.iter().cloned().map(Value::String).collect();
    for name in forward_names(&named) {
        if let Some(value) = request.settings.env(&name) {
            forward.insert(name, value.to_owned());
        }
    }
    let user = (rustix::process::getuid(), rustix::process::getgid());
    Options {
        image: container.image.clone(),
        cwd: request.config.cwd.clone(),
        task_id: request.key.clone(),
        profile: profile.to_owned(),
        sandbox_root: request.config.sandbox_root.clone(),
        persistent: container.persistent,
        persist_across_processes: config.persist_across_processes,
        network: config.network,
        cpu: container.cpu,
        memory_mb: container.memory_mb,
        disk_mb: container.disk_mb,
        volumes: config.volumes.clone(),
        env: config.env.clone(),
        extra_args: config.extra_args.clone(),
        host_cwd: request.config.host_cwd.as_ref().map(PathBuf::from),
        user: config.run_as_host_user.then(|| (user.0.as_raw(), user.1.as_raw())),
        mounts,
        forward: forward.into_iter().collect(),
    }
}

impl Factory for Docker {
    fn makes(&self, backend: &Backend) -> bool {
        matches!(backend, Backend::Docker(_))
    }

    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
        Box::pin(self.open(request))
    }
}

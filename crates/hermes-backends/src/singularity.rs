//! Instances of Apptainer and Singularity.

use std::sync::Arc;

use hermes_environments::{Factory, Request};
use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec_policy::config::Backend;
use hermes_exec_singularity::{Options, open};
use hermes_registry::Settings;

/// Makes instances.
pub(crate) struct Singularity {
    env: Vec<(String, String)>,
}

impl Singularity {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self { env: crate::process_env(settings) }
    }

    async fn open(&self, request: Request) -> Result<Arc<dyn Environment>, StartFailure> {
        let Backend::Singularity(container) = request.config.backend.clone() else {
            return Err(StartFailure::new("no instance is configured"));
        };
        let (request, mounts) = crate::with_mounts(request).await?;
        let instance = open(Options {
            image: container.image.clone(),
            cwd: request.config.cwd.clone(),
            task_id: request.key.clone(),
            sandbox_root: request.config.sandbox_root.clone(),
            scratch: request.config.scratch_dir.clone(),
            overlays_file: request.settings.home().join("singularity_snapshots.json"),
            persistent: container.persistent,
            cpu: container.cpu,
            memory_mb: container.memory_mb,
            mounts,
            forward: request.passed.clone(),
            env: self.env.clone(),
            disk_warning_gb: request.config.disk_warning_bytes as f64 / 1e9,
        });
        Ok(Arc::new(instance.await?))
    }
}

impl Factory for Singularity {
    fn makes(&self, backend: &Backend) -> bool {
        matches!(backend, Backend::Singularity(_))
    }

    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
        Box::pin(self.open(request))
    }
}

//! A container as a machine that runs commands.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use tokio::time::timeout;

use crate::container::{Container, TEMP};
use crate::engine::Engine;
use crate::options::Options;

/// How long commands that were dropped may take to end before their container is given up.
const SETTLE: Duration = Duration::from_secs(15);

/// A container as a machine that runs commands. When the container is gone, so is this: every start
/// says so, and [`Engine::open`] gives another one.
pub struct DockerEnvironment {
    engine: Arc<Engine>,
    options: Options,
    container: Container,
    is_closed: AtomicBool,
}

impl fmt::Debug for DockerEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DockerEnvironment")
            .field("id", &self.container_id())
            .finish_non_exhaustive()
    }
}

impl DockerEnvironment {
    pub(crate) fn new(engine: Arc<Engine>, options: Options, container: Container) -> Self {
        Self { engine, options, container, is_closed: AtomicBool::new(false) }
    }

    /// The number of the container.
    #[must_use]
    pub fn container_id(&self) -> &str {
        &self.container.id
    }

    /// Whether commands can change files of this machine that aren't the container's own.
    #[must_use]
    pub fn has_host_access(&self) -> bool {
        self.options.has_host_access()
    }

    async fn started(&self, mut start: Start) -> Result<Running, StartFailure> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StartFailure::new("the container was given up"));
        }
        if let Some(how) = self.container.way.gone() {
            // Even if it runs again: its temporary files are gone.
            return Err(StartFailure::gone(how));
        }
        if !start.bare {
            let own = std::mem::take(&mut start.env);
            start.env = self.options.forward.iter().cloned().chain(own).collect();
        }
        self.container.commands.start(start).await
    }

    async fn closed(&self, how: Close) {
        self.is_closed.store(true, Ordering::Release);
        let id = &self.container.id;
        if self.options.persist_across_processes && how == Close::AsConfigured {
            if timeout(SETTLE, self.container.commands.settle()).await.is_err() {
                tracing::warn!(id, "commands are left running in a container");
            }
            return;
        }
        let cli = self.engine.cli();
        if let Err(why) = cli.stop(id).await {
            tracing::debug!(id, why, "a container doesn't stop");
        }
        if let Err(why) = cli.remove(id).await {
            tracing::warn!(id, why, "a container isn't removed");
        }
    }
}

impl Environment for DockerEnvironment {
    fn kind(&self) -> &'static str {
        "docker"
    }

    fn identity(&self) -> String {
        self.container.identity()
    }

    fn temp_dir(&self) -> &str {
        TEMP
    }

    fn home(&self) -> Option<&str> {
        self.container.home.as_deref()
    }

    fn initial_cwd(&self) -> &str {
        self.options.cwd.trim()
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(self.started(start))
    }

    fn close(&self, how: Close) -> BoxFuture<'_, ()> {
        Box::pin(self.closed(how))
    }
}

impl Drop for DockerEnvironment {
    fn drop(&mut self) {
        let is_over = self.is_closed.load(Ordering::Acquire);
        if is_over || self.options.persist_across_processes {
            return;
        }
        // Nobody gave it up properly, and nobody would find it again.
        let (engine, id) = (Arc::clone(&self.engine), self.container.id.clone());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                // There is nobody to tell.
                let _ = runtime.block_on(engine.cli().remove(&id));
            }
        };
        let _ = std::thread::Builder::new().name("remove-container".to_owned()).spawn(work);
    }
}

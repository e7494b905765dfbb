//! A container as a machine that runs commands.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hermes_exec::environment::{
    BoxFuture, Close, Environment, Running, Start, StartFailure,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::container::{Container, TEMP};
use crate::engine::Engine;
use crate::options::Options;

/// How long commands that were dropped may take to end before their container is given up.
const SETTLE: Duration = Duration::from_secs(15);

/// A container as a machine that runs commands. One that is gone is replaced.
pub struct DockerEnvironment {
    engine: Arc<Engine>,
    options: Options,
    home: Option<String>,
    container: RwLock<Arc<Container>>,
    /// Held while a new container is made.
    making: Mutex<()>,
    is_closed: AtomicBool,
}

impl fmt::Debug for DockerEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DockerEnvironment").field("id", &self.container_id()).finish_non_exhaustive()
    }
}

impl DockerEnvironment {
    pub(crate) fn new(engine: Arc<Engine>, options: Options, container: Container) -> Self {
        Self {
            engine,
            options,
            home: container.home.clone(),
            container: RwLock::new(Arc::new(container)),
            making: Mutex::new(()),
            is_closed: AtomicBool::new(false),
        }
    }

    /// The number of the container.
    #[must_use]
    pub fn container_id(&self) -> String {
        self.container().id.clone()
    }

    /// Whether commands can change files of this machine that aren't the container's own.
    #[must_use]
    pub fn has_host_access(&self) -> bool {
        self.options.has_host_access()
    }

    fn container(&self) -> Arc<Container> {
        Arc::clone(&self.container.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A container that wasn't seen to be gone; a new one if need be.
    async fn alive(&self) -> Result<Arc<Container>, StartFailure> {
        let container = self.container();
        if !container.way.is_gone() {
            return Ok(container);
        }
        let _making = self.making.lock().await;
        let container = self.container();
        if !container.way.is_gone() {
            return Ok(container);
        }
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StartFailure::new("the container was given up"));
        }
        tracing::info!(id = container.id, "a container that is gone is replaced");
        let made = Arc::new(Container::open(&self.engine, &self.options).await?);
        *self.container.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&made);
        if !self.options.persist_across_processes && made.id != container.id {
            // One that merely stopped is still there.
            let _ = self.engine.cli().remove(&container.id).await;
        }
        Ok(made)
    }

    async fn started(&self, mut start: Start) -> Result<Running, StartFailure> {
        if !start.bare {
            let own = std::mem::take(&mut start.env);
            start.env = self.options.forward.iter().cloned().chain(own).collect();
        }
        let container = self.alive().await?;
        let failure = match container.commands.start(start).await {
            Err(failure) if failure.is_gone => failure,
            started => return started,
        };
        // Nothing of it ran, but whoever asked must know that all files are other ones.
        let why = failure.message;
        let new = self.alive().await.map_err(|next| StartFailure {
            message: format!("{why}, and there is no new one: {}", next.message),
            is_gone: true,
            ..next
        })?;
        drop(new);
        Err(StartFailure {
            is_safe_to_retry: true,
            ..StartFailure::gone(format!("{why}; there is a new one now"))
        })
    }

    async fn closed(&self, how: Close) {
        let is_kept = self.options.persist_across_processes && how == Close::AsConfigured;
        let container = self.container();
        if is_kept {
            self.is_closed.store(true, Ordering::Release);
            if timeout(SETTLE, container.commands.settle()).await.is_err() {
                tracing::warn!(id = container.id, "commands are left running in a container");
            }
            return;
        }
        // With a container that is being made.
        let _making = self.making.lock().await;
        let container = self.container();
        let cli = self.engine.cli();
        if let Err(why) = cli.stop(&container.id).await {
            tracing::debug!(id = container.id, why, "a container doesn't stop");
        }
        if let Err(why) = cli.remove(&container.id).await {
            tracing::warn!(id = container.id, why, "a container isn't removed");
        }
        self.is_closed.store(true, Ordering::Release);
    }
}

impl Environment for DockerEnvironment {
    fn kind(&self) -> &'static str {
        "docker"
    }

    fn identity(&self) -> String {
        self.container().identity()
    }

    fn temp_dir(&self) -> &str {
        TEMP
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn initial_cwd(&self) -> &str {
        self.options.cwd.trim()
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(self.started(start))
    }

    fn prepare(&self) -> BoxFuture<'_, Result<(), StartFailure>> {
        Box::pin(async { self.alive().await.map(drop) })
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
        let (engine, id) = (Arc::clone(&self.engine), self.container_id());
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
